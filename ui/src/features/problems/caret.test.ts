import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { caret } from "./caret";

describe("a caret", () => {
  it.each([
    ["  key: x", 3, "  key: x", "  "],
    ["\tkey", 2, "\tkey", "\t"],
    ["key", 9, "key", "   "],
    ["key", null, "key", null],
    ["", 1, "", ""],
    ["line\r\n", 1, "line", ""],
  ])("in %j at %s", (line, column, text, pad) =>
    expect(caret(line, column)).toEqual({ text, pad }),
  );
  it("stands under its letter also when the line is long", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), (column) => {
        const line = Array.from({ length: 5_000 }, (_, at) =>
          String.fromCodePoint(0x4e00 + at),
        ).join("");
        const { text, pad } = caret(line, column);
        expect([...text][pad!.length]).toBe([...line][column - 1]);
        expect([...text].length).toBeLessThan(170);
      }),
    );
  });
});
