import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  differs,
  labelColumn,
  lineDiffers,
  nameOf,
  placeOf,
  rightOf,
  SIGNS,
  signOf,
  widths,
  type DiffCell,
  type DiffKind,
  type DiffLine,
  type DiffRow,
} from "./diff";
import { beginning, Pages } from "./pages.svelte";
import { fromFirst, merged } from "./words";

const cell = (kind: DiffKind, left: string | null, right: string | null = null): DiffCell => ({
  kind,
  left,
  right,
  note: null,
});
const row = (change: Partial<DiffRow>): DiffRow => ({
  kind: "same",
  label: "1",
  from: 1,
  to: 1,
  moved: false,
  cells: [],
  ...change,
});
const line = (change: DiffKind, number = 1): DiffLine => ({
  kind: "pair",
  change,
  left: change === "extra" ? null : { number, pieces: [] },
  right: change === "missing" ? null : { number, pieces: [] },
});

describe("a row", () => {
  it.each([
    [row({}), "1"],
    [row({ from: 3, to: 5 }), "3 → 5"],
    [row({ from: 3, to: null }), "3 →"],
    [row({ from: null, to: 5 }), "→ 5"],
    [row({ from: null, to: null }), ""],
  ])("says where it stands on either side", (one, want) => expect(placeOf(one)).toBe(want));

  it("has a sign of its own for every way it can differ, with a word for each", () => {
    const kinds: DiffKind[] = ["alike", "changed", "missing", "extra"];
    expect(new Set([...kinds.map((kind) => SIGNS[kind].sign), "↕"]).size).toBe(kinds.length + 1);
    expect(signOf(row({ moved: true }))).toEqual({ sign: "↕", word: "moved" });
    expect(signOf(row({ kind: "changed", moved: true }))).toEqual({
      sign: "≠↕",
      word: "differs, moved",
    });
  });

  it("that is only written otherwise is no difference, one that moved is", () => {
    expect(
      [
        row({}),
        row({ kind: "alike" }),
        row({ moved: true }),
        row({ kind: "changed" }),
        row({ kind: "missing" }),
        row({ kind: "extra" }),
      ].map(differs),
    ).toEqual([false, false, true, true, true, true]);
  });

  it("is named by the column that says the same as its labels, and by none when no column always does", () => {
    const columns = [
      { name: "score", numeric: true },
      { name: "id", numeric: true },
    ];
    const rows = [
      row({ label: "7", cells: [cell("same", "1"), cell("same", "7")] }),
      row({
        label: "8",
        kind: "extra",
        cells: [cell("extra", null, "2"), cell("extra", null, "8")],
      }),
    ];
    expect(labelColumn(columns, rows)).toBe(1);
    expect(
      labelColumn(columns, [
        ...rows,
        row({ label: "#9", cells: [cell("same", "1"), cell("same", "9")] }),
      ]),
    ).toBe(1);
    expect(
      labelColumn(columns, [
        ...rows,
        row({ label: "row 9", cells: [cell("same", "1"), cell("same", "9")] }),
      ]),
    ).toBe(-1);
    expect([nameOf(row({ label: "#9" }), 1), nameOf(row({ label: "#9" }), -1)]).toEqual([
      "9",
      "#9",
    ]);
    expect(labelColumn(columns, [])).toBe(-1);
  });

  it("gives a changed cell room for both of its values", () => {
    const columns = [{ name: "a", numeric: true }];
    expect(widths(columns, [row({ cells: [cell("changed", "84.1", "81.9")] })])).toContain("11ch");
    expect(widths(columns, [row({ cells: [cell("same", "84.1")] })])).toContain("4ch");
  });

  it("shows the left value again where the right one is written the same, and nothing where there is none", () => {
    expect(
      [
        cell("same", "a"),
        cell("alike", "1", "1.0"),
        cell("missing", "a"),
        cell("absent", null),
      ].map(rightOf),
    ).toEqual(["a", "1.0", null, null]);
  });
});

