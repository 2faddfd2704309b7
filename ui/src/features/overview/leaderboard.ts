// Pure. Columns, order and words of the leaderboard.
import { count, counted, fixed } from "../../domain/format";
import { joinedName } from "./cells";
import type {
  FrontMeasure,
  Leaderboard,
  LeaderboardRow,
  RowGroup,
  Standing,
} from "../../generated";

export type Board = Leaderboard;
export type BoardRow = LeaderboardRow;

export type BoardColumn =
  | "name"
  | "standing"
  | "score"
  | "passes"
  | "cost"
  | "seconds"
  | "tokens"
  | "tasks"
  | "runs"
  | "errors";
export interface BoardSort {
  column: BoardColumn;
  descending: boolean;
}
/** The order of the engine: the highest mean score first. */
export const BY_SCORE: BoardSort = { column: "score", descending: true };

interface ColumnLook {
  id: BoardColumn;
  title: string;
  about: string;
  /** True if the best values are the highest ones, which a first click puts on top. */
  descending: boolean;
}
const look = (id: BoardColumn, title: string, about = "", descending = false): ColumnLook => ({
  id,
  title,
  about,
  descending,
});
const BOARD_COLUMNS: readonly ColumnLook[] = [
  look("name", "System · model"),
  look("standing", "Standing", "By comparing the same tasks, not by the means beside it"),
  look("score", "Score", "Mean over all scored runs", true),
  look("passes", "Pass rate", "Share of passed runs", true),
  look("cost", "Cost", "Mean cost of a run, also of those in error"),
  look("seconds", "Time", "Mean active time of a run"),
  look("tokens", "Tokens", "Mean tokens of a run"),
  look(
    "tasks",
    "Variations",
    "Tasks and variations with scores; a task without parameters counts as one",
    true,
  ),
  look("runs", "Runs", "Number of runs", true),
  look("errors", "Errors", "Runs that failed; not counted as wrong", true),
];

interface StandingLook {
  word: string;
  sign: string;
}
/** In the order of the column. */
const STANDINGS: Record<Standing, StandingLook> = {
  best: { word: "best", sign: "★" },
  highest: { word: "highest", sign: "" },
  tied: { word: "not shown to differ", sign: "" },
  too_few: { word: "too few tasks to tell", sign: "" },
  behind: { word: "behind", sign: "↓" },
  open: { word: "undecided", sign: "?" },
  apart: { word: "no tasks in common", sign: "∅" },
  solution: { word: "not ranked", sign: "" },
};
const ORDER = Object.keys(STANDINGS);
const NOT_RANKED: StandingLook = { word: "not ranked", sign: "" };

/** `system/model`. */
export const nameOf = (row: LeaderboardRow): string => joinedName(row, "/");

/** The row that the others are compared with, if it is best or highest. */
export const referenceOf = (rows: readonly LeaderboardRow[]): LeaderboardRow | undefined =>
  rows.find((row) => row.is_reference);

/** `6 shared`, of the tasks and variations that the best or highest row has; empty where all are. */
export const sharedText = (row: LeaderboardRow): string =>
  row.shared_tasks === null || row.shared_tasks === row.tasks
    ? ""
    : `${count(row.shared_tasks)} shared`;

/** Words of the standing of a row. */
export const standingOf = ({ standing, score }: LeaderboardRow): StandingLook | null =>
  standing !== null ? STANDINGS[standing] : score === null ? null : NOT_RANKED;

const isRanked = ({ standing }: LeaderboardRow) => standing !== null && standing !== "solution";

/** Columns in which a row has a value. */
export const columnsOf = (rows: readonly LeaderboardRow[]): readonly ColumnLook[] =>
  BOARD_COLUMNS.filter(({ id }) =>
    id === "standing"
      ? rows.some((row) => isRanked(row) || row.on_front === true)
      : rows.some((row) => valueOf(row, id) !== null),
  );

function valueOf(row: LeaderboardRow, column: BoardColumn): number | string | null {
  switch (column) {
    case "name":
      return `${row.system ?? "\uffff"} ${row.model ?? "\uffff"}`;
    case "standing":
      return row.standing === null ? null : ORDER.indexOf(row.standing);
    case "tasks":
    case "runs":
    case "errors":
      return row[column];
    default:
      return row[column]?.value ?? null;
  }
}

