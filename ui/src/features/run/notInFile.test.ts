import { expect, it } from "vitest";
import type { OutlineMark, Pace } from "../../generated";
import { notInFile } from "./notInFile";

const mark = (seconds: number | null, tokens: number | null): OutlineMark => ({
  step: 0,
  steps: 1,
  kind: "assistant",
  title: null,
  failures: 0,
  nested: false,
  seconds,
  tokens,
});
const view = (seconds: number | null, tokens: number | null, cost: number | null) => ({
  row: { seconds, tokens, cost },
  pace: null as Pace | null,
  total_steps: 2,
});

it("says once what a file lacks, and whether it lacks it only for the steps", () => {
  expect(notInFile(view(1, 2, 3), [mark(null, null)])).toBe("times per step, tokens per step");
  expect(notInFile(view(null, 2, null), [mark(null, 4)])).toBe("cost, times");
  expect(notInFile(view(1, 2, 3), [mark(null, null), mark(0, 1)])).toBe("");
  expect(notInFile({ ...view(1, null, 3), pace: { turns: [], more: 0 } }, [mark(null, null)])).toBe(
    "tokens",
  );
  expect(notInFile(view(null, null, null), [])).toBe("");
});
