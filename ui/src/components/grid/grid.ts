// Pure. Types of a result table, its column widths, and the order that a press on a header selects.

export interface GridColumn {
  name: string;
  numeric: boolean;
}
export interface GridCell {
  text: string;
  kind: "missing" | "null" | "bool" | "number" | "text" | "nested";
}
export interface GridOrder {
  column: number | null;
  descending: boolean;
}
export type ReadRows = (
  offset: number,
  limit: number,
  order: GridOrder,
) => Promise<{ rows: GridCell[][]; total: number }>;

export const FILE_ORDER: GridOrder = { column: null, descending: false };
/** Columns with longer values count as wide. */
const WIDEST = 44;
const PADDING = "2 * var(--cell, 8px)";

/**
 * CSS widths: narrow columns get what they need, the rest goes to the wide columns or else to an
 * empty one.
 */
export function template(
  columns: readonly GridColumn[],
  rows: readonly (readonly GridCell[])[],
): string {
  const widths = columns.map((column, i) => {
    const longest = rows.reduce((max, row) => Math.max(max, row[i]?.text.length ?? 0), 0);
    const least = Math.max(3, longest, column.name.length);
    // Space for the sort arrow and padding.
    const wanted = Math.max(longest, column.name.length + 2) + 3;
    if (wanted > WIDEST) return `minmax(22ch, ${Math.min(wanted, 3 * WIDEST)}fr)`;
    return `minmax(calc(${Math.min(least, 22)}ch + ${PADDING}), calc(${wanted}ch + ${PADDING}))`;
  });
  if (!widths.some((width) => width.endsWith("fr)"))) widths.push("1fr");
  return widths.join(" ");
}

/**
 * Next order after a press on a header: numbers descending, words ascending, then reversed, then
 * file order.
 */
export function nextOrder(now: GridOrder, column: number, numeric: boolean): GridOrder {
  if (now.column !== column) return { column, descending: numeric };
  return now.descending === numeric ? { column, descending: !numeric } : FILE_ORDER;
}

/** Text of a cell, and whether it is a missing value. */
export function cellText(cell: GridCell | undefined): { text: string; nothing: boolean } {
  if (!cell || cell.kind === "missing") return { text: "—", nothing: true };
  if (cell.kind === "null") return { text: "null", nothing: true };
  if (cell.kind === "text" && cell.text === "") return { text: "“”", nothing: true };
  return { text: cell.text, nothing: false };
}
