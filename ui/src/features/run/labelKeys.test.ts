import { expect, it } from "vitest";
import { labelByKey } from "./review.svelte";

it("a digit chooses the value of a category in its place, and 0 takes it away", () => {
  const values = ["low", "high", "low", "worst"];
  expect(["1", "2", "3", "0"].map((key) => labelByKey(key, values))).toEqual([
    "low",
    "high",
    "worst",
    "",
  ]);
  expect(["4", "l", "Enter"].map((key) => labelByKey(key, values))).toEqual(
    Array(3).fill(undefined),
  );
});

it("a digit that is a value chooses that value", () => {
  const values = ["0", "1", "2"];
  expect(["0", "1", "2", "3"].map((key) => labelByKey(key, values))).toEqual([
    "0",
    "1",
    "2",
    undefined,
  ]);
});
