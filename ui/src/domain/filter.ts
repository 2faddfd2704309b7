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
}

const TOKEN = /(?:[^\s"]|"(?:[^"\\]|\\.?)*(?:"|$))+/gsu;
// `turns>5` is a token like `turns:>5`; the sign belongs to the value.
const KEYED = /^([-!]?)([a-z_]+)(?::|(?=[<>=]))(.*)$/isu;
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

export function tokens(text: string): Token[] {
  return [...text.matchAll(TOKEN)].map((found) => {
    const [typed] = found;
    const keyed = KEYED.exec(typed);
    const negated = NEGATED.test(typed);
    return {
      start: found.index,
      end: found.index + typed.length,
      text: typed,
      key: keyed?.[2]?.toLowerCase() ?? null,
      value: unquote(keyed?.[3] ?? typed.slice(negated ? 1 : 0)),
      negated,
    };
  });
}

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
  return (only(text, key, value) ? typed : [...typed, `${key}:${quote(value)}`]).join(" ");
}

/** Joins two filters. An open quote ends with its own filter. */
export function both(one: string, other: string): string {
  let open = false;
  let dangling = false;
  for (let at = 0; at < one.length; at++) {
    if (open && one[at] === "\\") dangling = ++at === one.length;
    else if (one[at] === '"') open = !open;
  }
  const closed = open ? `${one}${dangling ? "\\" : ""}"` : one;
  return [closed.trim(), other.trim()].filter((part) => part !== "").join(" ");
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
        token.value !== "" &&
        !misread.includes(token.text) &&
        (token.key === null || (keys.length > 0 && !keys.includes(token.key))),
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
    if (!wrong && (token.key === null || !keys.includes(token.key))) continue;
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
  // Commas mean or: only the last value is being typed.
  const before = values.slice(0, values.lastIndexOf(",") + 1);
  return ranked(facet.values, unquote(values.slice(before.length)), (one) => unquote(one.value))
    .slice(0, MOST)
    .map((one) => ({
      insert: `${head}${before}${one.value} `,
      label: unquote(one.value),
      about: count(one.count),
    }));
}

function ofWord(facets: Facets, sign: string, word: string): Option[] {
  const keys = ranked(facets.keys, word, (one) => one.key).map((one) => ({
    insert: `${sign}${one.key}:`,
    label: `${one.key}:`,
    about: one.about,
  }));
  if (word.length < 2) return keys.slice(0, MOST);
  const values = facets.keys.flatMap((facet) =>
    ranked(facet.values, word, (one) => unquote(one.value)).map((one) => ({
      insert: `${sign}${facet.key}:${one.value} `,
      label: `${facet.key}:${unquote(one.value)}`,
      about: count(one.count),
    })),
  );
  return [...keys, ...values].slice(0, MOST);
}

/** Completions at the caret. */
export function complete(text: string, caret: number, facets: Facets): Completion {
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
