// Rows of the table, loaded in pages around the visible rows and cached by filter and order. Old
// rows stay until newer ones arrive.
import { createSubscriber } from "svelte/reactivity";
import type { StaleEvent } from "../../backend/backend";
import type { AppError, FilterError, RunPage, RunRow, Sort } from "../../generated";
import { asAppError, type Live, remainingInterval } from "../../backend/live";
import { formatSort } from "../../app/route";

export const PAGE = 200;
const PAGES_KEPT = 24;
const LISTS_KEPT = 6;
const AT_ONCE = 2;

interface Page {
  rows: readonly RunRow[];
  /** Index generation of the reply. */
  generation: number;
  fresh: boolean;
  /** A newer index was announced while these rows were hidden, so their positions are unknown. */
  adrift: boolean;
}

/** While another place is open, the list is refreshed at most this often. */
const UNSEEN_MS = 1_000;

/** One filter in one order. */
interface List {
  q: string;
  sort: Sort;
  total: number;
  misread: readonly FilterError[];
  pages: Map<number, Page>;
  flying: Set<number>;
  error: AppError | null;
}

const newList = (q: string, sort: Sort): List => ({
  q,
  sort,
  total: 0,
  misread: [],
  pages: new Map(),
  flying: new Set(),
  error: null,
});

