// Pure. Formulas in Markdown stay text, to the letter: what stands between $…$, $$…$$, \(…\) or \[…\] is no emphasis, no escape, no
// list. While the text is read, characters that mean something stand as others that mean nothing, in the same places; what is
// wrongly taken for a formula comes out as it was written, too.

/**
 * Of one line, and not longer than anybody writes one; the end of a price is none, and none
 * reaches from one cell of a table into the next. Formulas of their own may have more lines, but no empty one.
 */
const FORMULA = /\$\$(?:[^$`\n]|\n(?![ \t]*\n)){1,2000}?\$\$|\$(?![\s$])(?:[^$`\n|]|(?<! )\|(?! )){0,1000}?(?<=[^\s\\])\$(?!\d)|\\\([^`\n]{1,1000}?\\\)|\\\[(?:[^`\n]|\n(?![ \t]*\n)){1,2000}?\\\]/g;
const MEANT = "\\*_[]<>&!|~#+-=:";
const FIRST = 0xe000;
const SIGNS = /[\\*_[\]<>&!|~#+\-=:]/g;
const STOOD_FOR = new RegExp(`[\\u{${FIRST.toString(16)}}-\\u{${(FIRST + MEANT.length - 1).toString(16)}}]`, "gu");

/** The same text, as long and with the same lines, whose formulas mean nothing to a reader of Markdown; and how a piece of it was written. */
export function hideFormulas(source: string): { hidden: string; shown: (text: string) => string } {
  // Whoever uses the characters themselves keeps them.
  if (!/[$\\]/.test(source) || source.search(STOOD_FOR) >= 0) return { hidden: source, shown: (text) => text };
  const hide = (sign: string) => String.fromCharCode(FIRST + MEANT.indexOf(sign));
  const show = (sign: string) => MEANT[sign.charCodeAt(0) - FIRST] ?? sign;
  return { hidden: source.replace(FORMULA, (formula) => formula.replace(SIGNS, hide)), shown: (text) => text.replace(STOOD_FOR, show) };
}