describe("a list that is read in windows", () => {
  const numbers = (total: number) => {
    const asked: [number, number][] = [];
    const read = (offset: number, limit: number) => {
      asked.push([offset, limit]);
      return Promise.resolve(
        Array.from({ length: Math.min(limit, 150, total - offset) }, (_, i) => offset + i),
      );
    };
    return { asked, read };
  };

  it("reads a window once, however often it is wanted, and goes on when it gets less than it asked for", async () => {
    const { asked, read } = numbers(1000);
    const pages = new Pages(read, 1000);
    pages.want(3);
    pages.want(199);
    expect(pages.get(3)).toBeUndefined();
    expect(await pages.find(199, 1, () => true)).toBe(199);
    expect(pages.get(3)).toBe(3);
    expect(asked).toEqual([
      [0, 200],
      [150, 50],
    ]);
  });

  it("takes what was read already only in whole windows", async () => {
    const { asked, read } = numbers(230);
    const pages = new Pages(
      read,
      230,
      Array.from({ length: 210 }, (_, i) => i),
    );
    expect([pages.get(199), pages.get(200)]).toEqual([199, undefined]);
    expect(await pages.find(229, -1, (n) => n < 201)).toBe(200);
    expect(asked).toEqual([[200, 30]]);
    expect(new Pages(read, 3, [0, 1, 2]).get(2)).toBe(2);
  });

  it("holds a bounded number of windows, and always the first", async () => {
    const { read } = numbers(100_000);
    const pages = new Pages(read, 100_000);
    expect(await pages.find(0, 1, (n) => n === 99_999)).toBe(99_999);
    expect(pages.get(99_999)).toBe(99_999);
    expect(pages.get(0)).toBe(0);
    expect(
      Array.from({ length: 500 }, (_, page) => pages.get(page * 200)).filter((n) => n !== undefined)
        .length,
    ).toBeLessThanOrEqual(40);
  });

  it("says what went wrong, finds nothing, and tries again when it is wanted again", async () => {
    let broken = true;
    const pages = new Pages<number>(
      () => (broken ? Promise.reject(new Error("gone")) : Promise.resolve([1])),
      1,
    );
    expect(await pages.find(0, 1, () => true)).toBeNull();
    expect(pages.error).toBe("gone");
    broken = false;
    expect(await pages.find(0, 1, () => true)).toBe(0);
    expect(pages.error).toBe("");
  });
});

describe("the next difference among lines", () => {
  const of = (word: string) => {
    const kinds: Record<string, DiffLine> = {
      ".": line("same"),
      "~": line("alike"),
      x: line("changed"),
      "-": line("missing"),
      "+": line("extra"),
      f: { kind: "folded", count: 9 },
    };
    const lines = [...word].map((letter) => kinds[letter]!);
    return new Pages<DiffLine>(
      (offset, limit) => Promise.resolve(lines.slice(offset, offset + limit)),
      lines.length,
    );
  };
  const walk = async (word: string, by: 1 | -1) => {
    const lines = of(word);
    const seen: number[] = [];
    for (let at: number | null = -1; (at = await beginning(lines, at, by)) !== null;) seen.push(at);
    return seen;
  };

  it.each([
    ["..xx.-+f.x", [2, 5, 9]],
    ["xx", [0]],
    ["~~..", []],
    ["", []],
    ["x.x.", [0, 2]],
  ])("of %s begins where a stretch of them does, from either end", async (word, want) => {
    expect(await walk(word, 1)).toEqual(want);
    expect(await walk(word, -1)).toEqual([...want].reverse());
  });

  it("is no line that is only written otherwise, and none that is folded", () =>
    expect(
      [line("alike"), line("same"), { kind: "folded", count: 2 } as const].map(lineDiffers),
    ).toEqual([false, false, false]));
});

describe("two short texts", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", " ", ", ", "é", "漢"), { maxLength: 14 })
    .map((parts) => parts.join(""));
  it("become one, of which either can be taken back", () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        const pieces = merged(left, right);
        const side = (without: string) =>
          pieces
            .filter((piece) => piece.change !== without)
            .map((piece) => piece.text)
            .join("");
        expect([side("extra"), side("missing")]).toEqual([left, right]);
        expect(pieces.every((piece) => piece.change === "same")).toBe(left === right);
      }),
    );
  });
  it("differ by words and not by letters", () =>
    expect(
      merged("the console is away", "the portal is away").map(
        (piece) => `${SIGNS[piece.change].sign}${piece.text}`,
      ),
    ).toEqual(["the ", "−console", "+portal", " is away"]));
  it("of great length are told apart by their ends", () => {
    const long = (word: string) => `begin ${`${word} `.repeat(900)}end`;
    expect(merged(long("a"), long("b")).map((piece) => piece.change)).toEqual([
      "same",
      "missing",
      "extra",
      "same",
    ]);
  });
  it("are shown from shortly before where they differ, when there is no room", () => {
    expect(
      fromFirst(
        merged(
          "a long beginning that is the same, then this",
          "a long beginning that is the same, then that",
        ),
      ).map((piece) => piece.text),
    ).toEqual(["…is the same, then ", "this", "that"]);
    expect(fromFirst(merged("x a", "x b")).map((piece) => piece.text)).toEqual(["x ", "a", "b"]);
  });
});
