// Failure maps: the request of a place, names of clusters, and their numbers in words.
import type {
  FailureCluster,
  FailureExample,
  FailureGroup,
  FailureKind,
  FailureMap,
  FailureShare,
  FailuresRequest,
} from "../generated";
import { visibleLine } from "../components/visible/visible";
import { count, counted, fixed } from "./format";

export type Cluster = FailureCluster;
export type Example = FailureExample;
export type Map = FailureMap;
export type Share = FailureShare;
export type Group = FailureGroup;
export type Kind = FailureKind;

/** Arguments of the command. The same for all parts of the page. */
export const failuresArgs = (asked: {
  q: string;
  scorer: string;
}): { request: FailuresRequest } => ({
  request: { filter: asked.q, scorer: asked.scorer === "" ? null : asked.scorer },
});

/** Name of a cluster in the address. Stays the same while further runs are read. */
export const causeOf = (cluster: Pick<Cluster, "mode" | "subject" | "detail">): string =>
  JSON.stringify([cluster.mode, cluster.subject, cluster.detail]);

/**
 * The cluster of a name in the address. While further runs are read, the same cause may get another
 * detail; then it is the first with the same mode and subject. -1 if there is none.
 */
export function clusterAt(all: readonly Cluster[], cause: string): number {
  const exact = all.findIndex((one) => causeOf(one) === cause);
  if (exact >= 0) return exact;
  let parts: unknown;
  try {
    parts = JSON.parse(cause);
  } catch {
    return -1;
  }
  if (!Array.isArray(parts)) return -1;
  return all.findIndex((one) => one.mode === parts[0] && one.subject === parts[1]);
}

/** What a failed run is compared with: `Compare with a passing run of the same system and model`. */
export function compareText(step: NonNullable<Example["decisive"]>): string {
  const other = visibleLine(step.baseline_name);
  switch (step.baseline_of) {
    case "same_system_and_model":
      return "Compare with a passing run of the same system and model";
    case "same_system":
      return `Compare with a passing run of the same system, another model: ${other}`;
    case "other_system":
      return `Compare with a passing run of another system: ${other}`;
  }
}

/** Clusters that are the main cause of a run, and those that are nowhere more than a second one. */
export const split = (clusters: readonly Cluster[]): { main: Cluster[]; second: Cluster[] } => ({
  main: clusters.filter((one) => one.runs > 0),
  second: clusters.filter((one) => one.runs === 0),
});

/** Mode that stands for a kind of causes in the address. */
const KIND = "kind";
/** Runs that are shown of a kind: as many as of one cause. */
const MOST_EXAMPLES = 20;

/** A line of the list: a kind of causes, or a cause. */
export interface Line {
  cluster: Cluster;
  /** The kind whose causes it folds; null for a cause. */
  folds: Kind | null;
  /** True for a cause under its kind. */
  isUnder: boolean;
}

/** A kind of causes in the form of a cause, with the runs of its causes. */
export function asCluster(kind: Kind, causes: readonly Cluster[]): Cluster {
  const own = causes.filter((one) => one.kind === kind.kind);
  const runs = own.flatMap((one) => one.examples.filter((example) => example.is_main));
  return {
    ...kind,
    named: null,
    mode: KIND,
    subject: kind.kind,
    detail: "",
    examples: runs.slice(0, MOST_EXAMPLES),
  };
}

/**
 * The lines of the list, the most frequent kind first, with the causes of the kinds that are
 * unfolded. A kind with one cause is that cause. Causes that are nowhere the main one come last.
 */
export function lines(
  map: Pick<Map, "kinds" | "clusters">,
  isOpen: (kind: string) => boolean,
): { main: Line[]; second: Line[] } {
  const { main, second } = split(map.clusters);
  const alone = (cluster: Cluster): Line => ({ cluster, folds: null, isUnder: false });
  const ofKind = (kind: Kind): Line[] => {
    const causes = main.filter((one) => one.kind === kind.kind);
    if (kind.causes <= 1) return causes.map(alone);
    const under = isOpen(kind.kind) ? causes.map((one) => ({ ...alone(one), isUnder: true })) : [];
    return [{ ...alone(asCluster(kind, main)), folds: kind }, ...under];
  };
  return { main: map.kinds.flatMap(ofKind), second: second.map(alone) };
}

