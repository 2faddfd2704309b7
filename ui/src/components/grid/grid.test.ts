import { describe, expect, it } from "vitest";
import { FILE_ORDER, nextOrder, cellText, template, type GridOrder } from "./grid";

describe("a result table", () => {
  it("sorts numbers largest first and words from the start, then the other way, then as in the file", () => {
    const presses = (numeric: boolean) =>
      [1, 2, 3].reduce<GridOrder[]>(
        (seen) => [...seen, nextOrder(seen.at(-1) ?? FILE_ORDER, 0, numeric)],
        [],
      );
    expect(presses(true)).toEqual([
      { column: 0, descending: true },
      { column: 0, descending: false },
      FILE_ORDER,
    ]);
    expect(presses(false)).toEqual([
      { column: 0, descending: false },
      { column: 0, descending: true },
      FILE_ORDER,
    ]);
  });
  it("begins anew with another column", () =>
    expect(nextOrder({ column: 0, descending: true }, 2, false)).toEqual({
      column: 2,
      descending: false,
    }));
  it("tells nothing, null and empty text apart", () =>
    expect(
      [
        undefined,
        { text: "", kind: "null" as const },
        { text: "", kind: "text" as const },
        { text: "0", kind: "number" as const },
      ].map((cell) => cellText(cell)),
    ).toEqual([
      { text: "—", nothing: true },
      { text: "null", nothing: true },
      { text: "“”", nothing: true },
      { text: "0", nothing: false },
    ]));
  it("gives long columns a bounded share", () =>
    expect(
      template(
        [
          { name: "id", numeric: true },
          { name: "text", numeric: false },
        ],
        [
          [
            { text: "7", kind: "number" },
            { text: "x".repeat(500), kind: "text" },
          ],
        ],
      ),
    ).toBe(
      "minmax(calc(3ch + 2 * var(--cell, 8px)), calc(7ch + 2 * var(--cell, 8px))) minmax(22ch, 132fr)",
    ));
  it("does not stretch short columns over the page", () =>
    expect(template([{ name: "id", numeric: true }], [])).toBe(
      "minmax(calc(3ch + 2 * var(--cell, 8px)), calc(7ch + 2 * var(--cell, 8px))) 1fr",
    ));
});
