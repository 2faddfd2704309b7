// Pure. Keeps formulas in Markdown literal: text in $…$, $$…$$, \(…\) or \[…\] is no emphasis,
// escape or list. Before parsing, special characters in formulas are replaced by neutral ones at
// the same positions. Text wrongly taken for a formula is restored unchanged, too.

/**
 * Formulas within a line, with a length limit. Prices and names with a dollar sign are not
 * formulas, and none spans table cells. Display formulas may have several lines, but no empty one.
 */
const FORMULA = new RegExp(
  [
    /\$\$(?:[^$`\n]|\n(?![ \t]*\n)){1,2000}?\$\$/,
    /(?<!\w)\$(?![\s$])(?:[^$`\n|]|(?<! )\|(?! )){0,1000}?(?<=[^\s\\])\$(?!\w)/,
    /\\\([^`\n]{1,1000}?\\\)/,
    /\\\[(?:[^`\n]|\n(?![ \t]*\n)){1,2000}?\\\]/,
  ]
    .map((form) => form.source)
    .join("|"),
  "g",
);
const MEANT = "\\*_[]<>&!|~#+-=:";
const FIRST = 0xe000;
const SIGNS = /[\\*_[\]<>&!|~#+\-=:]/g;
const STOOD_FOR = new RegExp(
  `[\\u{${FIRST.toString(16)}}-\\u{${(FIRST + MEANT.length - 1).toString(16)}}]`,
  "gu",
);

/** True for escaped brackets whose content does not look like a formula. */
function isEscape(formula: string, source: string, at: number): boolean {
  let before = at - 1;
  while (source[before] === " " || source[before] === "\t") before--;
  const alone = before < 0 || source[before] === "\n";
  return formula.startsWith("\\[") && !alone && !/[\\^_=]/.test(formula.slice(2, -2));
}

/**
 * The text with formulas neutralised, same length and lines, and a function that restores a piece
 * of it.
 */
export function hideFormulas(source: string): { hidden: string; shown: (text: string) => string } {
  // Text that uses the replacement characters itself, also as entities, stays unchanged.
  if (!/[$\\]/.test(source) || source.includes("&#") || source.search(STOOD_FOR) >= 0)
    return { hidden: source, shown: (text) => text };
  const hide = (sign: string) => String.fromCharCode(FIRST + MEANT.indexOf(sign));
  const show = (sign: string) => MEANT[sign.charCodeAt(0) - FIRST] ?? sign;
  const hidden = source.replace(FORMULA, (formula, at: number) =>
    isEscape(formula, source, at) ? formula : formula.replace(SIGNS, hide),
  );
  return { hidden, shown: (text) => text.replace(STOOD_FOR, show) };
}