export class RunList {
  #shown: List | null = null;
  #wanted: List | null = null;
  readonly #lists = new Map<string, List>();
  #first = 0;
  #last = 0;
  /** Replies of an earlier era may belong to another folder. */
  #era = 0;
  /** Number of changes of runs. */
  #changes = 0;
  /** Rows added above since the top was visible. */
  #above = 0;
  /** Shift of rows while no table was mounted. */
  #drift = 0;
  #update: () => void = () => undefined;
  /** True while the rows are watched. */
  #watched = false;
  #asked = -Infinity;
  #later: ReturnType<typeof setTimeout> | undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
    this.#watched = true;
    this.#pump();
    return () => (this.#watched = false);
  });
  /** Called when rows are added or removed above the visible ones; set by the table. */
  onshift: ((rows: number) => void) | null = null;
  /** Called when the list requested with `show` is visible. */
  onswitch: (() => void) | null = null;

  constructor(readonly live: Live) {
    live.onStale((stale) => this.#hear(stale));
  }

  get total(): number {
    this.#subscribe();
    return this.#shown?.total ?? 0;
  }
  get misread(): readonly FilterError[] {
    this.#subscribe();
    return this.#wanted?.misread ?? [];
  }
  get error(): AppError | null {
    this.#subscribe();
    return this.#wanted?.error ?? null;
  }
  /** False until the first reply. */
  get known(): boolean {
    this.#subscribe();
    return this.#shown !== null;
  }
  /** True while another filter or order is loading and the old rows are visible. */
  get behind(): boolean {
    this.#subscribe();
    return this.#shown !== this.#wanted;
  }
  get above(): number {
    this.#subscribe();
    return this.#above;
  }
  /** Filter of the visible rows. */
  get q(): string {
    this.#subscribe();
    return this.#shown?.q ?? "";
  }

  /** Filter of the rows that are asked for, which `misread` is about. */
  get asked(): string {
    this.#subscribe();
    return this.#wanted?.q ?? "";
  }

  row(index: number): RunRow | undefined {
    this.#subscribe();
    return this.#shown?.pages.get(Math.floor(index / PAGE))?.rows[index % PAGE];
  }

  /** Rows of the loaded pages; a page that moved has gaps at its edge. */
  get pages(): (readonly RunRow[])[] {
    this.#subscribe();
    return [...(this.#shown?.pages.values() ?? [])].map((page) => page.rows);
  }

  /** Index of a run, if its page is loaded. */
  indexOf(id: string): number | null {
    for (const [number, page] of this.#shown?.pages ?? []) {
      const at = page.rows.findIndex((row) => row.id === id);
      if (at >= 0) return number * PAGE + at;
    }
    return null;
  }

  /** Switches to a filter and order. The visible rows stay until the first new ones arrive. */
  show(q: string, sort: Sort, top: number): void {
    const key = `${formatSort(sort)} ${q}`;
    const list = this.#lists.get(key) ?? newList(q, sort);
    if (list === this.#wanted) return;
    this.#lists.delete(key);
    this.#lists.set(key, list);
    for (const old of this.#lists.keys())
      if (this.#lists.size > LISTS_KEPT && old !== key) this.#lists.delete(old);
    this.#wanted = list;
    list.error = null;
    this.#drift = this.#above = 0;
    this.#first = top;
    this.#last = top + 40;
    if (list.pages.has(Math.floor(top / PAGE))) this.#switchIfValid(list);
    this.#update();
    this.#pump();
  }

  /** Shift of rows since the table was unmounted; read once when it is mounted again. */
  takeDrift(): number {
    const drift = this.#drift;
    this.#drift = 0;
    return drift;
  }

  /** Reports the visible rows. */
  want(first: number, last: number): void {
    if (this.#shown !== this.#wanted) return;
    this.#first = first;
    this.#last = last;
    if (first === 0 && this.#above > 0) {
      this.#above = 0;
      this.#update();
    }
    this.#pump();
  }

  refetch(): void {
    if (this.#wanted) this.#wanted.error = null;
    this.#update();
    this.#pump();
  }

  /** The rows of a range; loads missing ones. */
  async range(from: number, to: number): Promise<RunRow[]> {
    const list = this.#shown;
    const rows: RunRow[] = [];
    for (let number = Math.floor(from / PAGE); list !== null && number * PAGE <= to; number++) {
      const page = this.#whole(list, number) ?? (await this.#fetch(list, number)).rows;
      rows.push(...page.slice(Math.max(0, from - number * PAGE), to + 1 - number * PAGE));
    }
    return rows;
  }

  /** The rows of a loaded page without gaps; a page that moved has gaps at its edge. */
  #whole(list: List, number: number): readonly RunRow[] | undefined {
    const page = list.pages.get(number);
    const gaps =
      page === undefined ||
      page.rows.length < Math.min(PAGE, list.total - number * PAGE) ||
      (page.rows as readonly (RunRow | undefined)[]).includes(undefined);
    return gaps || page.adrift ? undefined : page.rows;
  }

  #fetch(list: List, number: number): Promise<RunPage> {
    return this.live.backend.call("list_runs", {
      request: { filter: list.q, sort: list.sort, span: { offset: number * PAGE, limit: PAGE } },
    });
  }

  #switch(list: List): void {
    if (this.#shown === list) return;
    this.#shown = list;
    this.onswitch?.();
  }

  /** While somebody types, a filter is invalid now and then; the rows before it stay visible. */
  #switchIfValid(list: List): void {
    if (list.misread.length === 0 || (this.#shown?.total ?? 0) === 0) this.#switch(list);
  }

  #hear(stale: readonly StaleEvent[]): void {
    if (stale.some((one) => one.kind === "folder")) {
      this.#era++;
      this.#shown = null;
      this.#drift = this.#above = 0;
      const wanted = this.#wanted;
      this.#lists.clear();
      if (wanted) {
        this.#wanted = newList(wanted.q, wanted.sort);
        this.#lists.set(`${formatSort(wanted.sort)} ${wanted.q}`, this.#wanted);
      }
    } else if (stale.some((one) => one.kind === "missed")) {
      // The rows stay visible. Another index may restart its counts.
      this.#era++;
      for (const list of this.#lists.values())
        for (const page of list.pages.values()) [page.fresh, page.generation] = [false, 0];
    } else if (stale.some((one) => one.kind === "runs")) {
      this.#changes++;
      for (const list of this.#lists.values())
        for (const page of list.pages.values()) page.fresh = false;
    } else return;
    if (this.#wanted) this.#wanted.error = null;
    this.#update();
    this.#pump();
  }

  /** The page of the first visible row; undefined at the top, where new rows may appear. */
  #lead(list: List): number | undefined {
    return list === this.#shown && list === this.#wanted && this.#first > 0
      ? Math.floor(this.#first / PAGE)
      : undefined;
  }

  /**
   * The first visible row, if rows above could push it down. Rows that became visible after a newer
   * index was announced cannot tell the shift of others.
   */
  #anchor(list: List, number: number): RunRow | undefined {
    const page = this.#lead(list) === number ? list.pages.get(number) : undefined;
    return page?.adrift === false ? page.rows[this.#first % PAGE] : undefined;
  }

  /**
   * Before newer rows replace older ones, moves along with the first visible row, so that nothing
   * moves under the cursor. False if these rows are no longer visible.
   */
  async #keepPlace(list: List, number: number, reply: RunPage): Promise<boolean> {
    const anchor = this.#anchor(list, number);
    const at = anchor === undefined ? -1 : reply.rows.findIndex((row) => row.id === anchor.id);
    if (anchor === undefined) return true;
    if (at >= 0) {
      this.#move(list, number, number * PAGE + at - this.#first, reply);
      return true;
    }
    const place = await this.live.backend.call("locate_run", {
      filter: list.q,
      sort: list.sort,
      id: anchor.id,
    });
    // Stops if the user scrolled meanwhile or the run is gone.
    if (place.position === null || this.#anchor(list, number)?.id !== anchor.id) return true;
    this.#move(list, number, place.position - this.#first, {
      generation: reply.generation,
      total: place.total,
    });
    return Math.floor(place.position / PAGE) === number;
  }

  /** Keeps rows in place on screen when their index changes. */
  #move(
    list: List,
    lead: number,
    moved: number,
    { generation, total }: { generation: number; total: number },
  ): void {
    const before = list.pages.get(lead)?.generation ?? 0;
    // If all changes were above the visible rows, the cached pages fit again.
    const all = total - list.total === moved;
    const along = (page: Page) => !page.adrift && page.generation <= before;
    if (moved === 0) {
      if (all)
        for (const page of list.pages.values()) if (along(page)) page.generation = generation;
      return;
    }
    const kept = new Map<number, Page & { rows: RunRow[] }>();
    for (const [number, page] of list.pages) {
      if (!along(page)) continue;
      page.rows.forEach((row, at) => {
        const index = number * PAGE + at + moved;
        if (index < 0) return;
        const to = kept.get(Math.floor(index / PAGE)) ?? {
          rows: [],
          generation: all ? generation : page.generation,
          fresh: false,
          adrift: false,
        };
        to.rows[index % PAGE] = row;
        to.generation = Math.min(to.generation, all ? generation : page.generation);
        kept.set(Math.floor(index / PAGE), to);
      });
    }
    list.pages = new Map([
      ...[...list.pages].filter(([, page]) => page.adrift),
      ...kept,
      ...[...list.pages].filter(([, page]) => page.generation > before),
    ]);
    list.total = total;
    this.#first += moved;
    this.#last += moved;
    this.#above = Math.max(0, this.#above + moved);
    this.#update();
    if (this.onshift) this.onshift(moved);
    else this.#drift += moved;
  }

  /**
   * Pages to request, most urgent first: missing and visible, stale and visible, then neighbours.
   */
  #needed(list: List): number | undefined {
    const from = Math.floor(this.#first / PAGE);
    const to = Math.floor(Math.max(this.#first, this.#last) / PAGE);
    const sight = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    const exists = (number: number) =>
      number >= 0 && (list.pages.size === 0 || number * PAGE < Math.max(1, list.total));
    const free = (number: number) => exists(number) && !list.flying.has(number);
    const missing = (number: number) => free(number) && !list.pages.has(number);
    const stale = (number: number) => free(number) && list.pages.get(number)?.fresh === false;
    // The page of the first visible row comes first, because it tells the shift of all others.
    const lead = this.#lead(list) === from && list.pages.get(from)?.fresh === false;
    if (lead) return stale(from) ? from : sight.find(missing);
    const first = sight.find(missing) ?? sight.find(stale);
    if (first !== undefined || list.pages.size === 0) return first;
    return [to + 1, from - 1].find(missing);
  }

  #pump(): void {
    const rest = this.#watched ? 0 : this.#asked + UNSEEN_MS - performance.now();
    if (rest > 0) {
      this.#later ??= setTimeout(() => ((this.#later = undefined), this.#pump()), rest);
      return;
    }
    const list = this.#wanted;
    while (list !== null && list.error === null && list.flying.size < AT_ONCE) {
      const number = this.#needed(list);
      if (number === undefined) return;
      void this.#ask(list, number);
    }
  }

  async #ask(list: List, number: number): Promise<void> {
    const era = this.#era;
    const changes = this.#changes;
    const asked = (this.#asked = performance.now());
    list.flying.add(number);
    try {
      const reply = await this.#fetch(list, number);
      // Rows that became stale while loading are requested again.
      if (era === this.#era && (await this.#keepPlace(list, number, reply)))
        this.#put(list, number, reply, changes === this.#changes);
    } catch (thrown) {
      if (era === this.#era) list.error = asAppError(thrown);
    }
    list.flying.delete(number);
    this.#update();
    setTimeout(
      () => this.#pump(),
      list.pages.get(number)?.fresh === false ? remainingInterval(asked) : 0,
    );
  }

  #put(list: List, number: number, reply: RunPage, fresh: boolean): void {
    const newer = [...list.pages.values()].some((other) => other.generation > reply.generation);
    const page: Page = {
      rows: reply.rows,
      generation: reply.generation,
      fresh: fresh && !newer,
      adrift: newer,
    };
    list.pages.set(number, page);
    list.misread = reply.misread;
    list.total = reply.total;
    list.error = null;
    // Pages of an older index are shown until visible, then requested again.
    const lead = this.#lead(list);
    for (const [at, other] of list.pages) {
      if (other.generation >= page.generation) continue;
      other.fresh = false;
      other.adrift ||= at !== lead;
    }
    const middle = Math.floor(this.#first / PAGE);
    if (list.pages.size > PAGES_KEPT) {
      const [farthest] = [...list.pages.keys()].sort(
        (left, right) => Math.abs(right - middle) - Math.abs(left - middle),
      );
      if (farthest !== undefined && farthest !== number) list.pages.delete(farthest);
    }
    if (list !== this.#wanted) return;
    // The list may now end before the visible rows.
    this.#first = Math.min(this.#first, Math.max(0, list.total - 1));
    this.#last = Math.min(this.#last, Math.max(0, list.total - 1));
    this.#switchIfValid(list);
  }
}
