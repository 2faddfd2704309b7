// What is asked of the list of tasks. Pure.
import type { FacetValue } from "../../generated/FacetValue";
import type { TaskRequest } from "../../generated/TaskRequest";

/** Rows that are asked for at once. */
export const PAGE = 100;
/** Chips that are offered; more are found by typing. */
const MOST = 60;

export interface Asked {
  words: string;
  /** Empty means any. */
  set: string;
  category: string;
}

/** The request for a page of what is asked. */
export const pageAsked = (
  { words, set, category }: Asked,
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
export function shownChips(values: readonly FacetValue[], chosen: string): FacetValue[] {
  const shown = values.slice(0, MOST);
  if (chosen === "" || shown.some((one) => one.value === chosen)) return shown;
  return [
    { value: chosen, count: values.find((one) => one.value === chosen)?.count ?? 0 },
    ...shown,
  ];
}
