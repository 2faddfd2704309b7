// What is asked of the list of tasks. Pure.
import type { FacetValue } from "../../generated/FacetValue";
import type { TaskRequest } from "../../generated/TaskRequest";

/** Rows that are asked for at once. */
export const PAGE = 100;
/** Chips that are offered; more are found by typing. */
const MAX_CHIPS = 60;

export interface TaskQuery {
  words: string;
  /** Empty means any. */
  set: string;
  category: string;
}

/** The request for a page of what is asked. */
export const pageRequest = (
  { words, set, category }: TaskQuery,
  page: number,
): { request: TaskRequest } => ({
  request: {
    words,
    set: set === "" ? null : set,
    category: category === "" ? null : category,
    span: { offset: page * PAGE, limit: PAGE },
  },
});

/** The values that are offered; the chosen one is always among them, so that it can be let go. */
export function visibleChips(values: readonly FacetValue[], chosen: string): FacetValue[] {
  const shown = values.slice(0, MAX_CHIPS);
  if (chosen === "" || shown.some((one) => one.value === chosen)) return shown;
  return [
    { value: chosen, count: values.find((one) => one.value === chosen)?.count ?? 0 },
    ...shown,
  ];
}
