// Pure. Going through the failures of a run: failed calls, errors, and last the first difference
// between the answer and the expected one.
import { count } from "../../domain/format";
import type { RunOutline, RunView } from "../../generated";
import { whyNoDiff } from "./answerDiff";

/** A failed step, or the answer. */
export type Failure = { step: number; number: number } | "answer";

/** True if the answer is compared and did not pass. */
export const isAnswerWrong = (view: RunView): boolean =>
  view.row.passed === false && whyNoDiff(view) === null;

/**
 * The next failure from a step, or from the answer, which follows all steps; null if there is none.
 */
export function nextFailure(
  failures: readonly number[],
  answer: boolean,
  from: number | "answer",
  by: 1 | -1,
): Failure | null {
  const before = (step: number) => from === "answer" || step < from;
  const at =
    by > 0
      ? from === "answer"
        ? -1
        : failures.findIndex((step) => step > from)
      : failures.findLastIndex(before);
  const step = failures[at];
  if (step !== undefined) return { step, number: at + 1 };
  return by > 0 && answer && from !== "answer" ? "answer" : null;
}

/** What is announced when there is no further failure. */
export function noFailure(outline: RunOutline, answer: boolean, by: 1 | -1): string {
  if (outline.failure_count === 0 && !answer) return "No step of this run failed.";
  if (by < 0) return "No earlier failure.";
  const more = outline.failure_count - outline.failures.length;
  return more > 0 ? `${count(more)} more failures are not listed.` : "No further failure.";
}