/** The kind of the cause in the address, whose causes have to be unfolded; null for no cause. */
export function kindOfCause(map: Pick<Map, "clusters">, cause: string): string | null {
  const cluster = map.clusters[clusterAt(map.clusters, cause)];
  return cluster !== undefined && cluster.runs > 0 ? cluster.kind : null;
}

/** How often a cause occurs: `3 runs, and 1 more as a second cause`. */
export const occurs = (cluster: Cluster): string =>
  cluster.runs === 0
    ? `${counted(cluster.also, "run")} as a second cause`
    : cluster.also === 0
      ? counted(cluster.runs, "run")
      : `${counted(cluster.runs, "run")}, and ${count(cluster.also)} more as a second cause`;

/** True while numbers cover only some of the failed runs: transcripts are being read, or were not. */
export const isPartial = (map: Map): boolean => map.state !== "done";

/** What numbers cover while they are partial: `of the 120 failed runs read so far`; else empty. */
export const coverage = (map: Map): string =>
  isPartial(map) ? `of the ${counted(map.read, "failed run")} read so far` : "";

/** What a screen reader is told of the reading: once for each quarter, not for each run. */
export function progressText(map: Map): string {
  if (map.state === "done") return "";
  if (map.state === "stopped") return `Stopped after ${count(map.read)} of ${count(map.failed)}.`;
  const quarter = map.failed === 0 ? 0 : Math.floor((4 * map.read) / map.failed);
  return quarter === 0 ? "Reading transcripts." : `${String(25 * quarter)} % of them read.`;
}

/** What a person said of a run: `Reviewed: right, unlike the score`. */
export function reviewText(review: NonNullable<Example["review"]>): string {
  const word = { right: "right", partly: "partly right", wrong: "wrong" }[review.verdict];
  return `Reviewed: ${word}${review.disagrees ? ", unlike the score" : ""}`;
}

/** What the map covers: `28 of 66 runs failed or are only partly right. 4 runs have no result.` */
export function scope(map: Map): string {
  const undecided =
    map.undecided === 0
      ? ""
      : ` ${counted(map.undecided, "run")} ${map.undecided === 1 ? "has" : "have"} no result.`;
  if (map.runs === 0) return undecided.trim();
  const verb = map.failed === 1 ? "is" : "are";
  const errors = map.errors > 0 ? `, ${count(map.errors)} of them ended in an error` : "";
  const failed = `${count(map.failed)} of ${counted(map.runs, "run")} failed or ${verb} only partly right`;
  const passed = map.passed_but_reviewed_wrong;
  const doubted =
    passed === 0
      ? ""
      : ` ${counted(passed, "run")} that passed ${passed === 1 ? "was" : "were"} reviewed as wrong or partly right.`;
  return `${failed}${errors}.${undecided}${doubted}`;
}

/**
 * The share of a system's runs: `2 of 7`. While transcripts of failed runs are not read, it says of
 * how many it is: `2 of 3 failed runs read so far`.
 */
export const shareText = (share: Share, group: Group | undefined): string =>
  group !== undefined && group.read < group.failed
    ? `${count(share.runs)} of ${counted(group.read, "failed run")} read so far`
    : `${count(share.runs)} of ${count(share.all)}`;

/** The interval of that share: `8 to 65 %`; empty without one. */
export const intervalOf = (share: Share): string =>
  share.low === null || share.high === null
    ? ""
    : `${fixed(share.low * 100, 0)} to ${fixed(share.high * 100, 0)} %`;

/** The systems of a cluster, the most frequent first. */
export const ranked = (shares: readonly Share[]): Share[] =>
  [...shares].sort((one, other) => other.runs / other.all - one.runs / one.all);

/** Width of a bar, in percent, of what the share says. A share that is not zero is always visible. */
export function width(share: Share, group: Group | undefined): number {
  const all = group !== undefined && group.read < group.failed ? group.read : share.all;
  return all === 0 ? 0 : Math.max(2, Math.round((share.runs / all) * 100));
}

/** The first example with something to quote, or the first one. */
export const evidence = (cluster: Cluster): Example | undefined =>
  cluster.examples.find((one) => one.quote !== "") ?? cluster.examples[0];
