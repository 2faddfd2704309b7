import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beginning, LONGEST, markdown, safeTarget, type Block } from "./tree";

const KINDS = [
  "paragraph",
  "heading",
  "quote",
  "list",
  "code",
  "literal",
  "rule",
  "table",
  "text",
  "emphasis",
  "strong",
  "link",
  "image",
  "break",
];

/** Every typed node of a tree. */
function all(value: unknown): Record<string, unknown>[] {
  if (Array.isArray(value)) return value.flatMap(all);
  if (typeof value !== "object" || value === null) return [];
  const node = value as Record<string, unknown>;
  return [...("kind" in node ? [node] : []), ...Object.values(node).flatMap(all)];
}
const texts = (tree: Block[] | undefined) =>
  all(tree)
    .map((node) => String(node["text"] ?? node["href"] ?? node["alt"] ?? ""))
    .join(" ");

function harmless(source: string): void {
  for (const node of all(markdown(source))) {
    expect(KINDS).toContain(node["kind"]);
    for (const key of Object.keys(node))
      expect([
        "kind",
        "text",
        "children",
        "items",
        "start",
        "depth",
        "level",
        "language",
        "align",
        "rows",
        "href",
        "src",
        "host",
        "alt",
      ]).toContain(key);
    for (const key of ["href", "src"])
      if (node[key] !== undefined) expect(node[key]).toMatch(/^(?:https?:\/\/|mailto:)/);
    if (node["kind"] === "image") expect(node["src"]).toMatch(/^https?:\/\//);
  }
}

const HTML = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)>",
  "<iframe srcdoc='<script>parent.x=1</script>'></iframe>",
  '<a href="javascript:alert(1)">x</a>',
  "<style>*{display:none}</style>",
  "<meta http-equiv=refresh content='0;url=//evil.example'>",
  "<base href=//evil.example>",
  "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
  "<!--><script>alert(1)</script>-->",
  "<![CDATA[<script>alert(1)</script>]]>",
  "<?php echo 1 ?>",
  "<details open ontoggle=alert(1)>",
  "<template><b onmouseover=alert(1)></template>",
  "text <b onclick=alert(1)>bold</b> text",
];
const LINKS = [
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](&#x6A;&#x61;vascript&colon;alert(1))",
  "[x](javascript&#58;alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](vbscript:msgbox)",
  "[x](file:///etc/passwd)",
  "[x](//evil.example/a)",
  "[x](/etc/passwd)",
  "[x](#top)",
  "[x](tauri://localhost)",
  "[x](ipc://localhost)",
  "[x](blob:https://a/b)",
  "[x]: javascript:alert(1)\n\n[x]",
  "[x][y]\n\n[y]: data:text/html,1",
  "<javascript:alert(1)>",
  "![x](javascript:alert(1))",
  "![x](data:image/svg+xml,<svg onload=alert(1)>)",
  "![x][y]\n\n[y]: javascript:1",
  "![x](mailto:a@b.example)",
  "[x](<javascript:alert(1)>)",
  "[a](\u0001javascript:alert(1))",
  "[a](\\javascript:alert(1))",
  "[![x](javascript:1)](javascript:2)",
  "[x](https:/\\evil:99999999/)",
  "[x](http:)",
  "[x](view-source:https://a)",
  "[x](intent://a)",
];
const TANGLES = [
  "[".repeat(3000),
  "[".repeat(3000) + "]".repeat(3000),
  "![".repeat(1500),
  "*a_".repeat(3000),
  "*".repeat(5000),
  "> ".repeat(2000) + "x",
  "- ".repeat(2000) + "x",
  "`".repeat(3000) + "a" + "`".repeat(2999),
  "<".repeat(5000),
  "&".repeat(5000),
  "[a](".repeat(1500),
  "|".repeat(5000) + "\n" + "|-".repeat(2500),
  "a**b".repeat(3000),
  "[^".repeat(1500),
  "<!--".repeat(2000),
  "\\".repeat(5000),
  "***a ".repeat(2000),
  "[x]: <".repeat(500),
  "![[]()".repeat(700),
  "a\n".repeat(20_000),
  "1. ".repeat(1000),
  "# ".repeat(2000),
  "``` \n".repeat(2000),
];

it("keeps no carriage return at the end of a line of code", () => {
  const [block] = markdown("```\r\na\r\nb\r\n```\r\n") ?? [];
  expect(block).toMatchObject({ kind: "code", text: "a\nb" });
});

