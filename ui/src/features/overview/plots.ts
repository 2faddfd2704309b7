// Pure. Plots of the leaderboard: what is drawn in them, and the key of their numbers.
import { counted } from "../../domain/format";
import { labelScatters, widenScatter } from "../../domain/plots";
import type { Scatter } from "../../generated";
import { columnName } from "./cells";
import { comparable, type Board, type BoardRow } from "./leaderboard";

export interface MeasurePlot {
  measure: "cost" | "seconds";
  plot: Scatter;
}

/** The place of each comparable row on the leaderboard, from 1. */
const placesOf = (rows: readonly BoardRow[]): Map<number, number> =>
  new Map(comparable(rows).shared.map((row, place) => [rows.indexOf(row), place + 1]));

/** What the plots leave out because it is not comparable; empty if nothing is. */
export function leftOutOf(board: Board): string {
  const { apart, isNone } = comparable(board.rows);
  if (isNone)
    return "These systems are not compared with each other, so they are not drawn in one plot.";
  if (apart.length === 0) return "";
  return `${counted(apart.length, "system")} without tasks in common ${apart.length === 1 ? "is" : "are"} not drawn against the others.`;
}

/** The plots with labels, `room` wide each; without rows that are not comparable. */
export function plotsOf(board: Board, room: number): MeasurePlot[] {
  const places = placesOf(board.rows);
  const made = [
    { measure: "cost" as const, plot: board.cost_plot },
    { measure: "seconds" as const, plot: board.time_plot },
  ].flatMap(({ measure, plot }) => {
    const points = plot?.points.filter(({ row }) => places.has(row)) ?? [];
    return plot && points.length > 1 ? [{ measure, plot: { ...plot, points } }] : [];
  });
  const plots = labelScatters(
    made.map(({ plot }) => widenScatter(plot, room)),
    (at) => (board.rows[at] === undefined ? "" : columnName(board.rows[at])),
    (at) => places.get(at) ?? 0,
  );
  return made.flatMap(({ measure }, at) => (plots[at] ? [{ measure, plot: plots[at] }] : []));
}

/** The key of the numbers in plots; empty where these have names. */
export function keyOf(plots: readonly MeasurePlot[], rows: readonly BoardRow[]) {
  const places = placesOf(rows);
  const numbered = plots.filter(({ plot }) => plot.numbered);
  const used = new Set(numbered.flatMap(({ plot }) => plot.points.map(({ row }) => row)));
  return rows.flatMap((row, at) =>
    used.has(at) ? [{ number: places.get(at) ?? 0, name: columnName(row) }] : [],
  );
}
