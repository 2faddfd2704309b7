import { expect, it } from "vitest";
import { leader, leaderboard } from "../../testing/overview";
import type { Leaderboard, LeaderboardRow } from "../../generated";
import { leftOutOf, plotsOf } from "./plots";

const plot = (rows: number): Leaderboard["cost_plot"] => ({
  width: 440,
  height: 300,
  left: 44,
  right: 426,
  top: 12,
  bottom: 256,
  title: "Mean cost of a run",
  x_ticks: [],
  y_ticks: [],
  points: Array.from({ length: rows }, (_, row) => ({
    row,
    x: 100 + 40 * row,
    y: 80,
    x_range: null,
    x_cut: false,
    y_range: null,
    shape: 0,
    on_front: false,
    label: null,
  })),
  numbered: false,
  left_out: 0,
});
const drawn = (rows: LeaderboardRow[]) => {
  const board = leaderboard(rows, { cost_plot: plot(rows.length) });
  const points = plotsOf(board, 440).map((one) => one.plot.points.map(({ row }) => row));
  return [points, leftOutOf(board)];
};

it("a plot draws what the leaderboard compares, and says what it leaves out", () => {
  const rows = [
    leader("a", "m", 0.9, 1, { standing: "best", shared_tasks: null }),
    leader("b", "m", 0.5, 2, { standing: "behind" }),
  ];
  const apart = leader("c", "m", 1, 3, { standing: "apart", shared_tasks: 0 });
  expect(drawn(rows)).toEqual([[[0, 1]], ""]);
  expect(drawn([...rows, apart])).toEqual([
    [[0, 1]],
    "1 system without tasks in common is not drawn against the others.",
  ]);
});

it("a plot draws no systems against each other of which no two are compared, and says so", () => {
  const alone = { standing: null, why: null, shared_tasks: null };
  const rows = ["a", "b"].map((system) => leader(system, "m", 0.5, 1, alone));
  expect(drawn(rows)).toEqual([
    [],
    "These systems are not compared with each other, so they are not drawn in one plot.",
  ]);
});