describe("hostile markdown", () => {
  it.each(HTML)("%s is seen as text and nothing of it is lost", (source) => {
    harmless(source);
    const got = texts(markdown(source)).replace(/\s+/g, "");
    for (const word of source.split(/\s+|(?=<)/)) expect(got).toContain(word);
  });
  it.each(LINKS)("%s links nowhere, and its target is seen", (source) => {
    harmless(source);
    expect(
      all(markdown(source)).filter((node) => node["kind"] === "link" || node["kind"] === "image"),
    ).toEqual([]);
    expect(texts(markdown(source)).length).toBeGreaterThan(3);
  });
  it.each(TANGLES.map((source) => [source.slice(0, 8), source]))(
    "%j again and again does not hold up the page",
    (_, source) => {
      const from = performance.now();
      harmless(source);
      expect(performance.now() - from).toBeLessThan(3_000);
    },
  );
  it("of any shape comes out as known nodes with safe targets", () => {
    const bit = fc.constantFrom(
      ...HTML,
      ...LINKS,
      "**",
      "_",
      "`",
      "```\n",
      "\n\n",
      "> ",
      "- ",
      "1. ",
      "| a | b |\n|---|---|\n",
      "<",
      "&lt;",
      "\\",
      "[",
      "](",
      ")",
      "!",
      "# ",
      "https://a.example ",
      "<https://a.example>",
      "\t",
    );
    fc.assert(
      fc.property(fc.array(bit, { maxLength: 12 }), (bits) => void harmless(bits.join(""))),
      { numRuns: 400 },
    );
  });
  it("of very many lines is left to be shown as text", () =>
    expect(markdown("a\n\n".repeat(2_000))).toBeUndefined());
  it("that is long is left to be shown as text", () =>
    expect(markdown("a ".repeat(LONGEST))).toBeUndefined());
});

describe("a formula", () => {
  const FORMULAS = [
    '$\\href{x"><animate onbegin=alert(1) attributeName=x dur=1s>}{z}$',
    "$a*b*c$ and $\\{x_i\\}_{i*}$",
    "\\(a_1 * b_1 * c_1\\)",
    "\\[ \\frac{a}{b} \\\\ [x](y) \\]",
    "$$\n+ a\n- b\n= c\n# d\n> e\n$$",
    "$[x](javascript:alert(1))$",
    "| \\(a|b\\) |\n|---|\n| $c|d$ |",
    "$<script>alert(1)</script>$",
    "$$x$$",
  ];
  it.each(FORMULAS)("%j is text to the letter", (source) => {
    harmless(source);
    const kept = (text: string) => text.replace(/[\s|-]+/g, "");
    expect(kept(texts(markdown(source)))).toBe(kept(source));
  });
  it("leaves alone whoever uses the characters that stand for others", () =>
    expect(texts(markdown("an odd \ue001 and $x$"))).toBe(" an odd \ue001 and $x$"));
  it("is not what two prices are, and takes away no code, link or list beside it", () => {
    const kinds = (source: string) => all(markdown(source)).map((node) => node["kind"]);
    expect(kinds("from $5 *or* so to $10")).toContain("emphasis");
    expect(
      all(markdown("| $5 | 10$ |\n|---|---|")).filter((node) => node["text"] === "10$"),
    ).toHaveLength(1);
    expect(kinds("`$a` *and* `b$`").filter((kind) => kind === "code")).toHaveLength(2);
    expect(kinds("$x$ [y](https://a.example/$z_1$)")).toContain("link");
    expect(texts(markdown("[y](https://a.example/$z_1$)"))).toContain("https://a.example/$z_1$");
    expect(texts(markdown("```tex\n$a_1*b$\n```"))).toContain("$a_1*b$");
  });
  it.each(["|$HOME|$PATH|", "|$x|$y|", "|$AUD|$USD|"])(
    "is not what lies between two names: %j are two cells",
    (row) => {
      const table = markdown(`|Name|Value|\n|---|---|\n${row}`)?.find(
        (block) => block.kind === "table",
      );
      expect(
        table?.rows[1]?.map((cell) =>
          all(cell)
            .map((node) => node["text"])
            .join(""),
        ),
      ).toEqual(row.slice(1, -1).split("|"));
    },
  );
  it("is not what brackets escape, nor what an amount of another country begins", () => {
    expect(texts(markdown("see \\[1\\] and \\[2\\]")).trim()).toBe("see [1] and [2]");
    expect(all(markdown("It costs US$5 *or* A$ 7")).map((node) => node["kind"])).toContain(
      "emphasis",
    );
    expect(texts(markdown("&#xe00f; and $x$"))).not.toContain(":");
  });
  it.each(["$a ", "\\(", "\\[", "\\[1\\] ", "$$ a", "$a_*"])(
    "%j again and again does not hold up the page",
    (bit) => {
      const from = performance.now();
      harmless(bit.repeat(Math.floor(LONGEST / bit.length)));
      expect(performance.now() - from).toBeLessThan(3_000);
    },
  );
});

