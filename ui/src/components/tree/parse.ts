// Pure. Parses JSON into a tree that keeps numbers exactly as written. Not recursive, so nesting is
// unlimited.

export type Leaf = "string" | "number" | "literal";
export type Node =
  | { kind: "leaf"; leaf: Leaf; raw: string }
  | { kind: "list"; items: Node[] }
  | { kind: "object"; keys: string[]; items: Node[] };
type Branch = Exclude<Node, { kind: "leaf" }>;

const TOKEN =
  /\s*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)|(true|false|null))/y;

interface Cursor {
  /** Open branches around the current value. */
  stack: Branch[];
  root: Node | undefined;
  /** The key that waits for its value. */
  key: string | undefined;
  expect: "value" | "first value" | "key" | "first key" | "colon" | "comma" | "end";
}

/** The tree, or undefined if the text is not valid JSON. */
export function parseTree(text: string): Node | undefined {
  const at: Cursor = { stack: [], root: undefined, key: undefined, expect: "value" };
  TOKEN.lastIndex = 0;
  let end = 0;
  for (let match = TOKEN.exec(text); match; match = TOKEN.exec(text)) {
    end = TOKEN.lastIndex;
    const ok = match[1] ? punctuation(at, match[1]) : value(at, match);
    if (!ok) return undefined;
  }
  return at.expect === "end" && text.slice(end).trim() === "" ? at.root : undefined;
}

function punctuation(at: Cursor, mark: string): boolean {
  if (mark === "{" || mark === "[")
    return open(
      at,
      mark === "{" ? { kind: "object", keys: [], items: [] } : { kind: "list", items: [] },
    );
  const top = at.stack.at(-1);
  if (mark === ":") {
    if (at.expect !== "colon") return false;
    at.expect = "value";
    return true;
  }
  if (mark === ",") {
    if (at.expect !== "comma") return false;
    at.expect = top?.kind === "object" ? "key" : "value";
    return true;
  }
  const empty = at.expect === (mark === "}" ? "first key" : "first value");
  if (!top || (top.kind === "object") !== (mark === "}") || !(empty || at.expect === "comma"))
    return false;
  at.stack.pop();
  at.expect = at.stack.length > 0 ? "comma" : "end";
  return true;
}

function open(at: Cursor, node: Branch): boolean {
  if (!appendNode(at, node)) return false;
  at.stack.push(node);
  at.expect = node.kind === "object" ? "first key" : "first value";
  return true;
}

function value(at: Cursor, match: RegExpExecArray): boolean {
  const [, , string, number, literal] = match;
  if (string !== undefined && (at.expect === "key" || at.expect === "first key")) {
    at.key = unquote(string);
    at.expect = "colon";
    return true;
  }
  const raw = string ?? number ?? literal ?? "";
  return appendNode(at, {
    kind: "leaf",
    leaf: string !== undefined ? "string" : number !== undefined ? "number" : "literal",
    raw,
  });
}

function appendNode(at: Cursor, node: Node): boolean {
  if (at.expect !== "value" && at.expect !== "first value") return false;
  const top = at.stack.at(-1);
  if (!top) at.root = node;
  else {
    if (top.kind === "object") top.keys.push(at.key ?? "");
    top.items.push(node);
  }
  at.expect = top ? "comma" : "end";
  return true;
}

/** Decodes a JSON string. */
export function unquote(raw: string): string {
  return JSON.parse(raw) as string;
}
