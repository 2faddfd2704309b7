// Failure maps: the request of a place, names of clusters, and their numbers in words.
import type {
  FailureCluster,
  FailureExample,
  FailureMap,
  FailureShare,
  FailuresRequest,
} from "../generated";
import { count, counted, fixed } from "./format";

export type Cluster = FailureCluster;
export type Example = FailureExample;
export type Map = FailureMap;
export type Share = FailureShare;

/** Arguments of the command for a filter. The same for all parts of the page. */
export const failuresArgs = (filter: string): { request: FailuresRequest } => ({
  request: { filter, scorer: null },
});

/** Name of a cluster in the address. Stays the same while further runs are read. */
export const causeOf = (cluster: Cluster): string =>
  JSON.stringify([cluster.mode, cluster.subject, cluster.detail]);

/** Clusters that are the main cause of a run, and those that only occur beside another one. */
export const split = (clusters: readonly Cluster[]): { main: Cluster[]; beside: Cluster[] } => ({
  main: clusters.filter((one) => one.runs > 0),
  beside: clusters.filter((one) => one.runs === 0),
});

/** What the map covers: `28 of 66 runs failed or are only partly right. 4 runs have no result.` */
export function scope(map: Map): string {
  const undecided =
    map.undecided === 0
      ? ""
      : ` ${counted(map.undecided, "run")} ${map.undecided === 1 ? "has" : "have"} no result.`;
  const verb = map.failed === 1 ? "is" : "are";
  const errors = map.errors > 0 ? `, ${count(map.errors)} of them ended in an error` : "";
  const failed = `${count(map.failed)} of ${counted(map.runs, "run")} failed or ${verb} only partly right`;
  return `${failed}${errors}.${undecided}`;
}

/** The share of a system's runs: `2 of 7`. */
export const shareText = (share: Share): string => `${count(share.runs)} of ${count(share.all)}`;

/** The interval of that share: `8 to 65 %`; empty without one. */
export const intervalOf = (share: Share): string =>
  share.low === null || share.high === null
    ? ""
    : `${fixed(share.low * 100, 0)} to ${fixed(share.high * 100, 0)} %`;

/** The systems of a cluster, the most frequent first. */
export const ranked = (shares: readonly Share[]): Share[] =>
  [...shares].sort((one, other) => other.runs / other.all - one.runs / one.all);

/** Width of a bar, in percent. A share that is not zero is always visible. */
export const width = (share: Share): number =>
  share.all === 0 ? 0 : Math.max(2, Math.round((share.runs / share.all) * 100));

/** The first example with something to quote, or the first one. */
export const evidence = (cluster: Cluster): Example | undefined =>
  cluster.examples.find((one) => one.quote !== "") ?? cluster.examples[0];
