import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accept,
  asksForSteps,
  both,
  complete,
  freeText,
  only,
  pieces,
  preselected,
  quote,
  soughtIn,
  toggle,
  tokens,
  unknownKeys,
  unquote,
  withWildcards,
} from "./filter";
import type { Facets } from "../generated";

const FACETS: Facets = {
  keys: [
    {
      key: "model",
      about: "the model",
      values: [
        { value: "o3-mini", count: 40 },
        { value: "o1", count: 12 },
        { value: '"my model"', count: 3 },
      ],
    },
    { key: "state", about: "how it ended", values: [{ value: "error", count: 9 }] },
    { key: "turns", about: "assistant turns", values: [] },
  ],
  parts: [],
};
const KEYS = FACETS.keys.map((facet) => facet.key);
const offered = (text: string, caret = text.length) =>
  complete(text, caret, FACETS).options.map((option) => option.insert);

describe("a word with a colon that no key has", () => {
  it.each([
    ["foo:bar model:o1", ["foo"]],
    ["-foo:bar", ["foo"]],
    ["model_name:o1", ["model_name → model"]],
    ['foo:"a b"', ["foo"]],
    ["https://example.org/a 12:30 localhost:8080", []],
    ['"foo:bar" std::vector C:\\a C:a count<limit foo: time:>5', []],
    ["model:o1 answer.id=7 answer:x call(foo:bar)", []],
    ["misread:x", []],
  ])("is told from what nobody means as one: %s", (text, wanted) => {
    const found = unknownKeys(text, [...KEYS, "answer"], ["misread:x"]);
    expect(found.map(({ key, meant }) => (meant ? `${key} → ${meant}` : key))).toEqual(wanted);
  });
  it("is not told before the keys are known", () =>
    expect(unknownKeys("foo:bar", [], [])).toEqual([]));
});

describe("a filter taken apart", () => {
  it.each([
    ["state:error timeout", ["state=error", "null=timeout"]],
    ['task:"a b" "two words"', ["task=a b", "null=two words"]],
    ['-model:o1 !state:error -"x y"', ["-model=o1", "-state=error", "-null=x y"]],
    ['"still typing it', ["null=still typing it"]],
    ['say"  "so\\n "q\\"uote"', ["null=say  so\\n", 'null=q"uote']],
    ["-> --x", ["null=->", "null=--x"]],
    ["", []],
  ])("%s", (text, wanted) => {
    expect(
      tokens(text).map((token) => `${token.negated ? "-" : ""}${String(token.key)}=${token.value}`),
    ).toEqual(wanted);
  });
  it("keeps every letter: tokens are where they say, and only space lies between", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", ":", '"', "\\", " ", "-", "é", "\t") }),
        (text) => {
          const all = tokens(text);
          for (const token of all) expect(text.slice(token.start, token.end)).toBe(token.text);
          expect(all.map((token) => token.text).join("")).toBe(
            all.reduce(
              (rest, token, index) =>
                rest +
                text.slice(index === 0 ? 0 : (all[index - 1]?.end ?? 0), token.end).trimStart(),
              "",
            ),
          );
          expect(
            pieces(text, ["a"], [])
              .map((piece) => piece.text)
              .join(""),
          ).toBe(text);
        },
      ),
    );
  });
});

describe("a value", () => {
  it("reads back as it was, however odd, and is one token", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (value) => {
        expect(unquote(quote(value))).toBe(value);
        expect(tokens(`task:${quote(value)}`).map((token) => token.value)).toEqual([value]);
      }),
    );
  });
  it("is asked for once it is toggled, and no longer when it is toggled again", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.constantFrom("", "timeout", "-model:o1", "state:error x"),
        (value, text) => {
          const once = toggle(text, "model", value);
          expect(only(once, "model", value)).toBe(true);
          expect(toggle(once, "model", value)).toBe(text);
        },
      ),
    );
  });
  it("takes the place of another of its key", () => {
    expect(toggle("model:o1 x", "model", "o3-mini")).toBe("x model:o3-mini");
    expect(toggle("model:o1,o3-mini", "model", "o1")).toBe("model:o1");
  });
});

