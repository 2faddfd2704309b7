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

/** The next failure, and if it was found beyond the end or the beginning; null if there is none. */
export function wrappedFailure(
  failures: readonly number[],
  answer: boolean,
  from: number | "answer",
  by: 1 | -1,
): { failure: Failure; wrapped: boolean } | null {
  const failure = nextFailure(failures, answer, from, by);
  if (failure !== null) return { failure, wrapped: false };
  const again =
    by > 0
      ? nextFailure(failures, answer, -1, by)
      : answer
        ? "answer"
        : nextFailure(failures, false, "answer", by);
  return again === null ? null : { failure: again, wrapped: true };
}

/**
 * The next failure from a step, or from the answer, which follows all steps; null if there is none.
 */
function nextFailure(
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

/** What is announced when the search began again at the other end. */
export function continuedText(outline: RunOutline, by: 1 | -1): string {
  const more = outline.failure_count - outline.failures.length;
  const from = `Continued from the ${by > 0 ? "top" : "end"}`;
  return more > 0 ? `${from}; ${count(more)} more failures are not listed` : from;
}
