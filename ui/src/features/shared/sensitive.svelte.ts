// Sensitive runs whose texts the person unfolded, until the page is left.
import { SvelteSet } from "svelte/reactivity";
import type { RunRow } from "../../generated";

const unfolded = new SvelteSet<string>();

/** True if texts of the run stay folded. */
export const isFolded = (row: Pick<RunRow, "id" | "sensitive">): boolean =>
  row.sensitive === true && !unfolded.has(row.id);

/** Unfolds the texts of runs. */
export function unfold(ids: readonly string[]): void {
  for (const id of ids) unfolded.add(id);
}

/** Folds all texts again. */
export const foldAll = (): void => unfolded.clear();
