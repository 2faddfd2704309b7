import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTree, unquote, type Node } from "./parse";
import { openAtFirst, summary, treeRows } from "./rows";

const parse = (text: string): Node => {
  const node = parseTree(text);
  if (!node) throw new Error(`not read: ${text}`);
  return node;
};
const plain = (node: Node): unknown =>
  node.kind === "leaf"
    ? JSON.parse(node.raw)
    : node.kind === "list"
      ? node.items.map(plain)
      : Object.fromEntries(node.keys.map((key, i) => [key, plain(node.items[i]!)]));

describe("the tree of a JSON text", () => {
  it.each([
    "9007199254740993",
    "1.10",
    "-0",
    "1e400",
    "0.1000000000000000055511151231257827",
    "123456789012345678901234567890",
  ])("keeps the number %s exactly as it is written", (raw) =>
    expect(parse(`[${raw}]`)).toEqual({
      kind: "list",
      items: [{ kind: "leaf", leaf: "number", raw }],
    }),
  );

  it.each([
    "",
    "{",
    "[1,]",
    '{"a":1,}',
    "[1 2]",
    "{a:1}",
    "01",
    "1.",
    "nul",
    "[1]]",
    '"a\nb"',
    "'a'",
    '{"a"}',
    "[,1]",
    "1 2",
    "NaN",
    "{1:2}",
    "[:]",
  ])("is nothing for %j", (text) => expect(parseTree(text)).toBeUndefined());

  it("says the same as the built-in reader", () => {
    fc.assert(
      fc.property(
        fc.json({ noUnicodeString: false }),
        fc.constantFrom(undefined, 2),
        (json, indent) => {
          const value: unknown = JSON.parse(json);
          if (json.includes("__proto__")) return;
          expect(plain(parse(JSON.stringify(value, null, indent)))).toEqual(value);
        },
      ),
    );
  });

  it("refuses what the built-in reader refuses", () => {
    const bit = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"a"',
      "1",
      "-1.5e2",
      "true",
      " ",
      "\n",
    );
    const reads = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 12 }), (bits) => {
        expect(parseTree(bits.join("")) !== undefined).toBe(reads(bits.join("")));
      }),
      { numRuns: 2000 },
    );
  });

  it("keeps doubled keys, both of them", () =>
    expect(parse('{"a":1,"a":2}')).toMatchObject({
      keys: ["a", "a"],
      items: [{ raw: "1" }, { raw: "2" }],
    }));

  it("is read at any depth", () =>
    expect(
      treeRows(parse("[".repeat(100_000) + "]".repeat(100_000)), new Set(["", "0"]), new Map()),
    ).toHaveLength(3));

  it("decodes strings", () => expect(unquote('"a\\u00e9\\n"')).toBe("aé\n"));
});

describe("the rows of a tree", () => {
  const rows = (text: string, open: string[], shown = new Map<string, number>()) =>
    treeRows(parse(text), new Set(open), shown).map(
      (row) => `${" ".repeat(row.depth)}${row.name}${row.more ? `+${row.more}` : ""}`,
    );

  it("show what is open, in order", () =>
    expect(rows('{"a":[1,{"b":2}],"c":3}', ["", "0", "0.1"])).toEqual([
      "",
      " a",
      "  0",
      "  1",
      "   b",
      " c",
    ]));
  it("hide what is below something closed", () =>
    expect(rows('{"a":[1,{"b":2}],"c":3}', ["", "0.1"])).toEqual(["", " a", " c"]));
  it("stop after a hundred children and say how many more", () =>
    expect(rows(JSON.stringify(Array.from({ length: 250 }, () => 0)), [""]).at(-1)).toBe(" +150"));
  it("show more when asked", () =>
    expect(rows(JSON.stringify([1, 2, 3]), [""], new Map([["", 2]]))).toEqual([
      "",
      " 0",
      " 1",
      " +1",
    ]));

  it("open by themselves as far as the budget goes", () => {
    const small = parse('{"a":{"b":{"c":1}}}');
    expect([...openAtFirst(small, 25)]).toEqual(["", "0", "0.0"]);
    const wide = parse(JSON.stringify(Array.from({ length: 20 }, () => ({ a: 1, b: 2 }))));
    expect([...openAtFirst(wide, 25)]).toEqual([""]);
  });

  it("a closed branch says what it begins with", () =>
    expect([
      summary(parse('{"id":1,"tags":["x"],"who":{"a":1}}')),
      summary(parse("[]")),
      summary(parse("[1,2,3,4,5,6,7]"), 6),
    ]).toEqual(["{id: 1, tags: […], who: {…}}", "[]", "[1, 2, …]"]));
});
