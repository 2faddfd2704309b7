// Pure. Parses terminal colours (SGR sequences) into styled text. Other escape sequences stay
// visible in the text.

/** Style of a piece of terminal text, as class names of the theme. */
export interface Styled {
  text: string;
  classes: string;
}

interface Pen {
  fg: number;
  bg: number;
  flags: Set<string>;
}

const ON: Record<number, string> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
};
const OFF: Record<number, string[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
};

const SGR = /\u001b\[([\d;:]{0,64})m/g;

/** True if [`ansi`] would change the text. */
export function hasAnsi(text: string): boolean {
  return text.includes("\u001b[");
}

/**
 * Splits a text at its colour changes. The pieces joined are the text without the colour sequences.
 */
export function ansi(text: string): Styled[] {
  const out: Styled[] = [];
  const pen: Pen = { fg: -1, bg: -1, flags: new Set() };
  let from = 0;
  const push = (to: number) => {
    if (to > from) out.push({ text: text.slice(from, to), classes: classes(pen) });
  };
  for (const match of text.matchAll(SGR)) {
    push(match.index);
    from = match.index + match[0].length;
    apply(pen, (match[1] ?? "").split(/[;:]/).map(Number));
  }
  push(text.length);
  return out;
}

function apply(pen: Pen, codes: number[]): void {
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] ?? 0;
    if (code === 38 || code === 48) {
      const [colour, used] = extended(codes, i + 1);
      if (code === 38) pen.fg = colour;
      else pen.bg = colour;
      i += used;
    } else applyCode(pen, code);
  }
}

function applyCode(pen: Pen, code: number): void {
  if (code === 0) {
    pen.fg = pen.bg = -1;
    pen.flags.clear();
  } else if (ON[code]) pen.flags.add(ON[code]);
  else if (OFF[code]) OFF[code].forEach((flag) => pen.flags.delete(flag));
  else if (code >= 30 && code <= 37) pen.fg = code - 30;
  else if (code >= 90 && code <= 97) pen.fg = code - 82;
  else if (code === 39) pen.fg = -1;
  else if (code >= 40 && code <= 47) pen.bg = code - 40;
  else if (code >= 100 && code <= 107) pen.bg = code - 92;
  else if (code === 49) pen.bg = -1;
}

/**
 * Maps 256 colours and true colour to the sixteen of the theme, which are readable on light and
 * dark.
 */
function extended(codes: number[], at: number): [colour: number, used: number] {
  if (codes[at] === 5) return [from256(codes[at + 1] ?? 0), 2];
  if (codes[at] === 2)
    return [nearest(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), 4];
  return [-1, 0];
}

function from256(n: number): number {
  if (n < 16) return n;
  if (n >= 232) return nearest((n - 232) * 10 + 8, (n - 232) * 10 + 8, (n - 232) * 10 + 8);
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const c = n - 16;
  return nearest(level(Math.floor(c / 36)), level(Math.floor(c / 6) % 6), level(c % 6));
}

function nearest(r: number, g: number, b: number): number {
  const top = Math.max(r, g, b);
  if (top < 48) return 0;
  if (top - Math.min(r, g, b) < 32) return top > 208 ? 15 : top > 128 ? 7 : 8;
  const bit = (v: number) => (v > top * 0.6 ? 1 : 0);
  return bit(r) + 2 * bit(g) + 4 * bit(b) + (top > 208 ? 8 : 0);
}

function classes(pen: Pen): string {
  const names = [...pen.flags];
  if (pen.fg >= 0) names.push(`fg${pen.fg}`);
  if (pen.bg >= 0) names.push(`bg${pen.bg}`);
  return names.join(" ");
}
