// Pure. Finds texts by their words, by other words for them, or by letters in order, of which word
// starts and consecutive ones score higher.

const begins = (text: string, at: number) => at === 0 || /[\s\-_/.:]/.test(text[at - 1] ?? "");

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
  return score - text.length / 500;
}

/**
 * How a text is meant by what is sought, larger is better: it begins with it, its words do, it holds
 * it, or another word for it begins with it. 0 for none of these.
 */
function rank(sought: string, text: string, others: readonly string[]): number {
  const low = text.toLowerCase();
  const beginsWord = (word: string) => {
    for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + 1))
      if (begins(low, at)) return true;
    return false;
  };
  if (low.startsWith(sought)) return 4;
  if (sought.split(/\s+/).every(beginsWord)) return 3;
  if (low.includes(sought)) return 2;
  return others.some((word) => word.startsWith(sought)) ? 1 : 0;
}

/**
 * Matching items, best first; those of equal rank in their order, those that only have the letters
 * by their score. `others` returns further words, in lower case, by which an item is found.
 */
export function sift<T>(
  all: readonly T[],
  sought: string,
  name: (one: T) => string,
  others: (one: T) => readonly string[] = () => [],
): T[] {
  const wanted = sought.trim().toLowerCase();
  if (wanted === "") return [...all];
  return all
    .map((one) => {
      const ranked = rank(wanted, name(one), others(one));
      return { one, ranked, score: ranked > 0 ? 0 : fuzzy(wanted, name(one)) };
    })
    .filter((found): found is { one: T; ranked: number; score: number } => found.score !== null)
    .sort((left, right) => right.ranked - left.ranked || right.score - left.score)
    .map(({ one }) => one);
}
