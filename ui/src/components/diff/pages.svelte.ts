// Items of a long list, read in pages as they become visible or are searched. Holds a limited
// number.
import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { lineDiffers, type DiffLine } from "./diff";

const PAGE = 200;
const KEPT = 40;

export type ReadSome<T> = (offset: number, limit: number) => Promise<T[]>;

export class Pages<T> {
  error = $state("");
  readonly #pages = new SvelteMap<number, T[]>();
  readonly #asked = new SvelteMap<number, Promise<T[]>>();

  constructor(
    readonly read: ReadSome<T>,
    readonly total: number,
    /** Items already read, from the start. */
    first: readonly T[] = [],
  ) {
    for (let page = 0; page * PAGE < first.length; page++) {
      const items = first.slice(page * PAGE, (page + 1) * PAGE);
      // An incomplete page would be taken for a complete one.
      if (items.length === Math.min(PAGE, total - page * PAGE)) this.#pages.set(page, items);
    }
  }

  /** The item, or undefined while it loads. */
  get(index: number): T | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** The loaded ones of the first `count` items. */
  first(count: number): T[] {
    return this.#pages.get(0)?.slice(0, count) ?? [];
  }

  /** Requests the page of an item once. */
  want(index: number): void {
    untrack(() => void this.#page(Math.floor(index / PAGE)).catch(() => undefined));
  }

  /**
   * The first matching item from an index in either direction; null if there is none or it cannot
   * be read.
   */
  async find(from: number, by: 1 | -1, fits: (item: T) => boolean): Promise<number | null> {
    try {
      for (let at = from; at >= 0 && at < this.total; at += by) {
        const page = Math.floor(at / PAGE);
        const item = (this.#pages.get(page) ?? (await this.#page(page)))[at % PAGE];
        if (item !== undefined && fits(item)) return at;
      }
    } catch {
      // The error is shown where the items are shown.
    }
    return null;
  }

  #page(page: number): Promise<T[]> {
    const there = this.#pages.get(page);
    if (there) return Promise.resolve(there);
    let asked = this.#asked.get(page);
    if (!asked) {
      asked = this.#load(page).finally(() => this.#asked.delete(page));
      this.#asked.set(page, asked);
    }
    return asked;
  }

  async #load(page: number): Promise<T[]> {
    const from = page * PAGE;
    const wanted = Math.min(PAGE, this.total - from);
    const items: T[] = [];
    try {
      // The engine may return fewer items than requested.
      for (let more = true; more && items.length < wanted;) {
        const some = await this.read(from + items.length, wanted - items.length);
        items.push(...some);
        more = some.length > 0;
      }
    } catch (thrown) {
      this.error =
        typeof thrown === "object" && thrown !== null && "message" in thrown
          ? String(thrown.message)
          : String(thrown);
      throw thrown;
    }
    this.error = "";
    this.#pages.set(page, items);
    this.#forget(page);
    return items;
  }

  /**
   * Evicts the pages furthest from the one read last; the first page stays, because column widths
   * depend on it.
   */
  #forget(page: number): void {
    while (this.#pages.size > KEPT) {
      const furthest = [...this.#pages.keys()]
        .filter((key) => key !== 0)
        .reduce((a, b) => (Math.abs(b - page) > Math.abs(a - page) ? b : a));
      this.#pages.delete(furthest);
    }
  }
}

/**
 * Start of the next differing run of lines after a line, or of the last one before it. With -1, the
 * first or the last of all.
 */
export async function beginning(
  lines: Pages<DiffLine>,
  at: number,
  by: 1 | -1,
): Promise<number | null> {
  const equal = (line: DiffLine) => !lineDiffers(line);
  if (by === 1) {
    const gap = at < 0 ? 0 : await lines.find(at, 1, equal);
    return gap === null ? null : await lines.find(gap, 1, lineDiffers);
  }
  const end = await lines.find(at < 0 ? lines.total - 1 : at - 1, -1, lineDiffers);
  if (end === null) return null;
  const before = await lines.find(end, -1, equal);
  return before === null ? 0 : before + 1;
}
