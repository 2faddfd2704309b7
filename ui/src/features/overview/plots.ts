// Pure. Plots of the leaderboard: what is drawn in them, and the key of their numbers.
import { labelScatters, widenScatter } from "../../domain/plots";
import type { Scatter } from "../../generated";
import { columnName } from "./cells";
import { isApart, type Board, type BoardRow } from "./leaderboard";

export interface MeasurePlot {
  measure: "cost" | "seconds";
  plot: Scatter;
}

/** The place of each comparable row on the leaderboard, from 1. */
const placesOf = (rows: readonly BoardRow[]): Map<number, number> =>
  new Map(
    rows
      .map((row, at) => ({ row, at }))
      .filter(({ row }) => !isApart(row))
      .map(({ at }, place) => [at, place + 1]),
  );

/** The plots with labels, `room` wide each; without rows that share no tasks with the others. */
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
