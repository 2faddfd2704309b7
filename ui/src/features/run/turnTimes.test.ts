import { expect, it } from "vitest";
import { bars, formatTotals } from "./turnTimes";

const TURNS = [
  { turn: 2, step: 1, model: 3, tools: 1 },
  { turn: 3, step: 4, model: 2, tools: null },
  { turn: 5, step: 9, model: null, tools: 0.04 },
];

it("the longest turn fills its bar, and the others are as long beside it", () => {
  expect(bars(TURNS).map((bar) => [bar.model, bar.tools, bar.took])).toEqual([
    [75, 25, "4.0 s"],
    [50, 0, "2.0 s"],
    [0, 1, "40 ms"],
  ]);
});

it("what the file does not tell is said, and never is nought", () => {
  expect(bars(TURNS).map((bar) => bar.says)).toEqual([
    "Step 2, turn 2: model 3.0 s, tools 1.0 s",
    "Step 5, turn 3: model 2.0 s, tools unknown",
    "Step 10, turn 5: model unknown, tools 40 ms",
  ]);
  expect(formatTotals(TURNS)).toBe("model 5.0 s, tools 1.0 s");
  expect(formatTotals(TURNS.slice(1, 2))).toBe("model 2.0 s");
});

it("turns that took no time at all have bars of no length", () => {
  expect(bars([{ turn: 1, step: 0, model: 0, tools: 0 }])).toEqual([
    { step: 0, model: 0, tools: 0, took: "0 ms", says: "Step 1, turn 1: model 0 ms, tools 0 ms" },
  ]);
});
