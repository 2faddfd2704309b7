// Context of an open run: readers of its parts and the position to reveal.
import { createContext } from "svelte";
import type { RowPiece, TextPiece } from "../../generated";
import type { GridOrder } from "../../components/grid/grid";

/** A position within a part to scroll to. A new object repeats it. */
export interface Reveal {
  part: string;
  offset: number;
  row: number | null;
}

export interface OpenRun {
  readonly model: string | null;
  readonly reveal: Reveal | undefined;
  /** Opens a link outside this page; undefined where new windows are not allowed. */
  readonly onopen: ((href: string) => void) | undefined;
  readText(part: string, offset: number, limit: number): Promise<TextPiece>;
  readRows(part: string, offset: number, limit: number, order: GridOrder): Promise<RowPiece>;
  readCsv(part: string): Promise<string>;
}

export const [openRun, setOpenRun] = createContext<OpenRun>();

const PIECE = 1024 * 1024;
const MOST_COPIED = 64 * 1024 * 1024;

/** The full text of a part, for the clipboard. */
export async function wholeText(run: OpenRun, part: string): Promise<string> {
  let text = "";
  for (let offset: number | null = 0; offset !== null;) {
    if (offset > MOST_COPIED) throw new Error("Longer than 64 MB; copy it from the file.");
    const piece: TextPiece = await run.readText(part, offset, PIECE);
    text += piece.text;
    offset = piece.next;
  }
  return text;
}
