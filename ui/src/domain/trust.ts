// Agreement in words and numbers. Pure; the place and the page of a run share it.
import { count, counted, fixed } from "./format";
import type { Agreement } from "../generated/Agreement";
import type { Judged } from "../generated/Judged";
import type { Rater } from "../generated/Rater";
import type { Trust } from "../generated/Trust";

export const PEOPLE = "people";
const AUTOMATIC = "score";

/** Whether it is an evaluator whose verdicts came with a file. */
export const isStored = (rater: Rater): boolean => rater.id.startsWith("stored:");

/** Whether it is a judge that was asked here, and neither people nor the automatic score. */
export const isJudge = (rater: Rater): boolean =>
  rater.id !== PEOPLE && rater.id !== AUTOMATIC && !isStored(rater);

/** Two places, with a real minus; nothing is 1 that is not. */
export function kappaText(kappa: number | null): string {
  if (kappa === null) return "–";
  if (kappa < 1 && kappa > 0.995) return ">0.99";
  return fixed(kappa, 2).replace("-", "−");
}

export const intervalText = (interval: Agreement["interval"]): string =>
  interval === null ? "–" : `${kappaText(interval[0])} to ${kappaText(interval[1])}`;

/** How many of the runs that both judged have the same: `10 of 12`. */
export const sameText = ({ same, n }: Agreement): string => `${count(same)} of ${count(n)}`;

/** What of a rater does not count, in a line; empty when everything does. */
export function notCounted({ stale, unread }: Rater): string {
  const parts = [
    stale > 0 ? `${count(stale)} stale` : "",
    unread > 0 ? `${count(unread)} without a verdict` : "",
  ];
  return parts.filter(Boolean).join(", ");
}

/** The pair that is shown when none was chosen: people with a judge, else with what is stored, else the first there is. */
export function shownPair(trust: Trust, first: string, second: string): Agreement | undefined {
  const chosen = trust.pairs.find((pair) => pair.first.id === first && pair.second.id === second);
  const agreementWithPeople = (is: (rater: Rater) => boolean) =>
    trust.pairs.find((pair) => pair.first.id === PEOPLE && is(pair.second));
  return chosen ?? agreementWithPeople(isJudge) ?? agreementWithPeople(isStored) ?? trust.pairs[0];
}

/** Pairs that are worth a line, and those that have too few runs to tell. */
export const splitBySampleSize = (
  pairs: readonly Agreement[],
): { told: Agreement[]; few: Agreement[] } => ({
  told: pairs.filter((pair) => !pair.few),
  few: pairs.filter((pair) => pair.few),
});

/** How far the judge that said this agrees with people; nothing where no run was reviewed and judged. */
export function agreementWithPeople(
  trust: Trust | undefined,
  judged: Judged,
): { pair: Agreement; text: string } | null {
  const id = `${judged.judge}:${judged.official ? "official" : "ours"}:${judged.model}`;
  const pair = trust?.pairs.find((one) => one.first.id === PEOPLE && one.second.id === id);
  if (pair === undefined) return null;
  const kappa =
    pair.kappa === null || pair.few
      ? `${sameText(pair)} the same`
      : `κ ${kappaText(pair.kappa)} of ${counted(pair.n, "run")}`;
  return { pair, text: `agrees with people: ${kappa}, ${pair.words}` };
}
