// Reads a long text piece by piece into rows, so that neither the transfer nor the page holds one
// huge string.
import { Rows, type Row } from "./lines";

/** Reads from a byte offset; `next` is the following offset, or null at the end. */
export type ReadText = (
  offset: number,
  limit: number,
) => Promise<{ text: string; next: number | null; total: number }>;

const PIECE = 128 * 1024;
/** Maximum a view holds; the rest stays on disk. */
export const MOST_BYTES = 64 * 1024 * 1024;

export class Stream {
  rows = $state.raw<Row[]>([]);
  read = $state(0);
  total = $state(0);
  done = $state(false);
  error = $state("");
  #stopped = false;

  /** Starts at once with a small first piece, so that text appears quickly. */
  constructor(readonly source: ReadText) {
    void this.#run();
  }

  stop(): void {
    this.#stopped = true;
  }

  get cut(): boolean {
    return this.done && this.read < this.total;
  }

  async #run(): Promise<void> {
    const rows = new Rows();
    let offset: number | null = 0;
    try {
      for (
        let limit = PIECE / 2;
        offset !== null && offset < MOST_BYTES && !this.#stopped;
        limit = PIECE
      ) {
        const piece = await this.source(offset, limit);
        offset = piece.next;
        rows.push(piece.text, piece.next === null);
        this.total = piece.total;
        this.read = piece.next ?? piece.total;
        this.rows = rows.rows.slice();
        // Yields to the page between two pieces.
        await new Promise((later) => setTimeout(later, 0));
      }
      this.done = !this.#stopped;
    } catch (thrown) {
      this.error =
        typeof thrown === "object" && thrown !== null && "message" in thrown
          ? String(thrown.message)
          : String(thrown);
    }
  }
}