/** Rows in order; unknown values come last in both directions, and equal ones stay in their order. */
export function sorted(
  rows: readonly LeaderboardRow[],
  { column, descending }: BoardSort,
): LeaderboardRow[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((left, right) => {
    const [a, b] = [valueOf(left, column), valueOf(right, column)];
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    return a === b ? 0 : sign * (a < b ? -1 : 1);
  });
}

/** Rows below one heading. Only those that share tasks are ordered by what was measured. */
export interface BoardGroup {
  title: string;
  rows: LeaderboardRow[];
  /** The order of the rows. */
  sort: BoardSort;
}

/** Columns that order rows without common tasks, too: they are no results. */
const COUNTED: readonly BoardColumn[] = ["name", "tasks", "runs", "errors"];
const BY_NAME: BoardSort = { column: "name", descending: false };

/** Rows in their groups. Those that are not known to be comparable are in the order of their names. */
export function grouped(rows: readonly LeaderboardRow[], sort: BoardSort): BoardGroup[] {
  const unlike = COUNTED.includes(sort.column) ? sort : BY_NAME;
  const rest = rows.some((row) => row.score !== null) ? unlike : sort;
  const first = rows.find((row) => row.is_reference);
  const beside = first === undefined ? "" : ` with ${joinedName(first, "/")}`;
  const group = (of: RowGroup, title: string, sort: BoardSort): BoardGroup => ({
    title,
    rows: sorted(
      rows.filter((row) => row.group === of),
      sort,
    ),
    sort,
  });
  const byName = unlike.column === "name" ? ": by name, not by score" : "";
  return [
    group("common", `Tasks in common${beside}`, sort),
    group("solution", "Reference solutions: not ranked", sort),
    group("apart", `No tasks in common${beside}${byName}`, unlike),
    group("uncompared", "Not compared with each other", unlike),
    group("unscored", "No scores", rest),
  ].filter((group) => group.rows.length > 0);
}

/** The order that the heads show: that of the first rows which have one. */
export const shownSort = (groups: readonly BoardGroup[]): BoardSort | undefined =>
  (groups.find(({ rows }) => rows.length > 1) ?? groups[0])?.sort;

/** The first rows of the groups, as many as fit. */
export function firstOf(groups: readonly BoardGroup[], most: number): BoardGroup[] {
  let left = most;
  return groups.flatMap((group) => {
    const rows = group.rows.slice(0, Math.max(0, left));
    left -= rows.length;
    return rows.length === 0 ? [] : [{ ...group, rows }];
  });
}

/** Explains the Pareto mark. `rows` is over how many tasks two systems are compared, least and most. */
export function aboutFront(by: FrontMeasure | null, rows: readonly number[] | null): string {
  if (by === null) return "";
  const [least = 0, most = 0] = rows ?? [];
  const over =
    least === most
      ? counted(most, "task or variation", "tasks and variations")
      : `${count(least)} to ${count(most)} tasks and variations`;
  const [noun, rest] =
    by === "cost" ? ["cost", ""] : ["time", " Time is taken because no cost is known."];
  return `◆ Pareto: on the ${over} that both have, no other has a mean score at least as high for at most the same mean ${noun}.${rest}`;
}

export const ABOUT_STANDING =
  "Not shown to differ: from the highest one, on the tasks and variations that both have. " +
  "Too few tasks: fewer than 6 tasks and variations in common with it. " +
  "Behind: shown to be worse. Undecided: the runs show neither.";

/** `0.8–0.9: 3 of 12 scores`. */
export const binText = (bin: number, runs: number, all: number): string =>
  `${fixed(bin / 10, 1)}–${fixed((bin + 1) / 10, 1)}: ${count(runs)} of ${counted(all, "score")}`;

/** Systems of a plot with the number of their mark. */
export function marksOf(
  plot: { points: readonly { row: number; shape: number }[] },
  rows: readonly LeaderboardRow[],
): { system: string; shape: number }[] {
  const found = new Map<string, number>();
  for (const { row, shape } of plot.points) {
    const system = rows[row]?.system ?? "no system";
    if (!found.has(system)) found.set(system, shape);
  }
  return [...found].map(([system, shape]) => ({ system, shape }));
}
