// Pure. Requests of the task list.
import type { FacetValue, TaskRequest } from "../../generated";

/** Rows per request. */
export const PAGE = 100;
/** Number of chips shown; typing finds the others. */
const MAX_CHIPS = 60;

export interface TaskQuery {
  words: string;
  /** Empty means any. */
  set: string;
  category: string;
}

/** The request of a page. */
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

/** The values shown as chips; always includes the selected one, so that it can be cleared. */
export function visibleChips(values: readonly FacetValue[], chosen: string): FacetValue[] {
  const shown = values.slice(0, MAX_CHIPS);
  if (chosen === "" || shown.some((one) => one.value === chosen)) return shown;
  return [
    { value: chosen, count: values.find((one) => one.value === chosen)?.count ?? 0 },
    ...shown,
  ];
}
