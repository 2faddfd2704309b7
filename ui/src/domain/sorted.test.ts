import { describe, expect, it } from "vitest";
import { rowOf } from "./sorted";

describe("a position in a sorted list", () => {
  it.each([
    [0, 0],
    [1, 1],
    [5, 1],
    [7, 2],
    [99, 3],
    [-1, -1],
  ])("of step %d is %d", (index, row) => expect(rowOf([0, 1, 7, 8], index)).toBe(row));
});
