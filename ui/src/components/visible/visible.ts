// Pure. Makes characters visible that hide or reorder text: control characters, bidi overrides,
// zero-width characters.

/** A piece of text, or the label of one invisible character. */
export interface Piece {
  text: string;
  /** Name of the character if the piece is a label; empty for text. */
  hidden: string;
}

const NAMES: Record<number, string> = {
  0x00: "null",
  0x07: "bell",
  0x08: "backspace",
  0x0b: "vertical tab",
  0x0c: "form feed",
  0x0d: "carriage return",
  0x1b: "escape",
  0x7f: "delete",
  0xad: "soft hyphen",
  0x61c: "arabic letter mark",
  0x180e: "vowel separator",
  0x200b: "zero-width space",
  0x200c: "zero-width non-joiner",
  0x200d: "zero-width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of direction change",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "end of isolate",
  0xfeff: "byte order mark",
};

// Characters that are invisible or reorder text. Tab, line feed and joiners in emoji are allowed.
const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u061C\\u115F\\u1160\\u180E\\u200B-\\u200F" +
    "\\u2028-\\u202E\\u2060-\\u206F\\u3164\\uFEFF\\uFFA0\\uFFF9-\\uFFFB\\u{E0000}-\\u{E01EF}\\uD800-\\uDFFF]",
  "gu",
);
const EMOJI_BEFORE = /[\p{Extended_Pictographic}\u{1F3FB}-\u{1F3FF}\uFE0F]$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;

/** Splits a text into visible text and labels. Ordinary text is unchanged. */
export function visible(text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const char = match[0];
    const at = match.index;
    if (char === "\u200D" && joinsEmoji(text, at)) continue;
    if (at > from) pieces.push({ text: text.slice(from, at), hidden: "" });
    const code = char.codePointAt(0) ?? 0;
    pieces.push({ text: label(code), hidden: NAMES[code] ?? "hidden character" });
    from = at + char.length;
  }
  if (from < text.length || pieces.length === 0)
    pieces.push({ text: text.slice(from), hidden: "" });
  return pieces;
}

/** Like `visible`, as one string, for titles and attributes. Line ends become spaces. */
export function visibleLine(text: string): string {
  return visible(text.replace(/\s*\r?\n\s*/g, " "))
    .map((piece) => (piece.hidden ? `‹${piece.text}›` : piece.text))
    .join("");
}

function joinsEmoji(text: string, at: number): boolean {
  return (
    EMOJI_BEFORE.test(text.slice(Math.max(0, at - 2), at)) &&
    EMOJI_AFTER.test(text.slice(at + 1, at + 3))
  );
}

function label(code: number): string {
  if (code === 0x1b) return "ESC";
  if (code === 0x0d) return "\\r";
  const hex = code.toString(16).toUpperCase();
  return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `U+${hex.padStart(4, "0")}`;
}
