import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutlineMark } from "../../generated";
import { describeMark, markOf, measures, pathOf, placed, stepAt, topOf } from "./minimap";

const mark = (step: number, change: Partial<OutlineMark> = {}): OutlineMark => ({
  step,
  steps: 1,
  kind: "tool_call",
  title: null,
  failures: 0,
  nested: false,
  seconds: null,
  tokens: null,
  ...change,
});

describe("a mark", () => {
  it("grows with the root of its tokens, and stays wide enough for a press", () => {
    const all = placed(
      [mark(0), mark(1, { tokens: 900 }), mark(2, { tokens: 100 })],
      "tokens",
      418,
    );
    expect(all.map(({ top, height }) => [top, height])).toEqual([
      [0, 6],
      [6, 306],
      [312, 106],
    ]);
  });
  it("fills the strip with all others, however many there are", () =>
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.nat(1e6)), { minLength: 1, maxLength: 900 }),
        fc.integer({ min: 20, max: 1200 }),
        (tokens, height) => {
          const marks = tokens.map((tokens, step) => mark(step, { tokens }));
          const all = placed(marks, "tokens", height);
          const last = all.at(-1);
          expect((last?.top ?? 0) + (last?.height ?? 0)).toBeCloseTo(height, 3);
          expect(all.every((one) => one.height > 0)).toBe(true);
        },
      ),
    ));
  it("leads to its step, and a step to its mark", () =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 300 }),
        fc.nat(),
        (sizes, pick) => {
          let next = 0;
          const marks = sizes.map((steps) => mark((next += steps) - steps, { steps }));
          const all = placed(marks, "steps", 700);
          const step = pick % next;
          const one = all[markOf(all, step)]?.mark ?? mark(-1);
          expect(step >= one.step && step < one.step + one.steps).toBe(true);
          expect(stepAt(all, topOf(all, step) + 0.001, [])).toBe(step);
        },
      ),
    ));
  it("of many steps leads to the failure that it holds", () => {
    const all = placed(
      [mark(0, { steps: 50 }), mark(50, { steps: 50, failures: 1 })],
      "steps",
      100,
    );
    expect(stepAt(all, 60, [77, 140])).toBe(77);
    expect(stepAt(all, 10, [77])).toBeLessThan(50);
  });
  it("that failed is wider, so that it differs by shape", () => {
    const all = placed([mark(0), mark(1, { failures: 1 })], "steps", 20);
    expect(pathOf(all, "tool", 10)).toBe("M3 0.00H10v9.00H3Z");
    expect(pathOf(all, "failed", 10)).toBe("M0 10.00H10v9.00H0Z");
  });
  it.each([
    [mark(0, { kind: "user" }), "Step 1 · user"],
    [
      mark(11, { title: "query", failures: 1, tokens: 1412, seconds: 3.1 }),
      "Step 12 · query · failed · 1,412 tokens · 3.1 s",
    ],
    [mark(100, { steps: 50, failures: 2, title: "query" }), "Steps 101–150 · 2 failures: query"],
  ])("is described in a line", (one, words) => expect(describeMark(one)).toBe(words));
});

it("only what is known can be shown", () => {
  expect(measures([mark(0), mark(1)])).toEqual(["steps"]);
  expect(measures([mark(0, { seconds: 1 })])).toEqual(["steps", "time"]);
  expect(measures([mark(0, { seconds: 1, tokens: 5 })])).toEqual(["tokens", "steps", "time"]);
});
