// Pure. Word diff of short texts that fit on a line, and of long ones line by line.
import type { DiffPiece } from "./diff";

/** Longer texts are compared only by common prefix and suffix. */
const MOST_WORDS = 400;
const LINE = /[^\n]*\n|[^\n]+$/gu;
const WORD = /\s+|[^\s\p{P}]+|\p{P}/gu;

/** Both texts merged, with shared pieces once. The pieces of one side joined equal that side. */
export function merged(left: string, right: string): DiffPiece[] {
  const [a, b] = [left.match(WORD) ?? [], right.match(WORD) ?? []];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  )
    end++;
  const [x, y] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const { pieces, put } = collected();
  put(a.slice(0, start).join(""), "same");
  if (x.length * y.length > MOST_WORDS * MOST_WORDS || x.length === 0 || y.length === 0) {
    put(x.join(""), "missing");
    put(y.join(""), "extra");
  } else between(x, y, put);
  put(a.slice(a.length - end).join(""), "same");
  return pieces;
}

type Put = (text: string, change: DiffPiece["change"]) => void;

/** Pieces in order; adjacent ones of one kind are joined. */
function collected(): { pieces: DiffPiece[]; put: Put } {
  const pieces: DiffPiece[] = [];
  const put: Put = (text, change) => {
    const last = pieces.at(-1);
    if (text === "") return;
    if (last?.change === change) last.text += text;
    else pieces.push({ text, change });
  };
  return { pieces, put };
}

/** Two texts that share less than this part are easier to read one after the other. */
const SHARED = 1 / 3;
const isReadable = (pieces: readonly DiffPiece[], left: string, right: string): boolean => {
  const same = pieces.filter(({ change, text }) => change === "same" && text.trim().length > 1);
  const shared = same.reduce((sum, { text }) => sum + text.length, 0);
  return shared >= SHARED * Math.min(left.length, right.length);
};

/**
 * Texts of several lines merged line by line, and by words in lines that changed. Null if they share
 * too little to be read as one, or are too long.
 */
export function mergedLines(left: string, right: string): DiffPiece[] | null {
  const [a, b] = [left.match(LINE) ?? [], right.match(LINE) ?? []];
  if (a.length * b.length > MOST_WORDS * MOST_WORDS) return null;
  const lines = collected();
  between(a, b, lines.put);
  const { pieces, put } = collected();
  for (const [at, { text, change }] of lines.pieces.entries()) {
    const next = lines.pieces[at + 1];
    const before = lines.pieces[at - 1];
    // A line is taken together with the one in its place.
    if (change === "extra" && before?.change === "missing") continue;
    const words = change === "missing" && next?.change === "extra" ? merged(text, next.text) : null;
    if (words === null) put(text, change);
    else if (isReadable(words, text, next?.text ?? ""))
      for (const word of words) put(word.text, word.change);
    else {
      put(text, "missing");
      put(next?.text ?? "", "extra");
    }
  }
  return isReadable(pieces, left, right) ? pieces : null;
}

/** The longest common subsequence of words; among differing words, the left side comes first. */
function between(x: string[], y: string[], put: Put): void {
  const width = y.length + 1;
  const best = new Uint32Array((x.length + 1) * width);
  const at = (i: number, j: number) => best[i * width + j] ?? 0;
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      best[i * width + j] =
        x[i] === y[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  let [i, j] = [0, 0];
  while (i < x.length || j < y.length) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      put(x[i] ?? "", "same");
      i++;
      j++;
    } else if (j >= y.length || (i < x.length && at(i + 1, j) >= at(i, j + 1)))
      put(x[i++] ?? "", "missing");
    else put(y[j++] ?? "", "extra");
  }
}

/** The pieces from shortly before the first difference, where space is short. */
export function fromFirst(pieces: readonly DiffPiece[], before = 18): DiffPiece[] {
  const [first, ...rest] = pieces;
  if (first?.change !== "same" || first.text.length <= before) return [...pieces];
  return [{ text: `…${first.text.slice(-before)}`, change: "same" }, ...rest];
}
