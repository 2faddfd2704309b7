// Pure. Texts and numbers of agreement, shared by the agreement page and the run page.
import { count, counted, fixed } from "./format";
import type { Agreement, Disagreement, Judged, Rater, Trust } from "../generated";

export const PEOPLE = "people";
const AUTOMATIC = "score";

/** True for an evaluator whose verdicts were imported. */
export const isStored = (rater: Rater): boolean => rater.id.startsWith("stored:");

/** True for one of several reviewers. */
const isPerson = (rater: Rater): boolean => rater.id.startsWith("person:");

/** True for a judge of this program, neither people nor the automatic score. */
export const isJudge = (rater: Rater): boolean =>
  rater.id !== PEOPLE && rater.id !== AUTOMATIC && !isPerson(rater) && !isStored(rater);

/** Two decimals with a typographic minus; 1 only for an exact 1. */
export function kappaText(kappa: number | null): string {
  if (kappa === null) return "–";
  if (kappa < 1 && kappa > 0.995) return ">0.99";
  return fixed(kappa, 2).replace("-", "−");
}

export const intervalText = (interval: Agreement["interval"]): string =>
  interval === null ? "–" : `${kappaText(interval[0])} to ${kappaText(interval[1])}`;

/** Equal verdicts among the runs that both judged: `10 of 12`. */
export const sameText = ({ same, n }: Agreement): string => `${count(same)} of ${count(n)}`;

/** Ignored verdicts of a rater in one line; empty if all count. */
export function notCounted({ stale, unread }: Rater): string {
  const parts = [
    stale > 0 ? `${count(stale)} stale` : "",
    unread > 0 ? `${count(unread)} without a verdict` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** A cell of the table of verdicts: a row of the first rater, a column of the second. */
export interface VerdictCell {
  row: number;
  column: number;
}
/** The cell of a disagreement. Words such as “partly right” and “unsure” are in between. */
export function cellOf({ said }: Agreement, one: Disagreement): VerdictCell {
  const place = (word: string) =>
    said.includes(word) ? said.indexOf(word) : said.indexOf("in between");
  return { row: place(one.first), column: place(one.second) };
}

/**
 * The selected pair, else people with a judge, else people with imported verdicts, else the first
 * pair.
 */
export function shownPair(trust: Trust, first: string, second: string): Agreement | undefined {
  const chosen = trust.pairs.find((pair) => pair.first.id === first && pair.second.id === second);
  const agreementWithPeople = (is: (rater: Rater) => boolean) =>
    trust.pairs.find((pair) => pair.first.id === PEOPLE && is(pair.second));
  return chosen ?? agreementWithPeople(isJudge) ?? agreementWithPeople(isStored) ?? trust.pairs[0];
}

/** Splits pairs with enough runs from those with too few. */
export const splitBySampleSize = (
  pairs: readonly Agreement[],
): { told: Agreement[]; few: Agreement[] } => ({
  told: pairs.filter((pair) => !pair.few),
  few: pairs.filter((pair) => pair.few),
});

/** Agreement of this judge with people; null if no run has both. */
export function agreementWithPeople(
  trust: Trust | undefined,
  judged: Judged,
): { pair: Agreement; text: string } | null {
  const id = `${judged.judge}:${judged.official ? "official" : "ours"}:${judged.model}`;
  const pair = trust?.pairs.find((one) => one.first.id === PEOPLE && one.second.id === id);
  if (pair === undefined) return null;
  const kappa =
    pair.kappa === null || pair.few
      ? `${sameText(pair)} equal`
      : `κ ${kappaText(pair.kappa)} of ${counted(pair.n, "run")}`;
  return { pair, text: `agreement with people: ${kappa}, ${pair.words}` };
}
