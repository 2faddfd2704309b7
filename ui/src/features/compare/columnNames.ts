// Pure. Short names of compared runs, from what differs between them, and their common parts.
import type { RunRow } from "../../generated";
import { variationText } from "../../domain/names";
import { visibleLine } from "../../components/visible/visible";

type Key = "task" | "variation" | "system" | "model" | "repeat";
const KEYS: readonly Key[] = ["task", "variation", "system", "model", "repeat"];

function keyText(row: RunRow, key: Key): string {
  if (key === "repeat") return `run ${row.repeat}`;
  if (key === "variation") return variationText(row);
  return row[key] ?? "";
}

export interface ColumnNames {
  /** One per run, short and unique. */
  each: string[];
  /** Common to all runs. */
  shared: string[];
}

/** Names each run by what differs and lists the common parts once. */
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

/** The order after moving a run to the front. */
export const toFront = (ids: readonly string[], at: number): string[] => [
  ...ids.slice(at, at + 1),
  ...ids.filter((_, index) => index !== at),
];
export const removeAt = (ids: readonly string[], at: number): string[] =>
  ids.filter((_, index) => index !== at);
/** The order after swapping two runs; unchanged if one does not exist. */
export function swapped(ids: readonly string[], one: number, other: number): string[] {
  const [a, b] = [ids[one], ids[other]];
  if (a === undefined || b === undefined) return [...ids];
  return ids.map((id, at) => (at === one ? b : at === other ? a : id));
}
