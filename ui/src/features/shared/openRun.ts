// What the pieces of an open run share: whose parts they read, and which of them is being looked for.
import { createContext } from "svelte";
import type { RowPiece } from "../../generated/RowPiece";
import type { TextPiece } from "../../generated/TextPiece";
import type { GridOrder } from "../../components/grid/grid";

/** A place within a part that is to be brought into sight. A new object asks again. */
export interface Reveal {
  part: string;
  offset: number;
  row: number | null;
}

export interface OpenRun {
  readonly model: string | null;
  readonly reveal: Reveal | undefined;
  /** Opens a link outside this page; not offered where new windows are refused. */
  readonly onopen: ((href: string) => void) | undefined;
  readText(part: string, offset: number, limit: number): Promise<TextPiece>;
  readRows(part: string, offset: number, limit: number, order: GridOrder): Promise<RowPiece>;
  readCsv(part: string): Promise<string>;
}

export const [openRun, setOpenRun] = createContext<OpenRun>();

const PIECE = 1024 * 1024;
const MOST_COPIED = 64 * 1024 * 1024;

/** All of a part, for the clipboard. */
export async function wholeText(run: OpenRun, part: string): Promise<string> {
  let text = "";
  for (let offset: number | null = 0; offset !== null;) {
    if (offset > MOST_COPIED) throw new Error("It is longer than 64 MB; copy it from the file.");
    const piece: TextPiece = await run.readText(part, offset, PIECE);
    text += piece.text;
    offset = piece.next;
  }
  return text;
}