describe("two filters together", () => {
  it.each([
    ["", "task:a", "task:a"],
    ["model:o1 ", "task:a", "model:o1 task:a"],
    ["model:o1", "", "model:o1"],
    ['"still typing', "task:a", '"still typing" task:a'],
    ['"typed" x', "task:a", '"typed" x task:a'],
    ['"a\\" b', "task:a", '"a\\" b" task:a'],
    ['"a\\', "task:a", '"a\\\\" task:a'],
  ])("%s and %s", (one, other, wanted) => expect(both(one, other)).toBe(wanted));
  it("ask for the tokens of both, whatever was typed", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", ":", '"', "\\", " ", "-") }), (text) => {
        const values = (typed: string) => tokens(typed).map((token) => token.value);
        expect(values(both(text, "task:b"))).toEqual([...values(text), "b"]);
      }),
    );
  });
});

describe("completion", () => {
  it.each<[string, string[]]>([
    ["mo", ["model:", 'model:"my model" ']],
    ["o3", ["model:o3-mini "]],
    ["x model:", ["model:o3-mini ", "model:o1 ", 'model:"my model" ']],
    ["model:o1,o3", ["model:o1,o3-mini "]],
    ["-st", ["-state:"]],
    ["model:my", ['model:"my model" ']],
    ["turns:", []],
    ['"mo', []],
    ["nothing:x", []],
    ["state:error", []],
  ])("of %s offers %j", (text, wanted) => expect(offered(text)).toEqual(wanted));
  it("of nothing offers the keys", () =>
    expect(offered("")).toEqual(["model:", "state:", "turns:", "call("]));
  it("replaces the word the caret is in and leaves the rest", () => {
    const at = complete("mo timeout", 2, FACETS);
    expect(accept("mo timeout", at, at.options[0]!)).toEqual({ text: "model: timeout", caret: 6 });
    const value = complete("model:o1x timeout", 8, FACETS);
    expect(value.options).toEqual([]);
    const half = complete("model:o timeout", 7, FACETS);
    expect(accept("model:o timeout", half, half.options[0]!)).toEqual({
      text: "model:o3-mini timeout",
      caret: 13,
    });
  });
});

describe("the option that Enter takes", () => {
  it.each<[string, string | null]>([
    ["o3-mini", "model:o3-mini "],
    ["O3-MINI", "model:o3-mini "],
    ["-error", "-state:error "],
    ["o3", null],
    ["mo", null],
    ["", null],
    ["model:o3", "model:o3-mini "],
    ["model:o1,o3", "model:o1,o3-mini "],
    ["model:o1", null],
    ["model:", null],
    ["model:mini", null],
    ["turns>5", null],
  ])("for %j is %j", (text, wanted) => {
    const at = complete(text, text.length, FACETS);
    expect(at.options[preselected(text, at, FACETS)]?.insert ?? null).toBe(wanted);
  });
});

describe("what is drawn", () => {
  it("tells known keys from text and from what was misread", () => {
    expect(pieces("model:o1 http://x stat:error", KEYS, ["stat:error"])).toEqual([
      { text: "model:o1", kind: "chip" },
      { text: " http://x ", kind: "plain" },
      { text: "stat:error", kind: "misread" },
    ]);
  });
  it("draws a comparison without a colon as a token", () => {
    expect(pieces("turns>5 a<b", KEYS, []).map((piece) => piece.kind)).toEqual(["chip", "plain"]);
  });
  it.each([
    ["turns>5", []],
    ["a<b x", ["a<b", "x"]],
    ["http://x", ["http://x"]],
  ])("%s looks for %j", (text, wanted) => expect(freeText(text, KEYS, [])).toEqual(wanted));
  it.each([
    ["model:o1", false],
    ["model:o1 timeout", true],
    ["-timeout", false],
    ["http://x", true],
    ["stat:error", false],
    ['""', false],
  ])("%s looks for text: %s", (text, wanted) =>
    expect(freeText(text, KEYS, ["stat:error"]).length > 0).toBe(wanted),
  );
  it.each([
    [["open", "Tickets"], "tickets", "Tickets"],
    [["open", "ticket"], "tickets", "open"],
    [["no", "such", "column"], "No such column", "no such column"],
    [["open"], null, ""],
  ])("%j, shown as %s, is looked for as %j in the run", (words, hit, wanted) =>
    expect(
      soughtIn(
        words,
        hit === null
          ? null
          : {
              step: 0,
              pieces: [
                { text: "the ", hit: false },
                { text: hit, hit: true },
              ],
            },
      ),
    ).toBe(wanted),
  );
});

