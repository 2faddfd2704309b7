import { expect, it } from "vitest";
import { intervalsText } from "./intervals";

it("says how intervals are made, and why that of a system with equal scores is wide", () => {
  expect(intervalsText([null])).toBe("");
  expect(intervalsText(["wilson", null])).toBe(
    "95 % intervals: Wilson's, where all scores are 0 or 1: wide also if all runs pass or all fail",
  );
  expect(intervalsText(["student"])).toBe("95 % intervals: Student's t over tasks");
  expect(intervalsText(["wilson", "bootstrap"])).toMatch(/; else by drawing tasks$/);
});
