import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fenceLanguage, tokens, type CodeLanguage } from "./tokens";

const LANGUAGES: CodeLanguage[] = ["plain", "sql", "python", "json", "yaml"];
const coloured = (text: string, language: CodeLanguage) =>
  tokens(text, language)
    .filter((token) => token.kind)
    .map((token) => `${token.kind}:${token.text}`);

describe("tokens", () => {
  it.each([
    [
      "sql" as const,
      "SELECT count(*) FROM t WHERE a = 'it''s' -- why\nLIMIT 30",
      [
        "keyword:SELECT",
        "name:count",
        "keyword:FROM",
        "keyword:WHERE",
        "string:'it''s'",
        "comment:-- why",
        "keyword:LIMIT",
        "number:30",
      ],
    ],
    [
      "sql" as const,
      'select "order", $$a\'b$$, a1 is NULL /* open',
      [
        "keyword:select",
        'name:"order"',
        "string:$$a'b$$",
        "keyword:is",
        "literal:NULL",
        "comment:/* open",
      ],
    ],
    [
      "python" as const,
      '@cache\ndef f(x):  # note\n  return f\'{x}\' + """a\n\'b""" if None else 1e3',
      [
        "name:@cache",
        "keyword:def",
        "name:f",
        "comment:# note",
        "keyword:return",
        "string:f'{x}'",
        'string:"""a\n\'b"""',
        "keyword:if",
        "literal:None",
        "keyword:else",
        "number:1e3",
      ],
    ],
    [
      "json" as const,
      '{"a b": [1.50, -2e9, true, "x\\"y"]}',
      ['key:"a b"', "number:1.50", "number:-2e9", "literal:true", 'string:"x\\"y"'],
    ],
    [
      "yaml" as const,
      "# top\nrun:\n  - id: 7\n    text: 'a # b'\n    ok: true",
      [
        "comment:# top",
        "key:run",
        "key:id",
        "number:7",
        "key:text",
        "string:'a # b'",
        "key:ok",
        "literal:true",
      ],
    ],
    ["plain" as const, "SELECT 1", []],
  ])("of %s: %j", (language, text, want) => expect(coloured(text, language)).toEqual(want));

  it("joined are the text, whatever the text is", () => {
    const bit = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "'",
        '"',
        '"""',
        "'''",
        "--",
        "/*",
        "*/",
        "$$",
        "\\",
        "\n",
        "#",
        "select ",
        "1e5",
        ": ",
        "- ",
      ),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...LANGUAGES),
        fc.array(bit, { maxLength: 40 }),
        (language, bits) => {
          const text = bits.join("");
          expect(
            tokens(text, language)
              .map((token) => token.text)
              .join(""),
          ).toBe(text);
        },
      ),
    );
  });

  it("stay quick on text made to be slow", () => {
    const nasty = [
      "'".repeat(50_000),
      '"\\'.repeat(25_000),
      "/*".repeat(25_000),
      '"a'.repeat(25_000),
      " ".repeat(50_000) + "#",
      "- ".repeat(25_000),
      "1".repeat(50_000),
      "f'".repeat(25_000),
      '"' + "x\\".repeat(24_999),
    ];
    for (const text of nasty)
      for (const language of LANGUAGES) {
        const from = performance.now();
        tokens(text, language);
        expect(performance.now() - from, `${language} on ${text.slice(0, 8)}`).toBeLessThan(2_000);
      }
  });

  it("know the usual names of languages", () =>
    expect(["SQL", "py", "json {x}", "yml", "rust", ""].map(fenceLanguage)).toEqual([
      "sql",
      "python",
      "json",
      "yaml",
      "plain",
      "plain",
    ]));
});
