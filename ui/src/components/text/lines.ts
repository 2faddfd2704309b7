// Pure. Splits long text into rows for a virtual list: one row per line, several for a very long
// line.

export interface Row {
  text: string;
  /** From 1; 0 if the row continues the previous line. */
  line: number;
  /** Byte offset of the row in the UTF-8 text. */
  byte: number;
}

/** Characters of a line before it continues in another row. */
export const LONGEST_ROW = 1000;

/** Splits text that arrives in pieces; a line may span pieces. */
export class Rows {
  readonly rows: Row[] = [];
  /** Lines started so far. */
  lines = 0;
  private byte = 0;
  private rest = "";
  private continued = false;

  /** Adds a piece. `last` ends the last line if it has no line feed. */
  push(piece: string, last: boolean): void {
    const text = this.rest + piece;
    let from = 0;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
      this.line(text.slice(from, at), "\n");
      from = at + 1;
    }
    this.rest = text.slice(from);
    while (this.rest.length > LONGEST_ROW * 2) {
      const cut = wordBreak(this.rest, 0);
      this.row(this.rest.slice(0, cut));
      this.rest = this.rest.slice(cut);
      this.continued = true;
    }
    if (last && (this.rest !== "" || this.rows.length === 0)) {
      this.line(this.rest, "");
      this.rest = "";
    }
  }

  private line(text: string, end: string): void {
    let from = 0;
    while (text.length - from > LONGEST_ROW) {
      const cut = wordBreak(text, from);
      this.row(text.slice(from, cut));
      this.continued = true;
      from = cut;
    }
    this.row(text.slice(from));
    this.continued = false;
    this.byte += end.length;
  }

  private row(text: string): void {
    if (!this.continued) this.lines++;
    this.rows.push({
      text: text.endsWith("\r") ? text.slice(0, -1) : text,
      line: this.continued ? 0 : this.lines,
      byte: this.byte,
    });
    this.byte += byteLength(text);
  }
}

/** The beginning of a text, limited in lines and characters. */
export function head(text: string, lines: number, chars: number): string {
  let at = -1;
  for (let n = 0; n < lines; n++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0 || at > chars) break;
  }
  const end = at < 0 ? text.length : at;
  return end <= chars ? text.slice(0, end) : text.slice(0, boundary(text, chars));
}

/** Number of lines; a trailing line feed starts no new line. */
export function countLines(text: string): number {
  let n = text === "" || text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) n++;
  return n;
}

/** Length in bytes of UTF-8, without encoding. */
export function byteLength(text: string): number {
  let n = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // A surrogate pair is four bytes: two for each half.
    n += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return n;
}

/** The row that contains a byte. */
export function rowAt(rows: readonly Row[], byte: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const mid = Math.ceil((low + high) / 2);
    if ((rows[mid]?.byte ?? 0) <= byte) low = mid;
    else high = mid - 1;
  }
  return low;
}

/** Most characters that a row gives up so that it ends with a word. */
const WORD = 100;
/** End of the row of a long line that begins at a place: behind a space, if there is one near. */
function wordBreak(text: string, from: number): number {
  const end = boundary(text, from + LONGEST_ROW);
  const space = text.lastIndexOf(" ", end - 1) + 1;
  return space > end - WORD ? space : end;
}

function boundary(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
