import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scatter, ScatterPoint, TrendPlot } from "../generated";
import { widenScatter, widenTrend } from "./plots";

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
  it("keeps short names that have no room, and shows whole ones where they have", () => {
    // One whole name has room beside the short one, two have not.
    expect(labels(widenScatter(plot, names, 420))).toEqual(["too…a", "too…b"]);
    expect(labels(widenScatter(plot, names, 900))).toEqual([names(0), names(1)]);
  });
  it("lets no label meet another one that it did not meet before", () => {
    const place = fc.record({
      x: fc.integer({ min: 44, max: 406 }),
      right: fc.integer({ min: -60, max: 60 }),
      y: fc.integer({ min: 30, max: 250 }),
      down: fc.integer({ min: -40, max: 40 }),
    });
    const meet = ({ points }: Scatter) =>
      points.flatMap(({ label: one }, at) =>
        points
          .slice(0, at)
          .filter(
            ({ label: other }) =>
              one !== null &&
              other !== null &&
              Math.abs(one.y - other.y) < 13.9 &&
              one.x < other.x + other.text.length * 6.7 - 0.1 &&
              other.x < one.x + one.text.length * 6.7 - 0.1,
          ),
      ).length;
    fc.assert(
      fc.property(
        fc.array(place, { maxLength: 5 }),
        fc.integer({ min: 300, max: 1200 }),
        (places, room) => {
          const points = places.map(({ x, right, y, down }, row) => ({
            ...point(row, x, `n…${row}`, x + right),
            y,
            label: { text: `n…${row}`, x: x + right, y: y + down, line: null },
          }));
          const some = { ...plot, points };
          fc.pre(meet(some) === 0);
          expect(meet(widenScatter(some, (row) => `a long name ${row}`, room))).toBe(0);
        },
      ),
    );
  });
  it("moves positions apart, and labels with their points", () => {
    const wide = widenScatter(plot, names, 782);
    expect(wide.width).toBeCloseTo(782);
    expect([wide.points[1]?.x, wide.x_ticks[0]?.at]).toEqual([406, 406]);
    expect(wide.points[1]?.x_range).toEqual([386, 426]);
    expect(wide.points[0]?.label?.x).toBe(76 + 9);
    expect(wide.y_ticks[0]?.at).toBe(wide.bottom);
  });
});
