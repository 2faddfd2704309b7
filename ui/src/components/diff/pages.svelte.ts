// Items of a long list, read in windows as they come into sight or are looked for. Holds a bounded number of them.
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
    /** What was read already, from the beginning on. */
    first: readonly T[] = [],
  ) {
    for (let page = 0; page * PAGE < first.length; page++) {
      const items = first.slice(page * PAGE, (page + 1) * PAGE);
      // A page that is not whole would be taken for one.
      if (items.length === Math.min(PAGE, total - page * PAGE)) this.#pages.set(page, items);
    }
  }

  /** The item, or nothing while it is on its way. */
  get(index: number): T | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** Those of the first so many that are there. */
  first(count: number): T[] {
    return this.#pages.get(0)?.slice(0, count) ?? [];
  }

  /** Asks for the page an item is on, once. */
  want(index: number): void {
    untrack(() => void this.#page(Math.floor(index / PAGE)).catch(() => undefined));
  }

  /** The first item that fits from one place on, in either direction; null when there is none, or it cannot be read. */
  async find(from: number, by: 1 | -1, fits: (item: T) => boolean): Promise<number | null> {
    try {
      for (let at = from; at >= 0 && at < this.total; at += by) {
        const page = Math.floor(at / PAGE);
        const item = (this.#pages.get(page) ?? (await this.#page(page)))[at % PAGE];
        if (item !== undefined && fits(item)) return at;
      }
    } catch {
      // What went wrong is said where the items are shown.
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
      // The engine may answer with fewer than asked for.
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

  /** Lets go of what is furthest from the page that was read last; the beginning stays, for widths are made of it. */
  #forget(page: number): void {
    while (this.#pages.size > KEPT) {
      const furthest = [...this.#pages.keys()]
        .filter((key) => key !== 0)
        .reduce((a, b) => (Math.abs(b - page) > Math.abs(a - page) ? b : a));
      this.#pages.delete(furthest);
    }
  }
}

/** Where the next stretch of differing lines begins after a line, or the last before it; -1 is before all of them, or after. */
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
