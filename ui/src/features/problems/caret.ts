// Pure. A line of a file with a caret below a column.

const LONGEST = 160;
const BEFORE = 60;

export interface CaretLine {
  text: string;
  /** Padding before the caret; null if the column is unknown. */
  pad: string | null;
}

/**
 * Keeps tabs in the padding, so that the caret aligns at any tab width; cuts long lines around the
 * column. Columns count characters from 1.
 */
export function caret(line: string, column: number | null): CaretLine {
  const letters = [...line.replace(/[\r\n]+$/, "")];
  const at = column === null ? null : Math.min(Math.max(0, column - 1), letters.length);
  const from = letters.length > LONGEST && at !== null ? Math.max(0, at - BEFORE) : 0;
  const piece = letters.slice(from, from + LONGEST);
  const [head, tail] = [from > 0 ? "…" : "", from + LONGEST < letters.length ? "…" : ""];
  const pad =
    at === null
      ? null
      : head.replace(/./gu, " ") +
        piece
          .slice(0, at - from)
          .map((letter) => (letter === "\t" ? "\t" : " "))
          .join("");
  return { text: head + piece.join("") + tail, pad };
}
