// Pure. Plots of the leaderboard: what is drawn in them, and the key of their numbers.
import { labelScatters, widenScatter } from "../../domain/plots";
import type { Scatter } from "../../generated";
import { columnName } from "./cells";
import type { Board, BoardRow } from "./leaderboard";

export interface MeasurePlot {
  measure: "cost" | "seconds";
  plot: Scatter;
}

/** The plots with labels, `room` wide each. */
export function plotsOf(board: Board, room: number): MeasurePlot[] {
  const made = [
    { measure: "cost" as const, plot: board.cost_plot },
    { measure: "seconds" as const, plot: board.time_plot },
  ].flatMap(({ measure, plot }) => (plot ? [{ measure, plot }] : []));
  const plots = labelScatters(
    made.map(({ plot }) => widenScatter(plot, room)),
    (at) => (board.rows[at] === undefined ? "" : columnName(board.rows[at])),
    (at) => at + 1,
  );
  return made.flatMap(({ measure }, at) => (plots[at] ? [{ measure, plot: plots[at] }] : []));
}

/** The key of the numbers in plots; empty where these have names. */
export function keyOf(plots: readonly MeasurePlot[], rows: readonly BoardRow[]) {
  const numbered = plots.filter(({ plot }) => plot.numbered);
  const used = new Set(numbered.flatMap(({ plot }) => plot.points.map(({ row }) => row)));
  return rows.flatMap((row, at) =>
    used.has(at) ? [{ number: at + 1, name: columnName(row) }] : [],
  );
}
