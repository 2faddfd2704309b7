// Pure. Columns of the table: content, sort key and width.
import type { Column, RunRow } from "../../generated";
import { isUnreadable } from "../../domain/states";
import { scoreBadge } from "../../domain/scores";
import { bytes, count, counted, moment, money, seconds, short, when } from "../../domain/format";

export interface TableColumn {
  id: Column;
  title: string;
  /** In multiples of the text size. */
  width: number;
  number: boolean;
  /** Share of the free width; undefined keeps its own width. */
  grow?: number;
  /** Hidden by default. */
  off?: boolean;
  /** Shown by default where evaluators said something of the runs. */
  ifStored?: boolean;
  text: (row: RunRow) => string;
  /** Details that the short text leaves out. */
  hint?: (row: RunRow) => string;
  /** Key and value of the filter that this cell toggles. */
  token?: (row: RunRow) => { key: string; value: string } | null;
}

const word = (key: string, value: string | null) => (value === null ? null : { key, value });
const DASH = "–";

export const COLUMNS: readonly TableColumn[] = [
  {
    id: "state",
    title: "State",
    width: 9.6,
    grow: 3,
    number: false,
    text: (row) => row.state,
    token: (row) => word("state", row.state),
  },
  {
    id: "task",
    title: "Task",
    width: 14,
    grow: 5,
    number: false,
    text: (row) => row.task ?? row.path,
    hint: (row) => row.path,
    token: (row) => word("task", row.task),
  },
  {
    id: "variation",
    title: "Variation",
    width: 8.5,
    grow: 4,
    number: false,
    text: (row) => row.variation_name ?? (row.variation === null ? DASH : String(row.variation)),
    hint: (row) =>
      row.variation === null
        ? "No variation in the name"
        : `variation ${row.variation}${row.variation_name === null ? "" : `: ${row.variation_name}`}`,
    token: (row) => word("variation", row.variation === null ? null : String(row.variation)),
  },
  {
    id: "system",
    title: "System",
    width: 11.2,
    grow: 1,
    number: false,
    text: (row) => row.system ?? DASH,
    token: (row) => word("system", row.system),
  },
  {
    id: "model",
    title: "Model",
    width: 8.4,
    grow: 1,
    number: false,
    text: (row) => row.model ?? DASH,
    token: (row) => word("model", row.model),
  },
  { id: "repeat", title: "Repeat", width: 4.9, number: true, text: (row) => count(row.repeat) },
  {
    id: "score",
    title: "Score",
    width: 5.6,
    number: true,
    text: (row) => scoreBadge(row)?.score || DASH,
    hint: scored,
    token: (row) =>
      row.passed === null
        ? word("scoring", row.scoring)
        : word("passed", row.passed ? "yes" : "no"),
  },
  {
    id: "stored",
    title: "Evaluators",
    width: 7.5,
    number: true,
    ifStored: true,
    text: storedCount,
    hint: storedHint,
  },
  {
    id: "turns",
    title: "Turns",
    width: 4.5,
    number: true,
    text: (row) => (isUnreadable(row) ? DASH : count(row.turns)),
  },
  {
    id: "tool_calls",
    title: "Calls",
    width: 5,
    number: true,
    text: (row) => (isUnreadable(row) ? DASH : count(row.tool_calls)),
    hint: (row) => calls(row),
  },
  {
    id: "tokens",
    title: "Tokens",
    width: 5.2,
    number: true,
    text: (row) => short(row.tokens),
    hint: (row) => `${count(row.tokens)} tokens`,
  },
  { id: "cost", title: "Cost", width: 5.4, number: true, text: (row) => money(row.cost) },
  { id: "seconds", title: "Time", width: 5.2, number: true, text: (row) => seconds(row.seconds) },
  {
    id: "size",
    title: "Size",
    width: 5.8,
    number: true,
    text: (row) => (row.member === null ? bytes(row.size) : `in ${bytes(row.size)}`),
    hint: (row) =>
      row.member === null
        ? `${count(row.size)} bytes`
        : `In a file of ${count(row.size)} bytes, which holds several runs`,
  },
  {
    id: "modified",
    title: "Changed",
    width: 8.4,
    number: true,
    text: (row) => when(row.modified_ms),
    hint: (row) => moment(row.modified_ms),
  },
  {
    id: "path",
    title: "File",
    width: 30,
    number: false,
    off: true,
    text: (row) => row.path,
    hint: (row) => row.path,
  },
];

function scored(row: RunRow): string {
  const verdict = scoreBadge(row);
  if (verdict === null) return "Unknown task, so not scored";
  return [row.scorer === null ? verdict.word : `${row.scorer}: ${verdict.word}`, verdict.why]
    .filter((text) => text !== "")
    .join(" · ");
}

/** Passed imported verdicts, as `n/m`; errors do not count. */
function storedCount({ stored }: RunRow): string {
  if (stored === null) return DASH;
  return stored.decided === 0
    ? stored.errors > 0
      ? `${count(stored.errors)} err`
      : DASH
    : `${count(stored.passed)}/${count(stored.decided)}`;
}

function storedHint({ stored }: RunRow): string {
  if (stored === null) return "No stored verdicts: this run is not an evaluation row";
  const errors = stored.errors === 0 ? "" : `; ${counted(stored.errors, "error")}`;
  return `${count(stored.passed)} of ${counted(stored.decided, "stored verdict")} pass${errors}`;
}

function calls(row: RunRow): string {
  if (isUnreadable(row)) return "The file could not be read as a run";
  const missing =
    row.missing_calls.length === 0 ? "" : `; expected and missing: ${row.missing_calls.join(", ")}`;
  return `${count(row.tool_calls)} tool calls, ${count(row.failed_calls)} failed${missing}`;
}

/** True if a column is shown after the user's choices. */
export const isShown = (
  column: TableColumn,
  shown: Readonly<Record<string, boolean>>,
  hasStored: boolean,
): boolean => shown[column.id] ?? (column.ifStored === true ? hasStored : column.off !== true);

/** The visible columns. */
export const chosen = (
  shown: Readonly<Record<string, boolean>>,
  hasStored: boolean,
): TableColumn[] => COLUMNS.filter((column) => isShown(column, shown, hasStored));

/** Widths in pixels. */
export const widthOf = (
  column: TableColumn,
  widths: Readonly<Record<string, number>>,
  textSize: number,
): number => widths[column.id] ?? Math.round(column.width * textSize);
