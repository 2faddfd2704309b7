// Pure. Which columns of a sparse matrix are shown: those with a cell in the rows in sight.
import type { OverviewRow } from "../../generated";

/** Columns are left out only where these are at least this share of them. */
const SPARSE = 0.5;

/**
 * True for each column that has a cell in these rows or the cursor; null where all are shown,
 * because few are empty or no row is known yet.
 */
export function columnsInSight(
  rows: readonly (OverviewRow | undefined)[],
  columns: number,
  cursor: number,
): boolean[] | null {
  const known = rows.filter((row) => row !== undefined);
  const used = Array.from(
    { length: columns },
    (_, at) => at === cursor || known.some((row) => row.cells[at] != null),
  );
  const shown = used.filter((one) => one).length;
  return shown === 0 || shown > columns * (1 - SPARSE) ? null : used;
}

/** The next shown column on one side; the same one at the end. */
export function nextShown(shown: readonly boolean[] | null, from: number, by: 1 | -1): number {
  let to = from + by;
  while (shown !== null && to >= 0 && to < shown.length && !shown[to]) to += by;
  return shown !== null && to >= shown.length ? from : to;
}
