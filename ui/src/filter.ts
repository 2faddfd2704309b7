// The text of a filter, taken apart for chips and completion. Pure. What a token means is decided by the engine and nowhere here.
import type { Facets } from "./generated/Facets";

export interface Token {
  start: number;
  end: number;
  /** As typed. */
  text: string;
  /** Before the colon, without a leading `-`; null for free text. */
  key: string | null;
  /** Without quotes. */
  value: string;
  negated: boolean;
}

export interface Option {
  /** What is put in place of the word under the caret. */
  insert: string;
  label: string;
  about: string;
}
export interface Completion {
  start: number;
  end: number;
  options: Option[];
}

const TOKEN = /(?:[^\s"]|"(?:[^"\\]|\\.)*(?:"|$))+/gsu;
const KEYED = /^(-?)([a-z_]+):(.*)$/su;
const MOST = 12;

export const unquote = (value: string): string => (value.startsWith('"') ? value.slice(1, value.length > 1 && value.endsWith('"') ? -1 : undefined).replace(/\\(.)/gsu, "$1") : value);

/** A value as it is typed: in quotes when it would otherwise be read as something else. */
export const quote = (value: string): string => (value !== "" && /^[^\s"<>=:-][^\s"]*$/u.test(value) ? value : `"${value.replace(/["\\]/gu, "\\$&")}"`);

export function tokens(text: string): Token[] {
  return [...text.matchAll(TOKEN)].map((found) => {
    const [typed] = found;
    const keyed = KEYED.exec(typed);
    return { start: found.index, end: found.index + typed.length, text: typed, key: keyed?.[2] ?? null, value: unquote(keyed?.[3] ?? typed), negated: keyed?.[1] === "-" };
  });
}

/** True when the filter asks for this value. */
export const has = (text: string, key: string, value: string): boolean => tokens(text).some((token) => token.key === key && token.value === value && !token.negated);

/** The filter with the value asked for, or without when it was. */
export function toggle(text: string, key: string, value: string): string {
  const all = tokens(text);
  const kept = all.filter((token) => !(token.key === key && token.value === value && !token.negated));
  const words = kept.map((token) => token.text);
  if (kept.length === all.length) words.push(`${key}:${quote(value)}`);
  return words.join(" ");
}

/** The text taken apart for drawing: keyed tokens that are known, and what lies between. */
export function pieces(text: string, keys: readonly string[], misread: readonly string[]): { text: string; kind: "chip" | "misread" | "plain" }[] {
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

/** Those that begin so first, then those that have it inside. */
const ranked = <T>(all: readonly T[], word: string, name: (one: T) => string): T[] => {
  const sought = word.toLowerCase();
  const at = all.map((one) => name(one).toLowerCase().indexOf(sought));
  return [...all.filter((_, index) => at[index] === 0), ...all.filter((_, index) => (at[index] ?? -1) > 0)];
};

function ofKey(facets: Facets, sign: string, key: string, typed: string): Option[] {
  const facet = facets.keys.find((one) => one.key === key);
  if (!facet) return [];
  return ranked(facet.values, unquote(typed), (one) => one.value)
    .slice(0, MOST)
    .map((one) => ({ insert: `${sign}${key}:${quote(one.value)} `, label: one.value, about: one.count.toLocaleString("en-US") }));
}

function ofWord(facets: Facets, sign: string, word: string): Option[] {
  const keys = ranked(facets.keys, word, (one) => one.key).map((one) => ({ insert: `${sign}${one.key}:`, label: `${one.key}:`, about: one.about }));
  if (word.length < 2) return keys.slice(0, MOST);
  const values = facets.keys.flatMap((facet) => ranked(facet.values, word, (one) => one.value).map((one) => ({ insert: `${sign}${facet.key}:${quote(one.value)} `, label: `${facet.key}:${one.value}`, about: one.count.toLocaleString("en-US") })));
  return [...keys, ...values].slice(0, MOST);
}

/** What could stand where the caret is. */
export function complete(text: string, caret: number, facets: Facets): Completion {
  const token = tokens(text).find((one) => one.start < caret && caret <= one.end);
  const start = token?.start ?? caret;
  const end = token?.end ?? caret;
  const typed = text.slice(start, caret);
  const keyed = KEYED.exec(typed);
  const sign = typed.startsWith("-") ? "-" : "";
  const options = keyed ? ofKey(facets, sign, keyed[2] ?? "", keyed[3] ?? "") : typed.startsWith('"') ? [] : ofWord(facets, sign, typed.slice(sign.length));
  return { start, end, options: options.filter((option) => option.insert.trim() !== typed) };
}

/** The text and the caret after an option was taken. */
export function accept(text: string, at: Completion, option: Option): { text: string; caret: number } {
  const rest = text.slice(at.end);
  const insert = option.insert.endsWith(" ") && rest.startsWith(" ") ? option.insert.trimEnd() : option.insert;
  return { text: text.slice(0, at.start) + insert + rest, caret: at.start + insert.length };
}
