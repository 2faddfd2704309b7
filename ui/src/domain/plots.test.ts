import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scatter, ScatterPoint, TrendPlot } from "../generated";
import { labelScatters, widenScatter, widenTrend } from "./plots";

describe("a plot of trends", () => {
  const plot: TrendPlot = {
    measure: "score",
    width: 860,
    height: 300,
    left: 60,
    right: 710,
    top: 12,
    bottom: 250,
    title: "Mean score",
    x_ticks: [{ at: 385, label: "day" }],
    y_ticks: [{ at: 100, label: "0.5" }],
    lines: [
      {
        group: 0,
        look: 0,
        label: "too…ini",
        label_y: 40,
        dots: [{ point: 0, x: 385, y: 90, range: [80, 100] }],
      },
    ],
    left_out: 0,
  };
  const name = () => "tool_calling_python/o3-mini";
  it("stays as the engine made it without more room", () => {
    expect(widenTrend(plot, name, 860)).toBe(plot);
  });
  it("grows to its room, with whole names beside it", () => {
    const wide = widenTrend(plot, name, 1200);
    expect(wide.width).toBeCloseTo(1200);
    expect(wide.lines[0]?.label).toBe(name());
    expect(wide.lines[0]?.dots[0]?.x).toBe(wide.x_ticks[0]?.at);
    expect(wide.lines[0]?.dots[0]?.range).toEqual([80, 100]);
  });
});

describe("a plot against the score", () => {
  const point = (row: number, x: number, label: string, at: number): ScatterPoint => ({
    row,
    x,
    y: 100,
    x_range: [x - 10, x + 10],
    x_cut: false,
    y_range: null,
    shape: 0,
    on_front: false,
    label: { text: label, x: at, y: 104, line: null },
  });
  const plot: Scatter = {
    width: 420,
    height: 300,
    left: 44,
    right: 406,
    top: 12,
    bottom: 256,
    title: "Cost",
    x_ticks: [{ at: 225, label: "$1" }],
    y_ticks: [{ at: 256, label: "0.0" }],
    points: [point(0, 60, "too…a", 69), point(1, 225, "too…b", 180)],
    numbered: false,
    left_out: 0,
  };
  const names = (row: number) => ["tool_calling_python · a", "tool_calling_python · b"][row] ?? "";
  const labels = ({ points }: Scatter) => points.map(({ label }) => label?.text);
  const label = (plots: Scatter[], nameOf = names) =>
    labelScatters(plots, nameOf, (row) => row + 1);
  it("has names where each has room beside its point in all plots, else numbers in all", () => {
    const wide = widenScatter(plot, 900);
    expect(label([wide]).map(labels)).toEqual([[names(0), names(1)]]);
    const heap = wide.points.map((one) => ({ ...one, x: 100 }));
    const both = label([wide, { ...wide, right: 150, width: 160, points: heap }]);
    expect(both.map(({ numbered }) => numbered)).toEqual([true, true]);
    expect(both.map(labels)).toEqual([
      ["1", "2"],
      ["1", "2"],
    ]);
  });
  it("has each label near its point, and over no other label or mark", () => {
    const place = fc.record({
      x: fc.integer({ min: 44, max: 406 }),
      y: fc.integer({ min: 12, max: 256 }),
    });
    fc.assert(
      fc.property(
        fc.array(place, { maxLength: 40 }),
        fc.integer({ min: 300, max: 1200 }),
        (places, room) => {
          const points = places.map((at, row) => ({ ...point(row, at.x, "", 0), ...at }));
          const made = widenScatter({ ...plot, points }, room);
          const [all] = label([made], (row) => `name ${row}`);
          const boxes = all!.points.flatMap(({ label: one, x, y }) =>
            one === null ? [] : [{ ...one, right: one.x + one.text.length * 6.7, from: { x, y } }],
          );
          for (const { x, right, y, from } of boxes) {
            expect(Math.max(x - from.x, from.x - right, Math.abs(y - from.y))).toBeLessThan(20);
            const covered = boxes.filter(
              (other) => Math.abs(other.y - y) < 13.9 && x < other.right && other.x < right,
            );
            expect(covered.length).toBe(1);
          }
        },
      ),
    );
  });
  it("moves positions apart", () => {
    const wide = widenScatter(plot, 782);
    expect(wide.width).toBeCloseTo(782);
    expect([wide.points[1]?.x, wide.x_ticks[0]?.at]).toEqual([406, 406]);
    expect(wide.points[1]?.x_range).toEqual([386, 426]);
    expect(wide.y_ticks[0]?.at).toBe(wide.bottom);
  });
});