describe("markdown as models write it", () => {
  it("numbers its headings without gaps, whatever their size", () => {
    const levels = (source: string) =>
      markdown(source)?.flatMap((block) => (block.kind === "heading" ? [block.level] : []));
    expect(levels("### a\n\n##### b\n\n###### c\n\n##### d\n\n# e\n\n### f")).toEqual([
      1, 2, 3, 2, 1, 2,
    ]);
  });
  it("becomes headings, lists, fences, tables and rules", () => {
    const tree = markdown(
      "# Top\n\nSome *very* **bold** `code`.\n\n3. a\n4. b\n\n- x\n\n```sql\nSELECT 1\n```\n\n| a | n |\n|---|--:|\n| x | 1 |\n\n---\n\n> said",
    );
    expect(tree?.map((block) => block.kind)).toEqual([
      "heading",
      "paragraph",
      "list",
      "list",
      "code",
      "table",
      "rule",
      "quote",
    ]);
    expect(tree?.[2]).toMatchObject({ start: 3 });
    expect(tree?.[3]).toMatchObject({ start: undefined });
    expect(tree?.[4]).toEqual({ kind: "code", language: "sql", text: "SELECT 1" });
    expect(tree?.[5]).toMatchObject({
      align: ["", "right"],
      rows: [
        [[{ text: "a" }], [{ text: "n" }]],
        [[{ text: "x" }], [{ text: "1" }]],
      ],
    });
  });
  it("keeps good links and names the host of an image", () => {
    expect(markdown("[a](https://example.org/x?y=1)")?.[0]).toMatchObject({
      children: [{ kind: "link", href: "https://example.org/x?y=1" }],
    });
    expect(markdown("[r][1]\n\n[1]: mailto:me@example.org")?.[0]).toMatchObject({
      children: [{ kind: "link", href: "mailto:me@example.org" }],
    });
    expect(markdown("![cat](https://img.example:8080/c.png)")?.[0]).toMatchObject({
      children: [{ kind: "image", host: "img.example:8080", alt: "cat" }],
    });
  });
  it("reads entities as characters of text, never as markup", () =>
    expect(markdown("&lt;script&gt;")?.[0]).toEqual({
      kind: "paragraph",
      children: [{ kind: "text", text: "<script>" }],
    }));
});

describe("targets", () => {
  it.each(["https://a.example/", "http://127.0.0.1:1/", "mailto:a@b.example"])(
    "%s may be followed",
    (url) => expect(safeTarget(url)).toBe(url),
  );
  it.each(["", "javascript:1", " https://a", "https://a\u0000", "ftp://a", "https:a", "x"])(
    "%j may not",
    (url) => expect(safeTarget(url)).toBeUndefined(),
  );
});

describe("the beginning of a long text", () => {
  const lines = (n: number, of = "word") => `${of}\n`.repeat(n);
  it.each([
    ["is a short text itself", "one\ntwo", "one\ntwo"],
    ["is so many lines, and somewhat more", lines(100), lines(35)],
    ["counts no lines without words", lines(100, "word\n"), lines(34, "word\n") + "word\n"],
    ["counts a long line as several", lines(100, "x".repeat(440)), lines(18, "x".repeat(440))],
    ["is one endless line whole", "x".repeat(9_000), "x".repeat(9_000)],
    [
      "is all of it where links are explained further down",
      `${lines(100, "[a]")}\n[a]: https://a.example`,
      `${lines(100, "[a]")}\n[a]: https://a.example`,
    ],
  ])("%s", (_, source, expected) => expect(beginning(source, 25)).toBe(expected));
});
