import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { byteLength, countLines, head, LONGEST_ROW, rowAt, Rows, type Row } from "./lines";

const cut = (pieces: string[]): Rows => {
  const rows = new Rows();
  pieces.forEach((piece, i) => rows.push(piece, i === pieces.length - 1));
  return rows;
};
const joined = (rows: readonly Row[]) =>
  rows.map((row, i) => (i > 0 && row.line > 0 ? "\n" : "") + row.text).join("");

describe("rows of a long text", () => {
  it("are its lines, numbered, wherever the pieces end", () => {
    expect(cut(["one\ntw", "o\r", "\n\nfour"]).rows).toEqual([
      { text: "one", line: 1, byte: 0 },
      { text: "two", line: 2, byte: 4 },
      { text: "", line: 3, byte: 9 },
      { text: "four", line: 4, byte: 10 },
    ]);
  });

  it("of a very long line go on without a number", () => {
    const rows = cut(["ä".repeat(LONGEST_ROW * 2 + 5) + "\nend"]).rows;
    expect(rows.map((row) => [row.text.length, row.line, row.byte])).toEqual([
      [1000, 1, 0],
      [1000, 0, 2000],
      [5, 0, 4000],
      [3, 2, 4011],
    ]);
  });

  it("of a very long line end with a word", () => {
    const rows = cut(["lorem ipsum ".repeat(300)]).rows;
    expect(rows.length).toBe(4);
    expect(rows.slice(0, 3).every((row) => /(?:lorem|ipsum) $/.test(row.text))).toBe(true);
  });

  it("joined are the text, and every row begins where it says", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "é", "漢", "😀", "\n", " ", "x".repeat(700)),
      maxLength: 60,
    });
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), (pieces) => {
        const whole = pieces.join("");
        const rows = cut(pieces).rows;
        expect(joined(rows)).toBe(whole.endsWith("\n") ? whole.slice(0, -1) : whole);
        const bytes = new TextEncoder().encode(whole);
        for (const row of rows)
          expect(
            new TextDecoder().decode(bytes.slice(row.byte, row.byte + byteLength(row.text))),
          ).toBe(row.text);
      }),
    );
  });

  it("hold one empty row for an empty text", () => expect(cut([""]).rows).toHaveLength(1));

  it("are found by byte", () => {
    const rows = cut(["aa\nbb\ncc"]).rows;
    expect([0, 2, 3, 7, 99].map((byte) => rowAt(rows, byte))).toEqual([0, 0, 1, 2, 2]);
  });

  it("take ten megabytes of one line in one go without trouble", () => {
    const from = performance.now();
    const rows = cut(Array.from({ length: 40 }, () => "x".repeat(262_144)));
    expect(rows.rows.length).toBeGreaterThan(10_000);
    expect(performance.now() - from).toBeLessThan(2_000);
  });
});

describe("measures of a text", () => {
  it.each([
    ["", 0],
    ["a", 1],
    ["a\n", 1],
    ["a\nb", 2],
    ["\n\n", 2],
  ])("%j has %d lines", (text, n) => expect(countLines(text)).toBe(n));
  it("its head is cut by lines and by characters, never inside a pair", () => {
    expect(head("a\nb\nc\nd", 2, 100)).toBe("a\nb");
    expect(head("a\nb", 25, 100)).toBe("a\nb");
    expect(head("abc😀def", 25, 4)).toBe("abc");
  });
  it("counts bytes as an encoder does", () =>
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(byteLength(text)).toBe(new TextEncoder().encode(text).length);
      }),
    ));
});
