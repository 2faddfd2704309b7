// Pure. Splits source text into coloured tokens for reading. Works on any fragment, never fails,
// and the joined tokens equal the text. One regular expression per language, linear in the length
// of the text.

export type TokenKind =
  "" | "keyword" | "string" | "number" | "comment" | "literal" | "key" | "name";
export type CodeLanguage = "plain" | "sql" | "python" | "json" | "yaml";

export interface Token {
  text: string;
  kind: TokenKind;
}

const words = (list: string) => new Set(list.split(" "));
const SQL_WORDS = words(
  "select from where and or not in is like ilike between exists case when then else end " +
    "as on join inner left right full outer cross natural lateral using group by order " +
    "having limit offset fetch first next rows row only union all intersect except " +
    "distinct with recursive insert into values update set delete create alter drop table " +
    "view index if begin commit rollback over partition range preceding following " +
    "unbounded current asc desc nulls last interval cast filter within returning explain " +
    "analyze any some default primary key references foreign unique check constraint " +
    "collate glob pragma",
);
const SQL_LITERALS = words("null true false current_date current_timestamp current_time");
const PYTHON_WORDS = words(
  "and as assert async await break class continue def del elif else except finally for " +
    "from global if import in is lambda nonlocal not or pass raise return try while with " +
    "yield match case",
);
const PYTHON_LITERALS = words("None True False self");

type Classify = (text: string, after: string) => TokenKind;
interface Grammar {
  pattern: RegExp;
  /** Classifies the group `word`. */
  word: Classify;
}

const NUMBER = String.raw`(?<number>(?<![\w.])-?(?:0[xX][\da-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?!\w))`;
const QUOTED = String.raw`"(?:[^"\\\n]|\\(?:[^]|$))*(?:"|(?=\n)|$)`;
const GRAMMARS: Record<Exclude<CodeLanguage, "plain">, Grammar> = {
  sql: {
    pattern: new RegExp(
      [
        String.raw`(?<comment>--[^\n]*|/\*[^]*?(?:\*/|$))`,
        String.raw`(?<string>'[^']*(?:''[^']*)*(?:'|$)|\$\$[^]*?(?:\$\$|$))`,
        String.raw`(?<name>"[^"]*(?:"|$))`,
        NUMBER,
        String.raw`(?<word>[A-Za-z_]\w*)`,
      ].join("|"),
      "gu",
    ),
    word: (text, after) => {
      const low = text.toLowerCase();
      if (SQL_LITERALS.has(low)) return "literal";
      return SQL_WORDS.has(low) ? "keyword" : after === "(" ? "name" : "";
    },
  },
  python: {
    pattern: new RegExp(
      [
        String.raw`(?<comment>#[^\n]*)`,
        String.raw`(?<string>(?<!\w)[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|${QUOTED}|${QUOTED.replaceAll('"', "'")}))`,
        NUMBER,
        String.raw`(?<word>@?[A-Za-z_]\w*)`,
      ].join("|"),
      "gu",
    ),
    word: (text, after) => {
      if (PYTHON_LITERALS.has(text)) return "literal";
      return PYTHON_WORDS.has(text)
        ? "keyword"
        : after === "(" || text.startsWith("@")
          ? "name"
          : "";
    },
  },
  json: {
    pattern: new RegExp(
      [
        String.raw`(?<key>${QUOTED}(?=\s{0,40}:))`,
        `(?<string>${QUOTED})`,
        NUMBER,
        String.raw`(?<word>[A-Za-z_]\w*)`,
      ].join("|"),
      "gu",
    ),
    word: (text) =>
      text === "null" ||
      text === "true" ||
      text === "false" ||
      text === "NaN" ||
      text === "Infinity"
        ? "literal"
        : "",
  },
  yaml: {
    pattern: new RegExp(
      [
        String.raw`(?<comment>(?<=^|[ \t])#[^\n]*)`,
        String.raw`(?<key>(?<=^[ \t]{0,200}(?:- {0,20})?)[\w.$/-]+(?=:(?:\s|$)))`,
        `(?<string>${QUOTED}|'[^'\\n]*(?:''[^'\\n]*)*(?:'|(?=\\n)|$))`,
        NUMBER,
        String.raw`(?<word>[A-Za-z_~][\w-]*)`,
      ].join("|"),
      "gmu",
    ),
    word: (text) =>
      text === "null" || text === "true" || text === "false" || text === "~" ? "literal" : "",
  },
};
const KINDS = ["comment", "string", "key", "name", "number"] as const;

/** The text as tokens; joined, they equal the text. */
export function tokens(text: string, language: CodeLanguage): Token[] {
  if (language === "plain") return text ? [{ text, kind: "" }] : [];
  const grammar = GRAMMARS[language];
  const out: Token[] = [];
  let plain = 0;
  for (const match of text.matchAll(grammar.pattern)) {
    const kind = kindOf(match, grammar, text);
    if (kind === "" || match[0] === "") continue;
    if (match.index > plain) out.push({ text: text.slice(plain, match.index), kind: "" });
    out.push({ text: match[0], kind });
    plain = match.index + match[0].length;
  }
  if (plain < text.length) out.push({ text: text.slice(plain), kind: "" });
  return out;
}

function kindOf(match: RegExpExecArray, grammar: Grammar, text: string): TokenKind {
  const groups = match.groups ?? {};
  if (groups["word"] !== undefined)
    return grammar.word(groups["word"], text.charAt(match.index + match[0].length));
  return KINDS.find((kind) => groups[kind] !== undefined) ?? "";
}

/** The language named after the backticks of a fence. */
export function fenceLanguage(word: string): CodeLanguage {
  const low =
    word
      .trim()
      .toLowerCase()
      .split(/[\s,{]/)[0] ?? "";
  if (/^(sql|postgres|postgresql|pgsql|sqlite|mysql)$/.test(low)) return "sql";
  if (/^(py|python|python3)$/.test(low)) return "python";
  if (/^(json|jsonl|json5|jsonc)$/.test(low)) return "json";
  return /^ya?ml$/.test(low) ? "yaml" : "plain";
}
