// Pure. Columns, order and words of the leaderboard.
import { count, counted, fixed } from "../../domain/format";
import { visibleLine } from "../../components/visible/visible";
import { joinedName } from "./cells";
import type { FrontMeasure, Leaderboard, LeaderboardRow, Standing } from "../../generated";

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

const ORDER: Record<Standing, number> = { best: 0, tied: 1, behind: 2, open: 3, apart: 4 };
interface StandingLook {
  word: string;
  sign: string;
}
const STANDINGS: Record<Standing, StandingLook> = {
  best: { word: "best", sign: "★" },
  tied: { word: "not shown to differ", sign: "" },
  behind: { word: "behind", sign: "↓" },
  open: { word: "undecided", sign: "?" },
  apart: { word: "no tasks in common", sign: "∅" },
};

const HIGHEST: StandingLook = { word: "highest", sign: "" };
const TOO_FEW: StandingLook = { word: "too few tasks to tell", sign: "" };
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

/**
 * The comparison that the standing of a row rests on, in the words of its standing, or why the row
 * is not ranked. `isCompared` is false where no two rows are compared.
 */
export function whyText(row: LeaderboardRow, isCompared = true): string {
  const why = row.why ?? "";
  if (row.has_too_few)
    return visibleLine(why.replace(/^Not shown to differ from/u, "Too few tasks to tell it from"));
  if (row.standing !== null || row.score === null) return visibleLine(why);
  if (row.system === "oracle" && row.model === null)
    return "It is the reference solution of the tasks.";
  if (!isCompared) return "It is not compared with another system.";
  if (row.tasks === 0 || row.shared_tasks === 0)
    return "It has no tasks in common with the others.";
  return "There are too many systems to rank all of them.";
}

/** Words of the standing of a row; the one that others are compared with is best or highest. */
export function standingOf(row: LeaderboardRow): StandingLook | null {
  if (row.is_reference && row.standing !== "best") return HIGHEST;
  if (row.has_too_few) return TOO_FEW;
  if (row.standing !== null) return STANDINGS[row.standing];
  return row.score === null ? null : NOT_RANKED;
}

/** Columns in which a row has a value. */
export const columnsOf = (rows: readonly LeaderboardRow[]): readonly ColumnLook[] =>
  BOARD_COLUMNS.filter(({ id }) =>
    id === "standing"
      ? rows.some((row) => row.standing !== null || row.on_front === true)
      : rows.some((row) => valueOf(row, id) !== null),
  );

function valueOf(row: LeaderboardRow, column: BoardColumn): number | string | null {
  switch (column) {
    case "name":
      return `${row.system ?? "\uffff"} ${row.model ?? "\uffff"}`;
    case "standing":
      return row.standing === null ? null : ORDER[row.standing];
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

/**
 * The rows with scores that are comparable with those of the best or highest row, and the others,
 * which are not known to be comparable with anything: all of them if no two rows are compared.
 */
export function comparable(rows: readonly LeaderboardRow[]) {
  const scored = rows.filter((row) => row.score !== null);
  const isNone = scored.length > 1 && scored.every((row) => row.standing === null);
  const isApart = ({ standing, shared_tasks }: LeaderboardRow) =>
    isNone || standing === "apart" || shared_tasks === 0;
  return { shared: scored.filter((row) => !isApart(row)), apart: scored.filter(isApart), isNone };
}

export const NOT_COMPARED = "Not compared with each other";
/** Columns that order rows without common tasks, too: they are no results. */
const COUNTED: readonly BoardColumn[] = ["name", "tasks", "runs", "errors"];
const BY_NAME: BoardSort = { column: "name", descending: false };

/**
 * Rows in order, those that share tasks with the best or highest one first. The others are not
 * comparable with these, nor known to be with each other, and are in the order of their names.
 */
export function grouped(rows: readonly LeaderboardRow[], sort: BoardSort): BoardGroup[] {
  const apart = COUNTED.includes(sort.column) ? sort : BY_NAME;
  const { shared, apart: others, isNone } = comparable(rows);
  if (isNone) return [{ title: NOT_COMPARED, rows: sorted(rows, apart), sort: apart }];
  const without = rows.filter((row) => row.score === null);
  const rest = shared.length + others.length === 0 ? sort : apart;
  const first = referenceOf(rows);
  const beside = first === undefined ? "" : ` with ${nameOf(first)}`;
  return [
    { title: `Tasks in common${beside}`, rows: sorted(shared, sort), sort },
    {
      title: `No tasks in common${beside}${apart.column === "name" ? ": by name, not by score" : ""}`,
      rows: sorted(others, apart),
      sort: apart,
    },
    { title: "No scores", rows: sorted(without, rest), sort: rest },
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
  "Not shown to differ: from the highest one, on the tasks and variations that both have. Too few tasks: fewer than 6 tasks and variations in common with it. " +
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
