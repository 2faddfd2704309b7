// Pure. What runs beside each other are called: what tells them apart, and what they share.
import type { RunRow } from "../../generated/RunRow";
import { visibleLine } from "../../components/visible/visible";

type Key = "task" | "variation" | "system" | "model" | "repeat";
const KEYS: readonly Key[] = ["task", "variation", "system", "model", "repeat"];

function keyText(row: RunRow, key: Key): string {
  if (key === "repeat") return `run ${row.repeat}`;
  if (key === "variation")
    return row.variation_name ?? (row.variation === null ? "" : `variation ${row.variation}`);
  return row[key] ?? "";
}

export interface ColumnNames {
  /** One for each run, short, no two alike. */
  each: string[];
  /** What is true of all. */
  shared: string[];
}

/** Runs by what differs between them; what they share is said once. */
export function columnNames(rows: readonly RunRow[]): ColumnNames {
  const differs = (key: Key) => new Set(rows.map((row) => keyText(row, key))).size > 1;
  const telling = KEYS.filter(differs);
  const shared = KEYS.filter((key) => !differs(key) && key !== "repeat").flatMap(
    (key) => (rows[0] ? visibleLine(keyText(rows[0], key)) : "") || [],
  );
  const said = rows.map(
    (row) =>
      telling
        .map((key) => keyText(row, key))
        .filter(Boolean)
        .join(" · ") || row.path,
  );
  const each = said.map((name, at) =>
    visibleLine(
      said.indexOf(name) === at && said.lastIndexOf(name) === at ? name : `${name} (${at + 1})`,
    ),
  );
  return { each, shared };
}

/** The order after a run was moved to the front. */
export const toFront = (ids: readonly string[], at: number): string[] => [
  ...ids.slice(at, at + 1),
  ...ids.filter((_, index) => index !== at),
];
export const removeAt = (ids: readonly string[], at: number): string[] =>
  ids.filter((_, index) => index !== at);
/** The order after two changed places; as it was when one of them is not there. */
export function swapped(ids: readonly string[], one: number, other: number): string[] {
  const [a, b] = [ids[one], ids[other]];
  if (a === undefined || b === undefined) return [...ids];
  return ids.map((id, at) => (at === one ? b : at === other ? a : id));
}
