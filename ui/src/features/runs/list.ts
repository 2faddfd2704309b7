// The rows of the table as they are needed: pages around what is in sight, kept by filter and order. Old rows stay until newer ones are there.
import { createSubscriber } from "svelte/reactivity";
import type { StaleEvent } from "../../backend/backend";
import type { AppError } from "../../generated/AppError";
import type { Misread } from "../../generated/Misread";
import type { RunPage } from "../../generated/RunPage";
import type { RunRow } from "../../generated/RunRow";
import type { Sort } from "../../generated/Sort";
import { asAppError, type Live, remainingInterval } from "../../backend/live";
import { formatSort } from "../../app/route";

export const PAGE = 200;
const PAGES_KEPT = 24;
const LISTS_KEPT = 6;
const AT_ONCE = 2;

interface Page {
  rows: readonly RunRow[];
  /** The index that answered. */
  generation: number;
  fresh: boolean;
  /** A newer index was told of while these rows were out of sight: where they stand now is not known. */
  adrift: boolean;
}

/** While another place is open, the list keeps its place in peace: it is asked for no more often than this. */
const UNSEEN_MS = 1_000;

/** One filter in one order. */
interface List {
  q: string;
  sort: Sort;
  total: number;
  misread: readonly Misread[];
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
  /** Replies asked for before this may be about another folder. */
  #era = 0;
  /** How often runs changed. */
  #changes = 0;
  /** How many rows came in above since the top was in sight. */
  #above = 0;
  /** How far rows moved while no table was there to move along. */
  #drift = 0;
  #update: () => void = () => undefined;
  /** Whether anybody looks at the rows. */
  #watched = false;
  #asked = -Infinity;
  #later: ReturnType<typeof setTimeout> | undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
    this.#watched = true;
    this.#pump();
    return () => (this.#watched = false);
  });
  /** Told when rows came or went above what is in sight; set by the table. */
  onshift: ((rows: number) => void) | null = null;
  /** Told when another list, asked for with `show`, is in sight. */
  onswitch: (() => void) | null = null;

  constructor(readonly live: Live) {
    live.onStale((stale) => this.#hear(stale));
  }

  get total(): number {
    this.#subscribe();
    return this.#shown?.total ?? 0;
  }
  get misread(): readonly Misread[] {
    this.#subscribe();
    return this.#shown?.misread ?? [];
  }
  get error(): AppError | null {
    this.#subscribe();
    return this.#wanted?.error ?? null;
  }
  /** False until anything was answered. */
  get known(): boolean {
    this.#subscribe();
    return this.#shown !== null;
  }
  /** True while another filter or order is awaited and the old rows are still in sight. */
  get behind(): boolean {
    this.#subscribe();
    return this.#shown !== this.#wanted;
  }
  get above(): number {
    this.#subscribe();
    return this.#above;
  }
  /** The filter whose rows are in sight. */
  get q(): string {
    this.#subscribe();
    return this.#shown?.q ?? "";
  }

  row(index: number): RunRow | undefined {
    this.#subscribe();
    return this.#shown?.pages.get(Math.floor(index / PAGE))?.rows[index % PAGE];
  }

  /** Where a run stands, as far as its page is here. */
  indexOf(id: string): number | null {
    for (const [number, page] of this.#shown?.pages ?? []) {
      const at = page.rows.findIndex((row) => row.id === id);
      if (at >= 0) return number * PAGE + at;
    }
    return null;
  }

  /** Turns to a filter and order. What is in sight stays until its first rows are here. */
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
    if (list.pages.has(Math.floor(top / PAGE))) this.#switch(list);
    this.#update();
    this.#pump();
  }

  /** How far rows moved since the table went away; asked once, when it is back. */
  takeDrift(): number {
    const drift = this.#drift;
    this.#drift = 0;
    return drift;
  }

  /** What is in sight now. */
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

  /** The rows from one to another, asking for those that are not here. */
  async range(from: number, to: number): Promise<RunRow[]> {
    const list = this.#shown;
    const rows: RunRow[] = [];
    for (let number = Math.floor(from / PAGE); list !== null && number * PAGE <= to; number++) {
      const page = this.#whole(list, number) ?? (await this.#fetch(list, number)).rows;
      rows.push(...page.slice(Math.max(0, from - number * PAGE), to + 1 - number * PAGE));
    }
    return rows;
  }

  /** The rows of a page that is here, in its place, and without gaps: one that moved has some at its edge. */
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
      // The rows stay in sight. Whoever answers now may have begun to count anew.
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

  /** The page of the first row in sight; none at the top of the list, where new rows may come in. */
  #lead(list: List): number | undefined {
    return list === this.#shown && list === this.#wanted && this.#first > 0
      ? Math.floor(this.#first / PAGE)
      : undefined;
  }

  /** The first row in sight, when rows above it could push it down. Rows that came into sight only after a newer index was told of say nothing of how far the others moved. */
  #anchor(list: List, number: number): RunRow | undefined {
    const page = this.#lead(list) === number ? list.pages.get(number) : undefined;
    return page?.adrift === false ? page.rows[this.#first % PAGE] : undefined;
  }

  /** Before newer rows replace older ones: moves along with the first row in sight, so that nothing moves under the cursor. False when these rows are not what is in sight any more. */
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
    // Someone who scrolled meanwhile is not pulled about, and a run that is gone holds no place.
    if (place.position === null || this.#anchor(list, number)?.id !== anchor.id) return true;
    this.#move(list, number, place.position - this.#first, {
      generation: reply.generation,
      total: place.total,
    });
    return Math.floor(place.position / PAGE) === number;
  }

  /** Rows keep their place on screen although they have another number now. */
  #move(
    list: List,
    lead: number,
    moved: number,
    { generation, total }: { generation: number; total: number },
  ): void {
    const before = list.pages.get(lead)?.generation ?? 0;
    // Whatever came or went did so above what is in sight, so the pages that stood where they should do so again.
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

  /** Pages to ask for, most urgent first: missing in sight, stale in sight, then neighbours. */
  #needed(list: List): number | undefined {
    const from = Math.floor(this.#first / PAGE);
    const to = Math.floor(Math.max(this.#first, this.#last) / PAGE);
    const sight = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    const exists = (number: number) =>
      number >= 0 && (list.pages.size === 0 || number * PAGE < Math.max(1, list.total));
    const free = (number: number) => exists(number) && !list.flying.has(number);
    const missing = (number: number) => free(number) && !list.pages.has(number);
    const stale = (number: number) => free(number) && list.pages.get(number)?.fresh === false;
    // The page of the first row in sight comes before the others: it says how far all of them moved.
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
      // What went stale on its way has to be asked again.
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
    // Pages of an older index are shown until they are in sight, and asked again then.
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
    // The list may end before what was in sight.
    this.#first = Math.min(this.#first, Math.max(0, list.total - 1));
    this.#last = Math.min(this.#last, Math.max(0, list.total - 1));
    this.#switch(list);
  }
}