describe("a condition on a column of one's own", () => {
  const OWN: Facets = {
    keys: [
      ...FACETS.keys,
      { key: "answer", about: "has an answer", values: [] },
      { key: "score", about: "score", values: [] },
      { key: "scorer", about: "scorer", values: [{ value: "fields", count: 2 }] },
    ],
    parts: ["answer.items", "answer.items[0].id", 'answer["a key"]'],
  };
  const known = OWN.keys.map((facet) => facet.key);
  const own = (text: string) => complete(text, text.length, OWN).options.map((one) => one.insert);
  it("is one token, whose key is the part of the answer", () => {
    const [one, two] = tokens('-answer.items[0]["a key"]>7 answer.md');
    expect(one).toMatchObject({ key: 'answer.items[0]["a key"]', negated: true, value: ">7" });
    expect(two?.key).toBeNull();
    expect(freeText("answer.id=7 answer.md", known, [])).toEqual(["answer.md"]);
    expect(pieces("answer.id=7", known, [])).toEqual([{ text: "answer.id=7", kind: "chip" }]);
    expect(toggle("answer.id=7", "answer", "yes")).toBe("answer.id=7 answer:yes");
  });
  it("is completed with the parts that occur, and with the scorers", () => {
    expect(own("answer.it")).toEqual(["answer.items=", "answer.items[0].id="]);
    expect(own("-answer[")).toEqual(['-answer["a key"]=']);
    expect(own("score:fi")).toEqual(["score:fields<"]);
  });
});

