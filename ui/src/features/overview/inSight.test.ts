import { expect, it } from "vitest";
import { cell, row } from "../../testing/overview";
import { columnsInSight, nextShown } from "./inSight";

const cells = (marks: string) => [...marks].map((mark) => (mark === "x" ? cell() : null));
const shown = (rows: string[], cursor = -1) =>
  columnsInSight(
    rows.map((marks) => row("t", { cells: cells(marks) })),
    6,
    cursor,
  )
    ?.map((one) => (one ? "x" : "-"))
    .join("");

it("columns without a cell in the rows in sight are left out where most are empty", () => {
  expect(shown(["x-----", "x-x---"])).toBe("x-x---");
  expect(shown(["x-----", "x-xx-x"])).toBeUndefined();
  expect(columnsInSight([undefined], 6, -1)).toBeNull();
});

it("the column of the cursor stays", () => {
  expect(shown(["x-----"], 4)).toBe("x---x-");
});

it("the cursor steps over columns that are left out, and stays in the last one", () => {
  const some = [false, true, false, false, true, false];
  expect(nextShown(some, 1, 1)).toBe(4);
  expect(nextShown(some, 4, 1)).toBe(4);
  expect(nextShown(some, 4, -1)).toBe(1);
  expect(nextShown(some, 1, -1)).toBe(-1);
  expect(nextShown(null, 1, 1)).toBe(2);
});
