// Pure. Formulas in Markdown stay text, to the letter: what stands between $…$, $$…$$, \(…\) or \[…\] is no emphasis, no escape, no
// list. While the text is read, characters that mean something stand as others that mean nothing, in the same places; what is
// wrongly taken for a formula comes out as it was written, too.

/**
 * Of one line, and not longer than anybody writes one; the end of a price is none, nor is the beginning of a name, and none
 * reaches from one cell of a table into the next. Formulas of their own may have more lines, but no empty one.
 */
const FORMULA =
  /\$\$(?:[^$`\n]|\n(?![ \t]*\n)){1,2000}?\$\$|(?<!\w)\$(?![\s$])(?:[^$`\n|]|(?<! )\|(?! )){0,1000}?(?<=[^\s\\])\$(?!\w)|\\\([^`\n]{1,1000}?\\\)|\\\[(?:[^`\n]|\n(?![ \t]*\n)){1,2000}?\\\]/g;
const MEANT = "\\*_[]<>&!|~#+-=:";
const FIRST = 0xe000;
const SIGNS = /[\\*_[\]<>&!|~#+\-=:]/g;
const STOOD_FOR = new RegExp(
  `[\\u{${FIRST.toString(16)}}-\\u{${(FIRST + MEANT.length - 1).toString(16)}}]`,
  "gu",
);

/** Brackets within a line that only escape: what stands between them has no sign of a formula. */
function isEscape(formula: string, source: string, at: number): boolean {
  let before = at - 1;
  while (source[before] === " " || source[before] === "\t") before--;
  const alone = before < 0 || source[before] === "\n";
  return formula.startsWith("\\[") && !alone && !/[\\^_=]/.test(formula.slice(2, -2));
}

/** The same text, as long and with the same lines, whose formulas mean nothing to a reader of Markdown; and how a piece of it was written. */
export function hideFormulas(source: string): { hidden: string; shown: (text: string) => string } {
  // Whoever uses the characters themselves keeps them, also by their numbers.
  if (!/[$\\]/.test(source) || source.includes("&#") || source.search(STOOD_FOR) >= 0)
    return { hidden: source, shown: (text) => text };
  const hide = (sign: string) => String.fromCharCode(FIRST + MEANT.indexOf(sign));
  const show = (sign: string) => MEANT[sign.charCodeAt(0) - FIRST] ?? sign;
  const hidden = source.replace(FORMULA, (formula, at: number) =>
    isEscape(formula, source, at) ? formula : formula.replace(SIGNS, hide),
  );
  return { hidden, shown: (text) => text.replace(STOOD_FOR, show) };
}
