// Pure. Columns of the table: content, sort key and width.
import type { Column, OwnName, RunLabel, RunRow } from "../../generated";
import { isUnreadable } from "../../domain/states";
import { visibleLine } from "../../components/visible/visible";
import { isOwnName, variationText } from "../../domain/names";
import { evaluatorScores, scoreBadge } from "../../domain/scores";
import { isFolded } from "../shared/sensitive.svelte";
import {
  bytes,
  count,
  counted,
  fixed,
  moment,
  money,
  seconds,
  short,
  when,
} from "../../domain/format";

export interface TableColumn {
  id: string;
  /** Column to sort by; undefined if the list has no such order. */
  sort?: Column;
  title: string;
  /** In multiples of the text size. */
  width: number;
  /** Width below which it never shrinks, likewise; undefined if it never shrinks. */
  least?: number;
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
/** The task, else the prompt. Runs of a file with several have both, as their tasks are often numbers. */
function taskText(row: RunRow): string {
  const { task, prompt, member, path } = row;
  if (task === null) return prompt === null ? path : `${prompt} · ${path}`;
  const isTold = prompt === null || member === null || task.includes(prompt) || isFolded(row);
  return isTold ? task : `${task} · ${prompt}`;
}

const FIXED: readonly (TableColumn & { id: Column })[] = [
  {
    id: "state",
    title: "State",
    width: 9.6,
    least: 8,
    grow: 3,
    number: false,
    text: (row) => row.state,
    token: (row) => word("state", row.state),
  },
  {
    id: "task",
    title: "Task",
    width: 14,
    least: 8,
    grow: 5,
    number: false,
    text: taskText,
    hint: (row) => row.path,
    token: (row) => word("task", row.task),
  },
  {
    id: "variation",
    title: "Variation",
    width: 8.5,
    least: 5,
    grow: 4,
    number: false,
    text: (row) => variationText(row).replace(/^variation (?=\d+$)/, "") || DASH,
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
    least: 5.5,
    grow: 1,
    number: false,
    text: (row) => row.system ?? DASH,
    token: (row) => word("system", row.system),
  },
  {
    id: "model",
    title: "Model",
    width: 8.4,
    least: 5,
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
    text: (row) => scoreBadge(row)?.score || scoresOf(row) || DASH,
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
    text: (row) => bytes(row.size),
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

export const COLUMNS: readonly TableColumn[] = FIXED.map((column) => ({
  ...column,
  sort: column.id,
}));

/** Width of the window in pixels, and the number of evaluators that then have a column. */
const ROOM = [
  [1_700, 4],
  [1_400, 3],
  [1_200, 1],
] as const;
export const evaluatorRoom = (width: number): number =>
  ROOM.find(([from]) => width >= from)?.[1] ?? 0;
/** Maximum number of evaluators that can be chosen as columns. */
const MOST_EVALUATORS = 12;

/** Evaluators among the values of the filter key `stored`, the most frequent first. */
export function evaluatorsOf(values: readonly { value: string }[]): string[] {
  const names = values.map(({ value }) => value);
  const isResult = (value: string) => /=(?:pass|fail|open|error|none)$/.test(value);
  return names
    .filter((value) => !isResult(value))
    .slice(0, MOST_EVALUATORS)
    .map((value) =>
      value.startsWith('"') ? value.slice(1, -1).replace(/\\(["\\])/g, "$1") : value,
    );
}

/** The verdict of an evaluator; nothing where it said nothing of a run, never 0. */
function verdictOf(row: RunRow, evaluator: string) {
  return row.verdicts.find((one) => one.evaluator === evaluator);
}
const MARKS = { pass: "✓", fail: "✗", error: "err", open: "", none: "" } as const;
export function verdictText(row: RunRow, evaluator: string): string {
  const verdict = verdictOf(row, evaluator);
  if (verdict === undefined) return "";
  const number = Number(verdict.score);
  const score =
    verdict.score === null || verdict.score === ""
      ? (verdict.word ?? "")
      : Number.isFinite(number) && !Number.isInteger(number)
        ? fixed(number, 2)
        : verdict.score;
  return [score, MARKS[verdict.result]].filter((part) => part !== "").join(" ");
}
function verdictHint(row: RunRow, evaluator: string): string {
  const verdict = verdictOf(row, evaluator);
  if (verdict === undefined) return `${evaluator} said nothing of this run`;
  const parts = [
    verdict.word,
    verdict.score,
    verdict.result,
    verdict.threshold === null ? null : `threshold ${verdict.threshold}`,
  ];
  return `${evaluator}: ${parts.filter((part) => part !== null && part !== "").join(", ")}`;
}
/** Column of the imported verdicts of an evaluator. */
export const evaluatorColumn = (evaluator: string): TableColumn => ({
  id: `verdict:${evaluator}`,
  sort: `verdict:${evaluator}`,
  title: evaluator,
  width: 6.8,
  number: true,
  text: (row) => visibleLine(verdictText(row, evaluator)),
  hint: (row) => visibleLine(verdictHint(row, evaluator)),
});

/** Characters that fit the column. */
const MOST_SCORES = 8;
/** Scores of evaluators that fit the column; else how many there are. */
function scoresOf(row: RunRow): string {
  const scores = evaluatorScores(row);
  const text = visibleLine(scores.join(", "));
  return scores.length < 2 || text.length <= MOST_SCORES ? text : counted(scores.length, "score");
}

function scored(row: RunRow): string {
  const verdict = scoreBadge(row);
  if (verdict === null)
    return row.verdicts.length === 0
      ? "Unknown task, so not scored"
      : row.verdicts.map(({ evaluator }) => verdictHint(row, evaluator)).join("; ");
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
  // Failed steps without a call, such as programs, are more than the calls.
  return row.failed_calls > row.tool_calls
    ? `${counted(row.tool_calls, "tool call")}; ${counted(row.failed_calls, "step")} failed${missing}`
    : `${counted(row.tool_calls, "tool call")}, ${count(row.failed_calls)} failed${missing}`;
}

export const labelText = ({ name, value }: RunLabel): string =>
  visibleLine(value === null ? name : `${name}: ${value}`);
/** Column of the labels, which the list has no order for. */
export const LABELS: TableColumn = {
  id: "labels",
  title: "Labels",
  width: 11,
  grow: 2,
  number: false,
  text: (row) => row.labels.map(labelText).join(", "),
  hint: (row) => row.labels.map(labelText).join(", ") || "No labels",
  token: (row) => word("label", row.labels.find(({ value }) => value === null)?.name ?? null),
};

/** True for the id of a column of one's own; those of verdicts are columns of evaluators. */
export const isOwnColumn = (id: string): id is OwnName =>
  isOwnName(id) && !id.startsWith("verdict:");
/** Values of one's own columns; undefined while they are not known. */
export interface OwnText {
  text: (row: RunRow, column: string) => string | null | undefined;
  /** True if values of the column are folded with the texts of a sensitive run. */
  quotes: (column: string) => boolean;
}
/** A column of one's own. What quotes a folded run is not shown. */
export const ownColumn = (id: OwnName, values: OwnText): TableColumn => {
  const text = (row: RunRow) => {
    if (isFolded(row) && values.quotes(id)) return "folded";
    const value = values.text(row, id);
    return value === undefined ? "…" : value === null ? DASH : visibleLine(value);
  };
  return { id, sort: id, title: id, width: 9, grow: 1, number: false, text, hint: text };
};

/** True if a column is shown after the user's choices. */
export const isShown = (
  column: TableColumn,
  shown: Readonly<Record<string, boolean>>,
  hasStored: boolean,
): boolean => shown[column.id] ?? (column.ifStored === true ? hasStored : column.off !== true);

/** The visible columns. The first `room` evaluators have one behind their counts. */
export function chosen(
  shown: Readonly<Record<string, boolean>>,
  hasStored: boolean,
  evaluators: readonly string[] = [],
  room = 0,
  hasLabels = false,
  values: OwnText | null = null,
  source: TableColumn | null = null,
): TableColumn[] {
  const named =
    values === null
      ? []
      : Object.keys(shown)
          .filter(isOwnColumn)
          .filter((id) => shown[id] === true)
          .map((id) => ownColumn(id, values));
  const own = evaluators.map(evaluatorColumn).filter((column, at) => shown[column.id] ?? at < room);
  return COLUMNS.flatMap((column) => [
    ...(isShown(column, shown, hasStored) ? [column] : []),
    ...(column.id === "task" && source !== null ? [source] : []),
    ...(column.id === "score" && (shown["labels"] ?? hasLabels) ? [LABELS] : []),
    ...(column.id === "stored" ? [...own, ...named] : []),
  ]);
}

/**
 * Widths in pixels. Where there is no room for the columns up to the score, those shrink of which
 * the user did not choose the width.
 */
export function widthsOf(
  columns: readonly TableColumn[],
  chosen: Readonly<Record<string, number>>,
  textSize: number,
  room: number,
): Map<string, number> {
  const whole = (column: TableColumn) => chosen[column.id] ?? Math.round(column.width * textSize);
  const spare = ({ id, width, least = width }: TableColumn) =>
    id in chosen ? 0 : (width - least) * textSize;
  const first = columns.slice(0, columns.findIndex(({ id }) => id === "score") + 1);
  const over = first.reduce((sum, column) => sum + whole(column), 0) - room;
  const all = first.reduce((sum, column) => sum + spare(column), 0);
  const share = over <= 0 || all === 0 ? 0 : Math.min(1, over / all);
  return new Map(
    columns.map((column) => [
      column.id,
      whole(column) - (first.includes(column) ? Math.ceil(share * spare(column)) : 0),
    ]),
  );
}
