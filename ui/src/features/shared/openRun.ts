// Context of an open run: readers of its parts and the position to reveal.
import { createContext } from "svelte";
import type { Backend } from "../../backend/backend";
import type { MediaFile, RowPiece, TextPiece } from "../../generated";
import { bytesOf, download } from "../../components/download";
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
  /** Identifies the content of the file that was read last. */
  readonly version: string;
  /** Called when the file holds another content by now. */
  onchanged(): void;
  /** Opens a link outside this page; undefined where new windows are not allowed. */
  readonly onopen: ((href: string) => void) | undefined;
  readText(part: string, offset: number, limit: number): Promise<TextPiece>;
  readRows(part: string, offset: number, limit: number, order: GridOrder): Promise<RowPiece>;
  readCsv(part: string): Promise<string>;
  /** Reads an image, sound or file of this version. */
  readMedia(part: string): Promise<MediaFile>;
  /** Saves an image, sound or file; returns the outcome in a few words, empty if cancelled. */
  saveMedia(part: string): Promise<string>;
}

/** Readers of the parts of a run. */
export function partReaders(
  backend: Backend,
  id: () => string,
  version: () => string,
): Omit<OpenRun, "model" | "reveal" | "version" | "onchanged"> {
  const readMedia = (part: string) =>
    backend.call("read_media", { id: id(), version: version(), part });
  return {
    onopen:
      backend.host === "served"
        ? (href) => void window.open(href, "_blank", "noopener,noreferrer")
        : undefined,
    readText: (part, offset, limit) => backend.call("read_text", { id: id(), part, offset, limit }),
    readRows: (part, offset, limit, order) =>
      backend.call("read_rows", { id: id(), part, request: { span: { offset, limit }, ...order } }),
    readCsv: (part) => backend.call("read_csv", { id: id(), part }),
    readMedia,
    saveMedia: async (part) => {
      if (backend.host === "window")
        return (await backend.call("save_media", { id: id(), version: version(), part }))
          ? "Saved."
          : "";
      const file = await readMedia(part);
      const content = bytesOf(file.data);
      const media_type = file.image ?? "application/octet-stream";
      download({ text: content, media_type, file_name: file.file_name });
      return `${file.file_name} is in your downloads.`;
    },
  };
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
