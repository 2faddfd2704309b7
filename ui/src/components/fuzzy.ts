// Pure. Fuzzy match of letters in order; word starts and consecutive letters score higher.

const begins = (text: string, at: number) => at === 0 || /[\s\-_/.:]/.test(text[at - 1] ?? "");

/** Score of a text that holds what is sought as it is, wherever its letters occur before. */
function substringScore(sought: string, text: string, letters: number): number {
  const at = text.indexOf(sought);
  return at < 0 ? -Infinity : (begins(text, at) ? 3 : 0) + 4 * (letters - 1) - Math.min(at, 8) / 16;
}

/** Match score, larger is better; null if there is no match. */
export function fuzzy(sought: string, text: string): number | null {
  const letters = sought.toLowerCase().replace(/\s+/g, "");
  const low = text.toLowerCase();
  let score = 0;
  let last = -1;
  for (const letter of letters) {
    const at = low.indexOf(letter, last + 1);
    if (at < 0) return null;
    score += at === last + 1 && last >= 0 ? 4 : begins(low, at) ? 3 : 0;
    score -= Math.min(at - last - 1, 8) / 16;
    last = at;
  }
  return (
    Math.max(score, substringScore(sought.trim().toLowerCase(), low, letters.length)) -
    text.length / 500
  );
}

/** Score of a text, or of another word for it, which has to start with what is sought. */
function score(sought: string, text: string, words: readonly string[]): number | null {
  const own = fuzzy(sought, text);
  const start = sought.trim().toLowerCase();
  const other = words.some((word) => word.startsWith(start)) ? (fuzzy(start, start) ?? 0) : null;
  return own === null ? other : other === null ? own : Math.max(own, other);
}

/**
 * Matching items, best first; all in their order for an empty search. `others` returns further
 * words, in lower case, by which an item is found.
 */
export function sift<T>(
  all: readonly T[],
  sought: string,
  name: (one: T) => string,
  others: (one: T) => readonly string[] = () => [],
): T[] {
  if (sought.trim() === "") return [...all];
  return all
    .map((one) => ({ one, score: score(sought, name(one), others(one)) }))
    .filter((scored): scored is { one: T; score: number } => scored.score !== null)
    .sort((left, right) => right.score - left.score)
    .map(({ one }) => one);
}
