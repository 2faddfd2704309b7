// Sensitive runs whose texts the person unfolded, until another folder is opened.
import { SvelteSet } from "svelte/reactivity";
import type { RunRow, RunScores, TaskRow } from "../../generated";

const unfolded = new SvelteSet<string>();

/** True if texts of the run stay folded. */
export const isFolded = (row: Pick<RunRow, "id" | "sensitive">): boolean =>
  row.sensitive === true && !unfolded.has(row.id);

type Quoting = Pick<RunRow, "id" | "sensitive" | "reason" | "score_reason" | "prompt" | "verdicts">;

/**
 * The run without texts that quote what was said in it, while these stay folded. The words of
 * evaluators may be any text, too; their results and numbers stay.
 */
export const withoutQuotes = <R extends Quoting>(row: R): R =>
  isFolded(row)
    ? {
        ...row,
        reason: null,
        score_reason: null,
        prompt: null,
        verdicts: row.verdicts.map((one) => ({
          ...one,
          word: one.word === null ? null : "folded",
          reason: null,
        })),
      }
    : row;

/** Scores without texts that quote what was said. */
export const scoresWithoutQuotes = (scores: RunScores): RunScores => ({
  ...scores,
  scores: scores.scores.map((one) => ({ ...one, reason: "", detail: [] })),
  judged: scores.judged.map((one) => ({ ...one, rounds: [], wanted: 0 })),
  stored: scores.stored.map((one) => ({ ...one, reason: null, silent: true, rounds: [] })),
  notes: [],
});

/** A task, by which its texts are folded like those of a run. No run has such an id. */
export const foldableTask = (
  task: Pick<TaskRow, "id" | "sensitive">,
): Pick<RunRow, "id" | "sensitive"> => ({ ...task, id: `task ${task.id}` });

/** Unfolds the texts of runs. */
export function unfold(ids: readonly string[]): void {
  for (const id of ids) unfolded.add(id);
}

/** Folds all texts again. */
export const foldAll = (): void => unfolded.clear();
