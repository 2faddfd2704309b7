// Pure. Review queues: their order in addresses, the filter of a selection, and their texts.
import { count, counted } from "./format";
import { quote } from "./filter";
import type { QueueOrder, QueueProgress, Verdict } from "../generated";

/** Order of a new queue. */
export const UNREVIEWED: QueueOrder = { kind: "unreviewed" };

/** The most values and bytes that the engine takes in one filter. */
const MOST_RUNS = 64;
const MOST_BYTES = 8_000;

/** Parses the order in an address; null for any other word. */
export function parseOrder(word: string | null): QueueOrder | null {
  if (word === "list" || word === "unreviewed") return { kind: word };
  const seed = /^random\.(\d{1,9})$/u.exec(word ?? "")?.[1];
  return seed === undefined ? null : { kind: "random", seed: Number(seed) };
}

export const formatOrder = (order: QueueOrder): string =>
  order.kind === "random" ? `random.${order.seed}` : order.kind;

/** Runs that ended with or without an answer; the others cannot be judged yet, or never. */
const FINISHED = "state:answered,no_answer";

/** Adds to a filter that unfinished runs are left out, unless it asks for states itself. */
export const finishedOnly = (q: string): string =>
  /(^|[\s(-])state:/iu.test(q) ? q : `${q} ${FINISHED}`.trim();
export const isFinishedOnly = (q: string): boolean => q === FINISHED || q.endsWith(` ${FINISHED}`);
/** The filter with unfinished runs. */
export const withUnfinished = (q: string): string =>
  isFinishedOnly(q) ? q.slice(0, -FINISHED.length).trim() : q;

/** The filter that chooses exactly these runs; null if a filter cannot hold that many. */
export function filterOf(paths: readonly string[]): string | null {
  const filter = `file:${paths.map(quote).join(",")}`;
  const fits = paths.length <= MOST_RUNS && new TextEncoder().encode(filter).length <= MOST_BYTES;
  return fits && paths.length > 0 ? filter : null;
}

/**
 * Progress of a queue. Where verdicts change which runs pass its filter, it is counted by the
 * verdicts given in this queue, of the runs with which it began.
 */
export function queueProgress(
  filter: string,
  now: QueueProgress,
  begun: number,
  given: Iterable<Verdict>,
): QueueProgress {
  if (!/(^|[\s(-])review:/iu.test(filter)) return now;
  const progress = {
    total: Math.max(begun, now.total),
    reviewed: 0,
    right: 0,
    partly: 0,
    wrong: 0,
  };
  for (const verdict of given) {
    progress.reviewed++;
    progress[verdict]++;
  }
  return progress;
}

export const progressText = ({ reviewed, total }: QueueProgress): string =>
  `${count(reviewed)} of ${count(total)} reviewed`;

/** The verdicts so far, `12 right, 5 partly right, 3 wrong`; empty if there are none. */
export function verdictsText({ right, partly, wrong }: Pick<QueueProgress, Verdict>): string {
  const parts = [
    [right, "right"],
    [partly, "partly right"],
    [wrong, "wrong"],
  ] as const;
  return parts
    .filter(([n]) => n > 0)
    .map(([n, word]) => `${count(n)} ${word}`)
    .join(", ");
}

/** What was done in a queue, `Reviewed 3 runs: 2 right, 1 wrong.`; empty if nothing was. */
export function queueSummary(given: readonly Verdict[]): string {
  if (given.length === 0) return "";
  const of = (verdict: Verdict) => given.filter((one) => one === verdict).length;
  const verdicts = { right: of("right"), partly: of("partly"), wrong: of("wrong") };
  return `Reviewed ${counted(given.length, "run")}: ${verdictsText(verdicts)}.`;
}
