// Rows of a long table, read in pages as they become visible. Holds a limited number.
import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import type { GridCell, GridOrder, ReadRows } from "./grid";

const PAGE = 100;
const KEPT = 30;

export class RowPages {
  error = $state("");
  readonly #pages = new SvelteMap<number, GridCell[][] | null>();

  constructor(
    readonly read: ReadRows,
    readonly order: GridOrder,
  ) {}

  /** The row, or undefined while it loads. */
  row(index: number): GridCell[] | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Requests the page of a row once. */
  want(index: number): void {
    untrack(() => {
      const page = Math.floor(index / PAGE);
      if (this.#pages.has(page)) return;
      this.#pages.set(page, null);
      void this.#load(page);
    });
  }

  async #load(page: number): Promise<void> {
    const from = page * PAGE;
    const rows: GridCell[][] = [];
    try {
      // The engine may return fewer rows than requested.
      for (let more = true; more && rows.length < PAGE;) {
        const piece = await this.read(from + rows.length, PAGE - rows.length, this.order);
        rows.push(...piece.rows);
        more = piece.rows.length > 0 && from + rows.length < piece.total;
      }
      this.#pages.set(page, rows);
      this.error = "";
      this.#forget(page);
    } catch (thrown) {
      this.#pages.delete(page);
      this.error =
        typeof thrown === "object" && thrown !== null && "message" in thrown
          ? String(thrown.message)
          : String(thrown);
    }
  }

  /** Evicts the pages furthest from the one read last. */
  #forget(page: number): void {
    while (this.#pages.size > KEPT) {
      const furthest = [...this.#pages.keys()].reduce((a, b) =>
        Math.abs(b - page) > Math.abs(a - page) ? b : a,
      );
      this.#pages.delete(furthest);
    }
  }
}
