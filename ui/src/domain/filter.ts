// Pure. Tokenises a filter for chips and completion. The engine alone interprets it.
import { count } from "./format";
import type { Facets, FailureClass, Snippet } from "../generated";

export interface Token {
  start: number;
  end: number;
  /** The token as typed. */
  text: string;
  /** Before the colon, without a leading `-`; null for free text. */
  key: string | null;
  /** Without quotes. */
  value: string;
  negated: boolean;
  /** True for a question about steps: `call(sql){failed} then no answer`. */
  steps: boolean;
}

export interface Option {
  /** Replacement of the word at the caret. */
  insert: string;
  label: string;
  about: string;
}
export interface Completion {
  start: number;
  end: number;
  options: Option[];
  /** True inside of a question about steps. */
  steps?: boolean;
}

// `turns>5` is a token like `turns:>5`; the sign belongs to the value.
// `answer.items[0].id=7` asks for a part of the answer.
const KEYED =
  /^([-!]?)((?!answer[.[])[a-z_]+|answer[.[](?:"[^"]*"|[^":<>=])*)(?::|(?=[<>=]))(.*)$/isu;
const isPart = (key: string) => /^answer[.[]/iu.test(key);
const NEGATED = /^[-!]["\p{L}\p{N}_]/u;
const MOST = 12;

/** The text without quotes and escapes. */
export const unquote = (typed: string): string =>
  typed.replace(/"((?:[^"\\]|\\.?)*)(?:"|$)/gsu, (_, inside: string) =>
    inside.replace(/\\(["\\])/gu, "$1"),
  );

/** A value quoted if needed, like the engine writes it. */
export const quote = (value: string): string =>
  /^[\p{L}\p{N}_][\p{L}\p{N}_./-]*$/u.test(value) ? value : `"${value.replace(/["\\]/gu, "\\$&")}"`;

/** Where something ends, and what would close it if it is still being typed. */
interface Scan {
  end: number;
  open: string;
}
const isSpace = (letter: string | undefined) => letter !== undefined && /\s/u.test(letter);

/** Up to the sign that closes a quote. */
function closed(text: string, from: number): Scan {
  for (let at = from; at < text.length; at++) {
    if (text[at] === '"') return { end: at + 1, open: "" };
    if (text[at] === "\\" && ++at === text.length) return { end: at, open: '\\"' };
  }
  return { end: text.length, open: '"' };
}

const REGEX = /\/(?:[^/\\]|\\.)*\//suy;

/** The end of the regular expression that begins here; null for a path, which is text. */
function regexEnd(text: string, from: number, follows: RegExp): number | null {
  const end = from + (matchAt(REGEX, text, from)?.length ?? 0);
  return end > from && (end === text.length || matchAt(follows, text, end) !== null) ? end : null;
}

/** Keys whose values may be regular expressions. */
const STEP_TEXT = ["said", "asked", "args", "result"];
const BEFORE_REGEX = new RegExp(`^[-!]?(?:${STEP_TEXT.join("|")}):(?:.*,)?$`, "isu");

function wordAt(text: string, from: number): Scan {
  let scan: Scan = { end: from, open: "" };
  while (scan.end < text.length && !isSpace(text[scan.end])) {
    const { end } = scan;
    const letter = text[end];
    const begins = letter === "/" && BEFORE_REGEX.test(text.slice(from, end));
    const regex = begins ? regexEnd(text, end, /[\s,]/uy) : null;
    scan = letter === '"' ? closed(text, end + 1) : { end: regex ?? end + 1, open: "" };
  }
  return scan;
}

/** Words of steps, and what each is. */
const STEPS: readonly (readonly [word: string, about: string])[] = [
  ["call", "a tool call"],
  ["said", "a message of the assistant"],
  ["user", "a message of the user"],
  ["error", "a system error"],
  ["nudge", "an automatic nudge"],
  ["program", "a plan or code that ran"],
  ["answer", "the answer"],
];
const STEP_WORDS = STEPS.map(([word]) => word).join("|");
const QUESTION = new RegExp(`[-!]?(?=(?:${STEP_WORDS})\\()`, "iyu");
const STEP = new RegExp(`(${STEP_WORDS})(?![\\p{L}\\p{N}_])`, "iyu");
const THEN = /\s+then(?=\s|$)(?:\s+(?:next|no)(?=\s|$))?/iuy;

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

/** What stands between parentheses or braces, from the sign that opens them. */
function enclosed(text: string, from: number, nested: boolean): Scan {
  const close = text[from] === "(" ? ")" : "}";
  const follows = close === ")" ? /\s*(?:\)|$)/uy : /\s*(?:[,}]|$)/uy;
  let depth = 0;
  let scan: Scan = { end: from + 1, open: "" };
  while (scan.end < text.length) {
    const { end } = scan;
    const letter = text[end];
    const before = text.slice(from + 1, end).trimEnd();
    const begins = close === ")" ? before === "" : before.endsWith("~");
    const regex = letter === "/" && begins ? regexEnd(text, end, follows) : null;
    if (letter === '"') scan = closed(text, end + 1);
    else if (regex !== null) scan = { end: regex, open: "" };
    else if (letter === close && depth === 0) return { end: end + 1, open: "" };
    else {
      if (nested && letter === "(") depth++;
      if (nested && letter === ")") depth--;
      scan = { end: end + 1, open: "" };
    }
  }
  return { end: scan.end, open: scan.open + ")".repeat(depth) + close };
}

/** A question about steps, read like the engine does; null if the text is something else. */
function questionAt(text: string, from: number): Scan | null {
  const sign = matchAt(QUESTION, text, from);
  if (sign === null) return null;
  let at = from + sign.length;
  for (;;) {
    const word = matchAt(STEP, text, at)?.toLowerCase();
    if (word === undefined) return wordAt(text, at);
    at += word.length;
    for (const open of ["(", "{"]) {
      if (text[at] !== open) continue;
      const inside = enclosed(text, at, word !== "call" && open === "(");
      if (inside.open !== "") return inside;
      at = inside.end;
    }
    const counted = matchAt(/[<>=]/uy, text, at) !== null;
    at += matchAt(/\S*/uy, text, at)?.length ?? 0;
    // Only a single step can be counted.
    if (counted) return { end: at, open: "" };
    const then = matchAt(THEN, text, at);
    if (then === null) return { end: at, open: "" };
    const next = at + then.length;
    const space = matchAt(/\s*/uy, text, next)?.length ?? 0;
    if (next + space === text.length) return { end: next, open: "" };
    at = next + space;
  }
}

export function tokens(text: string): Token[] {
  const all: Token[] = [];
  for (let start = 0; start < text.length;) {
    if (isSpace(text[start])) {
      start++;
      continue;
    }
    const question = questionAt(text, start);
    const { end } = question ?? wordAt(text, start);
    const typed = text.slice(start, end);
    const keyed = question ? null : KEYED.exec(typed);
    const negated = NEGATED.test(typed);
    all.push({
      start,
      end,
      text: typed,
      key: keyed?.[2]?.toLowerCase() ?? null,
      value: unquote(keyed?.[3] ?? typed.slice(negated ? 1 : 0)),
      negated,
      steps: question !== null,
    });
    start = end;
  }
  return all;
}

/** True if the filter asks for steps, which its runs are shown with. */
export const asksForSteps = (text: string): boolean =>
  tokens(text).some(
    (token) => !token.negated && (token.steps || STEP_TEXT.includes(token.key ?? "")),
  );

/** Other names of keys, which the engine takes and no completion offers. */
const OTHER_NAMES = ["layout", "source", "step", "time", "duration"];

/** True for a token that the engine reads as a condition, as far as its key tells. */
const isKeyed = ({ key }: Token, keys: readonly string[]): boolean =>
  key !== null && (keys.includes(isPart(key) ? "answer" : key) || OTHER_NAMES.includes(key));

/** A word before a colon that is no key, and the key that it names in other words. */
export interface UnknownKey {
  key: string;
  meant: string | null;
}

/** Beginnings of values of words that nobody means as keys: `https://`, `std::`, `C:\`, a port. */
const NO_VALUE = /^(?:[:/\\]|$|\d+$)/u;

/**
 * Words with a colon that are searched as text because no key has their name. Typing errors of keys
 * are mistakes, which the engine explains.
 */
export const unknownKeys = (
  text: string,
  keys: readonly string[],
  misread: readonly string[],
): UnknownKey[] =>
  keys.length === 0
    ? []
    : tokens(text).flatMap((token) => {
        const key = token.key ?? "";
        const [, value] = /^[-!]?[a-z_]+:(.*)$/isu.exec(token.text) ?? [];
        const isNone =
          key.length < 2 ||
          value === undefined ||
          NO_VALUE.test(value) ||
          isKeyed(token, keys) ||
          misread.includes(token.text);
        const names = (one: string) => key.startsWith(`${one}_`) || key.endsWith(`_${one}`);
        return isNone ? [] : [{ key, meant: keys.find(names) ?? null }];
      });

const asksFor = (token: Token, key: string) => token.key === key && !token.negated;

/** True if the filter has exactly this value of the key. */
export function only(text: string, key: string, value: string): boolean {
  const asked = tokens(text).filter((token) => asksFor(token, key));
  return asked.length === 1 && asked[0]?.value === value;
}

/** The filter with only this value of the key, or with any if it had only this one. */
export function toggle(text: string, key: string, value: string): string {
  const words = tokens(text).filter((token) => !asksFor(token, key));
  const typed = words.map((token) => token.text);
  return both(typed.join(" "), only(text, key, value) ? "" : `${key}:${quote(value)}`);
}

/** Joins two filters. What is open in one ends with it. */
export function both(one: string, other: string): string {
  const last = tokens(one).at(-1);
  const open = last ? (questionAt(one, last.start) ?? wordAt(one, last.start)).open : "";
  const whole = open === "" ? one : `${one.slice(0, last?.end)}${open}`;
  return [whole.trim(), other.trim()].filter((part) => part !== "").join(" ");
}

/**
 * Words searched in the transcripts. Until the keys are known, anything that looks like a key
 * counts as one.
 */
export const freeText = (
  text: string,
  keys: readonly string[],
  misread: readonly string[],
): string[] =>
  tokens(text)
    .filter(
      (token) =>
        !token.negated &&
        !token.steps &&
        token.value !== "" &&
        !misread.includes(token.text) &&
        (token.key === null || (keys.length > 0 && !isKeyed(token, keys))),
    )
    .map((token) => (token.key === null ? token.value : unquote(token.text)));

/** Text to search in a run found by these words: the match shown in its snippet. */
export function soughtIn(words: readonly string[], snippet: Snippet | null): string {
  const hit = snippet?.pieces.find((piece) => piece.hit)?.text.toLowerCase();
  if (hit === undefined) return "";
  const whole = words.find((word) => word.toLowerCase() === hit);
  // Adjacent words form one match.
  const together = words.length > 1 && words.every((word) => hit.includes(word.toLowerCase()));
  return whole ?? (together ? hit : (words[0] ?? ""));
}

/** The text split for drawing into known keyed tokens and the rest. */
export function pieces(
  text: string,
  keys: readonly string[],
  misread: readonly string[],
): { text: string; kind: "chip" | "misread" | "plain" }[] {
  const drawn: ReturnType<typeof pieces> = [];
  let at = 0;
  const plain = (end: number) => {
    if (end > at) drawn.push({ text: text.slice(at, end), kind: "plain" });
    at = end;
  };
  for (const token of tokens(text)) {
    const wrong = misread.includes(token.text);
    const mistake = token.steps && misread.find((one) => token.text.includes(one.trim()));
    if (mistake && !wrong) {
      const from = token.start + token.text.indexOf(mistake.trim());
      plain(token.start);
      for (const [start, end, kind] of [
        [token.start, from, "chip"],
        [from, from + mistake.trim().length, "misread"],
        [from + mistake.trim().length, token.end, "chip"],
      ] as const)
        if (end > start) drawn.push({ text: text.slice(start, end), kind });
      at = token.end;
      continue;
    }
    if (!wrong && !token.steps && !isKeyed(token, keys)) continue;
    plain(token.start);
    drawn.push({ text: token.text, kind: wrong ? "misread" : "chip" });
    at = token.end;
  }
  plain(text.length);
  return drawn;
}

/** Prefix matches first, then matches inside. */
const ranked = <T>(all: readonly T[], word: string, name: (one: T) => string): T[] => {
  const sought = word.toLowerCase();
  const at = all.map((one) => name(one).toLowerCase().indexOf(sought));
  return [
    ...all.filter((_, index) => at[index] === 0),
    ...all.filter((_, index) => (at[index] ?? -1) > 0),
  ];
};

/** Values arrive as typed, with quotes. */
function ofKey(facets: Facets, head: string, key: string, values: string): Option[] {
  const facet = facets.keys.find((one) => one.key === key.toLowerCase());
  if (!facet) return [];
  if (facet.key === "score") return scorers(facets, head, values);
  // Commas mean or: only the last value is being typed.
  const before = values.slice(0, values.lastIndexOf(",") + 1);
  return ranked(facet.values, unquote(values.slice(before.length)), (one) => unquote(one.value))
    .slice(0, MOST)
    .map((one) => ({
      insert: `${head}${before}${one.value} `,
      label: unquote(one.value),
      about: one.count === null ? "" : count(one.count),
    }));
}

/** The scorers, to compare the score of one: `score:fields<`. */
function scorers(facets: Facets, head: string, values: string): Option[] {
  const before = values.slice(0, values.lastIndexOf(",") + 1);
  const all = facets.keys.find((one) => one.key === "scorer")?.values ?? [];
  return ranked(all, unquote(values.slice(before.length)), (one) => unquote(one.value))
    .slice(0, MOST)
    .map((one) => ({
      insert: `${head}${before}${one.value}<`,
      label: unquote(one.value),
      about: "its score, less than a number",
    }));
}

/** Parts of answers that begin like this: `answer.items[0].id=`. */
const partsOf = (facets: Facets, sign: string, word: string): Option[] =>
  facets.parts
    .filter((part) => isPart(word) && part.toLowerCase().startsWith(word.toLowerCase()))
    .slice(0, MOST)
    .map((part) => ({ insert: `${sign}${part}=`, label: part, about: "part of the answer" }));

function ofWord(facets: Facets, sign: string, word: string): Option[] {
  const found = ranked(facets.keys, word, (one) => one.key).map((one) => ({
    insert: `${sign}${one.key}:`,
    label: `${one.key}:`,
    about: one.about,
  }));
  const steps = ranked(STEPS, word, ([name]) => name)
    .slice(0, word === "" ? 1 : MOST)
    .map(([name, about]) => ({ insert: `${sign}${name}(`, label: `${name}(`, about }));
  const keys = [...found.slice(0, MOST - steps.length), ...steps];
  if (word.length < 2) return keys;
  if (isPart(word)) return partsOf(facets, sign, word);
  const values = facets.keys.flatMap((facet) =>
    ranked(facet.values, word, (one) => unquote(one.value)).map((one) => ({
      insert: `${sign}${facet.key}:${one.value} `,
      label: `${facet.key}:${unquote(one.value)}`,
      about: one.count === null ? "" : count(one.count),
    })),
  );
  return [...keys, ...values].slice(0, MOST);
}

const option = (insert: string, about: string, label = insert): Option => ({
  insert,
  label: label.trim(),
  about,
});
const CONDITIONS: readonly (readonly [insert: string, about: string])[] = [
  ["failed}", "it failed"],
  ["ok}", "it worked"],
  ["same}", "same call as the one before"],
  ["args~", "a text or /regular expression/ in its arguments"],
  ["result~", "a text or /regular expression/ in its result"],
  ["result>", "a number in its result"],
];
const AFTER: readonly (readonly [insert: string, about: string])[] = [
  ["then ", "a later step"],
  ["then no ", "no such step after it"],
  ["then next ", "the very next step"],
];

/** What may follow in a question about steps, typed up to the caret. */
function ofQuestion(typed: string, facets: Facets): { word: string; options: Option[] } {
  const none = { word: "", options: [] };
  const name = /(?:^|\s|[-!])call\((?:[^()]*,)?\s*([^(),\s]*)$/iu.exec(typed);
  if (name) {
    const word = name[1] ?? "";
    const tools = facets.keys.find((facet) => facet.key === "tool")?.values ?? [];
    const options = ranked(tools, unquote(word), (one) => unquote(one.value)).slice(0, MOST);
    return {
      word,
      options: options.map((one) =>
        option(`${one.value})`, count(one.count ?? 0), unquote(one.value)),
      ),
    };
  }
  const condition = /\{(?:[^{}]*,)?\s*([a-z]*)$/iu.exec(typed);
  if (condition) {
    const word = condition[1] ?? "";
    const follows = /\sthen\s/iu.test(typed);
    const options = CONDITIONS.filter(([insert]) => follows || insert !== "same}").filter(
      ([insert]) => insert.startsWith(word.toLowerCase()),
    );
    return {
      word,
      options: options.map(([insert, about]) => option(insert, about, insert.replace("}", ""))),
    };
  }
  const step = /\sthen\s+(?:next\s+|(no)\s+)?([a-z]*)$/iu.exec(typed);
  if (step) {
    const word = step[2] ?? "";
    const steps = STEPS.map(([one, about]) =>
      option(
        one === "answer" ? "answer " : `${one}(`,
        step[1] ? about.replace(/^(?:an?|the)/u, "no") : about,
      ),
    );
    const more = step[1] ? [] : [option("no answer ", "the run ends without an answer")];
    return { word, options: ranked([...steps, ...more], word, (one) => one.label) };
  }
  const after = /[)}](\s*)([a-z]*)$/iu.exec(typed);
  if (!after) return none;
  const word = after[2] ?? "";
  if (after[1] === "" && word !== "") return none;
  const space = after[1] === "" ? " " : "";
  const then = AFTER.map(([insert, about]) => option(space + insert, about)).filter((one) =>
    one.label.startsWith(word.toLowerCase()),
  );
  if (space === "") return { word, options: then };
  const conditions = /(?:call|program)\([^()]*\)$/iu.test(typed)
    ? [option("{", "conditions: failed, args~text, result>100")]
    : [];
  const counted = /\sthen\s/iu.test(typed) ? [] : [option(">=2", "how many of them")];
  return { word, options: [...conditions, ...then, ...counted] };
}

/** Completions at the caret. */
export function complete(text: string, caret: number, facets: Facets): Completion {
  const before = tokens(text.slice(0, caret)).at(-1);
  // After a finished question, a word may be `then` or a condition of its own.
  const asked = before?.steps
    ? before
    : tokens(text.slice(0, before?.start ?? 0)).findLast((one) => one.steps);
  if (
    asked &&
    text.slice(asked.end, caret).trim().length ===
      (asked === before ? 0 : (before?.text.length ?? 0))
  ) {
    const { word, options } = ofQuestion(text.slice(asked.start, caret), facets);
    if (options.length > 0) return { start: caret - word.length, end: caret, options, steps: true };
    if (asked === before && asked.end === caret) return { start: caret, end: caret, options: [] };
  }
  const token = tokens(text).find((one) => one.start < caret && caret <= one.end);
  const start = token?.start ?? caret;
  const end = token?.end ?? caret;
  const typed = text.slice(start, caret);
  const keyed = KEYED.exec(typed);
  const sign = /^[-!]/u.exec(typed)?.[0] ?? "";
  const word = typed.slice(sign.length);
  const options = keyed
    ? ofKey(facets, `${sign}${keyed[2] ?? ""}:`, keyed[2] ?? "", keyed[3] ?? "")
    : word.startsWith('"')
      ? []
      : ofWord(facets, sign, word);
  return { start, end, options: options.filter((option) => option.insert.trim() !== typed) };
}

/**
 * The option that Enter takes without arrow keys; -1 for none. A word equal to a value, such as a
 * model, selects that value; a prefix after a key selects the first match.
 */
export function preselected(text: string, at: Completion, facets: Facets): number {
  const typed = text.slice(at.start, at.end);
  if (at.steps)
    return typed === ""
      ? -1
      : at.options.findIndex((one) => one.label.toLowerCase().startsWith(typed.toLowerCase()));
  const keyed = KEYED.exec(typed);
  const word = unquote(typed.replace(/^[-!]/u, "")).toLowerCase();
  if (!keyed)
    return word === ""
      ? -1
      : at.options.findIndex(
          (option) => option.label.toLowerCase().replace(/^[a-z_]+:/u, "") === word,
        );
  const values = facets.keys.find((facet) => facet.key === keyed[2]?.toLowerCase())?.values ?? [];
  const last = unquote((keyed[3] ?? "").split(",").at(-1) ?? "").toLowerCase();
  if (last === "" || values.some((one) => unquote(one.value).toLowerCase() === last)) return -1;
  return at.options.findIndex((option) => option.label.toLowerCase().startsWith(last));
}

/** Text and caret after an option was accepted. */
export function accept(
  text: string,
  at: Completion,
  option: Option,
): { text: string; caret: number } {
  const rest = text.slice(at.end);
  const insert =
    option.insert.endsWith(" ") && rest.startsWith(" ") ? option.insert.trimEnd() : option.insert;
  return { text: text.slice(0, at.start) + insert + rest, caret: at.start + insert.length };
}

/** Filter for runs of the same task and variation, as far as known. */
export function sameTask(row: { task: string | null; variation: number | null }): string {
  const of = (key: string, value: string | number | null) =>
    value === null ? [] : [`${key}:${quote(String(value))}`];
  return [...of("task", row.task), ...of("variation", row.variation)].join(" ");
}

const FAILURE_CLASSES: Record<FailureClass, true> = {
  wrong_answer: true,
  no_answer: true,
  missing_tool_call: true,
  tool_error: true,
  gave_up: true,
  system_error: true,
  timeout: true,
};
/** Filter of the runs that failed, for whatever reason. */
export const FAILED = `class:${Object.keys(FAILURE_CLASSES).join(",")}`;

/** The filter with wildcards around paths of `file:`; null if it has none without them. */
export function withWildcards(q: string): string | null {
  const all = tokens(q);
  const isWhole = (token: Token) =>
    token.key === "file" && !token.negated && quote(token.value) === token.value;
  if (!all.some(isWhole)) return null;
  return all.map((token) => (isWhole(token) ? `file:*${token.value}*` : token.text)).join(" ");
}