describe("a question about steps", () => {
  const TOOLS: Facets = {
    parts: [],
    keys: [
      ...FACETS.keys,
      {
        key: "tool",
        about: "a tool",
        values: [
          { value: "sql", count: 9 },
          { value: "query_orders", count: 2 },
          { value: '"my tool"', count: 1 },
        ],
      },
    ],
  };
  it.each([
    ["call(sql){failed} then no answer model:o1", ["call(sql){failed} then no answer", "model:o1"]],
    ["x -call(a b){args~/x} y/, ok}>=3 y", ["x", "-call(a b){args~/x} y/, ok}>=3", "y"]],
    ['said(f(x) ")" y) then next user() z', ['said(f(x) ")" y) then next user()', "z"]],
    ["call(sql) then", ["call(sql) then"]],
    ["call(sql) then no  ", ["call(sql) then no"]],
    ["call(sql) then nobody model:o1", ["call(sql) then nobody", "model:o1"]],
    ["call(sql)>=3 then no answer", ["call(sql)>=3", "then", "no", "answer"]],
    ["args:/tmp model:m said:/x/", ["args:/tmp", "model:m", "said:/x/"]],
    ["call(ls){args~/tmp,result~/a} b/ } x", ["call(ls){args~/tmp,result~/a} b/ }", "x"]],
    ["call(ls){args~/tmp} x", ["call(ls){args~/tmp}", "x"]],
    ["call(sql) thenx", ["call(sql)", "thenx"]],
    ["call(sql", ["call(sql"]],
    ["said:/a b/,c -result:/\\/ x/ y", ["said:/a b/,c", "-result:/\\/ x/", "y"]],
    ["foo(a b) /a b/", ["foo(a", "b)", "/a", "b/"]],
  ])("%s is taken apart like the engine does", (text, wanted) =>
    expect(tokens(text).map((token) => token.text)).toEqual(wanted),
  );
  it.each<[string, string[]]>([
    ["call(", ["sql)", "query_orders)", '"my tool")']],
    ["call(sql,q", ["query_orders)", "sql)"]],
    ["call(sql){", ["failed}", "ok}", "args~", "result~", "result>"]],
    ["call(sql) then call(){ok, s", ["same}"]],
    ["call(sql)", ["{", " then ", " then no ", " then next ", ">=2"]],
    ["call(sql){failed} th", ["then ", "then no ", "then next "]],
    ["call(sql) then no a", ["answer ", "call("]],
    ["model:o1 call(sql) then c", ["call("]],
    ["call(sql) mod", ["model:"]],
    ["said(", []],
    ["ca", ["call("]],
    ["-nud", ["-nudge("]],
  ])("%s is completed with %j", (text, wanted) => {
    const options = complete(text, text.length, TOOLS).options.map((option) => option.insert);
    expect(
      wanted.every((one) => options.includes(one)),
      JSON.stringify(options),
    ).toBe(true);
    expect(options.slice(0, 1)).toEqual(wanted.slice(0, 1));
  });
  it("is taken by Enter with the first match, and never without a letter", () => {
    const taken = (text: string) => {
      const at = complete(text, text.length, TOOLS);
      const option = at.options[preselected(text, at, TOOLS)];
      return option ? accept(text, at, option).text : null;
    };
    expect(taken("call(q")).toBe("call(query_orders)");
    expect(taken("call(sql){f")).toBe("call(sql){failed}");
    expect(taken("call(sql) then no an")).toBe("call(sql) then no answer ");
    const no = complete("call(sql) then no ", 18, TOOLS).options.map(({ about }) => about);
    expect(no).toEqual(expect.arrayContaining(["no tool call", "no automatic nudge", "no answer"]));
    expect(taken("call(sql)")).toBe(null);
  });
  it.each([
    ["call(sql", "call(sql) task:a"],
    ["call(sql){args~/a", "call(sql){args~/a} task:a"],
    ['said(a "b', 'said(a "b") task:a'],
    ["said:/tmp", "said:/tmp task:a"],
    ["call(sql){failed}", "call(sql){failed} task:a"],
  ])("%s ends before another filter", (text, wanted) => expect(both(text, "task:a")).toBe(wanted));
  it("is drawn as one, with its mistake", () => {
    expect(pieces("call(sql){faild} x", KEYS, ["faild"])).toEqual([
      { text: "call(sql){", kind: "chip" },
      { text: "faild", kind: "misread" },
      { text: "}", kind: "chip" },
      { text: " x", kind: "plain" },
    ]);
    expect(freeText("call(sql) then no answer x", KEYS, [])).toEqual(["x"]);
    expect(["call(sql)", "-call(sql)", "said:x", "model:o1"].map(asksForSteps)).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });
  it("keeps every letter, and ends before another filter, whatever was typed", () => {
    const units = [
      "call(",
      "said(",
      "said:",
      ")",
      "{",
      "}",
      "~",
      "/",
      '"',
      "\\",
      " then ",
      " no ",
      "a",
      ",",
      " ",
    ];
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...units) }), (text) => {
        const all = tokens(text);
        for (const token of all) expect(text.slice(token.start, token.end)).toBe(token.text);
        expect(text.replace(/\s/gu, "")).toBe(
          all.map((token) => token.text.replace(/\s/gu, "")).join(""),
        );
        expect(
          pieces(text, KEYS, ["a"])
            .map((piece) => piece.text)
            .join(""),
        ).toBe(text);
        const last = tokens(both(text, "task:b")).at(-1);
        const ends = all.at(-1);
        // After `then`, a step is missing, which is a mistake of its own.
        if (!ends?.steps || !/\sthen(?:\s+(?:no|next))?$/iu.test(ends.text))
          expect(last?.text).toBe("task:b");
        expect(complete(text, text.length, TOOLS).options.length).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 400 },
    );
  });
});

it("a path of file: that matches nothing is widened by wildcards", () => {
  expect(withWildcards("state:error file:agent")).toBe("state:error file:*agent*");
  expect(withWildcards("file:*agent* -file:x")).toBeNull();
  expect(withWildcards("agent")).toBeNull();
});
