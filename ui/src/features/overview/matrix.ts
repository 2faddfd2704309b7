// Rows of the matrix, loaded in parts around the visible rows. Old rows stay until newer ones
// arrive.
import { createSubscriber } from "svelte/reactivity";
import type { StaleEvent } from "../../backend/backend";
import type { AppError, FilterError, Overview, OverviewColumn, OverviewRow } from "../../generated";
import { asAppError, MIN_INTERVAL_MS, type Live } from "../../backend/live";
import { columnName, keyOf } from "./cells";

/** Rows per request. */
export const PART = 60;
/** Maximum number of rows per request. */
export const MOST_ROWS = 500;
const PARTS_KEPT = 24;
/** Cached filters and folds, so that back is immediate. */
const KEPT = 4;
const AT_ONCE = 2;
/**
 * After a slow reply, stale rows wait this many times its duration, because each reply recounts all
 * runs.
 */
const REST = 3;

/** Filter, scorer and folds of the matrix. */
export interface Ask {
  q: string;
  scorer: string;
  folded: boolean;
  except: readonly string[];
  /** True to show tasks without runs. */
  missing: boolean;
  byModel: boolean;
  byTag: boolean;
}

/** Identity of a column, without its totals. */
export interface ColumnName {
  key: string;
  name: string;
}

interface Part {
  rows: readonly OverviewRow[];
  generation: number;
  fresh: boolean;
}

interface LoadedMatrix {
  key: string;
  ask: Ask;
  head: Overview | null;
  names: readonly ColumnName[];
  parts: Map<number, Part>;
  flying: Set<number>;
  error: AppError | null;
  /** A task whose row should become visible. */
  find: string | null;
}

const askedAs = (ask: Ask) =>
  JSON.stringify([ask.q, ask.scorer, ask.folded, ask.except, ask.missing, ask.byModel, ask.byTag]);
const begin = (ask: Ask, find: string | null): LoadedMatrix => ({
  key: askedAs(ask),
  ask,
  head: null,
  names: [],
  parts: new Map(),
  flying: new Set(),
  error: null,
  find,
});

export class Matrix {
  #shown: LoadedMatrix | null = null;
  #wanted: LoadedMatrix | null = null;
  #kept: LoadedMatrix[] = [];
  #first = 0;
  #last = 0;
  /** Replies of an earlier era belong to another folder. */
  #era = 0;
  /** Number of changes of runs. */
  #changes = 0;
  /** Until then, visible rows are not requested again. */
  #rest = 0;
  #answered = 0;
  #update: () => void = () => undefined;
  /** True while the rows are watched. Unwatched rows become stale without a request. */
  #watched = false;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
    this.#watched = true;
    this.#pump();
    return () => (this.#watched = false);
  });
  /**
   * Called when the filter or folds requested with `show` are visible, with the row of the searched
   * task.
   */
  onswitch: ((found: number | null) => void) | null = null;

  constructor(readonly live: Live) {
    live.onStale((stale) => this.#hear(stale));
  }

  /** Columns and totals of the latest reply. */
  get head(): Overview | null {
    this.#subscribe();
    return this.#shown?.head ?? null;
  }
  get columns(): readonly OverviewColumn[] {
    return this.head?.columns ?? [];
  }
  /**
   * Stable array as long as the columns are equal, so that new totals do not redraw the cells.
   */
  get names(): readonly ColumnName[] {
    this.#subscribe();
    return this.#shown?.names ?? [];
  }
  get total(): number {
    return this.head?.total_rows ?? 0;
  }
  get misread(): readonly FilterError[] {
    return this.head?.misread ?? [];
  }
  get error(): AppError | null {
    this.#subscribe();
    return this.#wanted?.error ?? null;
  }
  /** True while other rows than the requested ones are visible. */
  get behind(): boolean {
    this.#subscribe();
    return this.#shown !== this.#wanted;
  }
  /** Filter of the visible rows. */
  get q(): string {
    this.#subscribe();
    return this.#shown?.ask.q ?? "";
  }

  /** Scorer of the visible rows; empty for the first of each task. */
  get scorer(): string {
    this.#subscribe();
    return this.#shown?.ask.scorer ?? "";
  }
  /** Changes with the folder. */
  get folder(): number {
    this.#subscribe();
    return this.#era;
  }

  row(index: number): OverviewRow | undefined {
    this.#subscribe();
    return this.#shown?.parts.get(Math.floor(index / PART))?.rows[index % PART];
  }

  /**
   * Switches to a filter and folds; the visible rows stay until the first new ones arrive. `find`
   * is a task to scroll to.
   */
  show(ask: Ask, top: number, find: string | null = null): void {
    if (this.#wanted?.key === askedAs(ask)) return;
    // Only a new reply knows the row of a searched task.
    const known =
      find === null
        ? this.#kept.find((one) => one.key === askedAs(ask) && one.head !== null)
        : undefined;
    this.#wanted = known ?? begin(ask, find);
    this.#kept = [this.#wanted, ...this.#kept.filter((one) => one.key !== askedAs(ask))].slice(
      0,
      KEPT,
    );
    this.#first = Math.max(0, top);
    this.#last = this.#first;
    if (known) {
      this.#shown = known;
      this.onswitch?.(null);
    }
    this.#update();
    this.#pump();
  }

  /** Reports the visible rows. */
  want(first: number, last: number): void {
    this.#first = first;
    this.#last = last;
    this.#pump();
  }

  refetch(): void {
    if (this.#wanted) this.#wanted.error = null;
    this.#update();
    this.#pump();
  }

  /** All rows of a range, including ones never visible. */
  async range(from: number, to: number): Promise<OverviewRow[]> {
    const rows: OverviewRow[] = [];
    const ask = this.#shown?.ask;
    while (ask && from + rows.length <= to) {
      const known = this.row(from + rows.length);
      const offset = from + rows.length;
      const more = known
        ? [known]
        : (await this.#call(ask, null, offset, Math.min(MOST_ROWS, to - offset + 1))).rows;
      if (more.length === 0) break;
      rows.push(...more);
    }
    return rows;
  }

  #call(
    { q, scorer, folded, except, missing, byModel, byTag }: Ask,
    find: string | null,
    offset: number,
    limit: number,
  ): Promise<Overview> {
    return this.live.backend.call("overview", {
      request: {
        filter: q,
        scorer: scorer === "" ? null : scorer,
        folded,
        except: [...except],
        find,
        view: { missing, by_model: byModel, by_tag: byTag },
        span: { offset, limit },
      },
    });
  }

  #hear(stale: readonly StaleEvent[]): void {
    if (stale.some((one) => one.kind === "folder")) {
      this.#era++;
      this.#shown = null;
      this.#wanted = this.#wanted && begin(this.#wanted.ask, null);
      this.#kept = this.#wanted ? [this.#wanted] : [];
    } else if (stale.some((one) => one.kind === "missed")) {
      // The cells stay visible. Another index may restart its counts.
      this.#era++;
      for (const part of this.#kept.flatMap((one) => [...one.parts.values()]))
        [part.fresh, part.generation] = [false, 0];
    } else if (stale.some((one) => one.kind === "runs")) {
      this.#changes++;
      for (const part of this.#kept.flatMap((one) => [...one.parts.values()])) part.fresh = false;
    } else return;
    if (this.#wanted) this.#wanted.error = null;
    this.#update();
    this.#pump();
  }

  /**
   * Parts to request, most urgent first: missing and visible, stale and visible, then neighbours.
   */
  #needed({ head, parts, flying }: LoadedMatrix): number | undefined {
    const from = Math.floor(this.#first / PART);
    const to = Math.floor(Math.max(this.#first, this.#last) / PART);
    const sight = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    const exists = (number: number) =>
      number >= 0 && (head === null || number === 0 || number * PART < head.total_rows);
    const free = (number: number) => exists(number) && !flying.has(number);
    const missing = (number: number) => free(number) && !parts.has(number);
    const resting = this.#changes !== this.#answered && performance.now() < this.#rest;
    const stale = (number: number) =>
      !resting && free(number) && parts.get(number)?.fresh === false;
    const first = sight.find(missing) ?? sight.find(stale);
    // The first reply counts the runs; a parallel request would count them twice.
    if (first !== undefined || head === null)
      return flying.size > 0 && head === null ? undefined : first;
    // Two parts ahead, for fast scrolling.
    return [to + 1, from - 1, to + 2].find((number) => missing(number));
  }

  #pump(): void {
    const wanted = this.#watched ? this.#wanted : null;
    while (wanted !== null && wanted.error === null && wanted.flying.size < AT_ONCE) {
      const number = this.#needed(wanted);
      if (number === undefined) return;
      void this.#ask(wanted, number);
    }
  }

  async #ask(wanted: LoadedMatrix, number: number): Promise<void> {
    const [era, changes, asked] = [this.#era, this.#changes, performance.now()];
    wanted.flying.add(number);
    try {
      const reply = await this.#call(wanted.ask, wanted.find, number * PART, PART);
      // Rows that became stale while loading are requested again.
      if (era === this.#era) this.#put(wanted, number, reply, changes === this.#changes);
    } catch (thrown) {
      if (era === this.#era) wanted.error = asAppError(thrown);
    }
    wanted.flying.delete(number);
    const rest = Math.max(MIN_INTERVAL_MS, REST * (performance.now() - asked));
    this.#rest = performance.now() + rest;
    this.#answered = changes;
    this.#update();
    setTimeout(() => this.#pump(), 0);
    setTimeout(() => this.#pump(), rest + 1);
  }

  #put(wanted: LoadedMatrix, number: number, reply: Overview, fresh: boolean): void {
    wanted.parts.set(number, { rows: reply.rows, generation: reply.generation, fresh });
    wanted.head = reply;
    const names = reply.columns.map((column) => ({
      key: keyOf.column(column),
      name: columnName(column),
    }));
    if (
      names.length !== wanted.names.length ||
      names.some(({ key }, at) => key !== wanted.names[at]?.key)
    )
      wanted.names = names;
    wanted.error = null;
    for (const other of wanted.parts.values())
      if (other.generation < reply.generation) other.fresh = false;
    const middle = Math.floor(this.#first / PART);
    if (wanted.parts.size > PARTS_KEPT) {
      const [farthest] = [...wanted.parts.keys()].sort(
        (left, right) => Math.abs(right - middle) - Math.abs(left - middle),
      );
      if (farthest !== undefined && farthest !== number) wanted.parts.delete(farthest);
    }
    if (wanted !== this.#wanted) return;
    // The matrix may now end before the visible rows.
    const end = Math.max(0, reply.total_rows - 1);
    this.#first = Math.min(this.#first, end);
    this.#last = Math.min(this.#last, end);
    const found = wanted.find === null ? null : reply.found;
    wanted.find = null;
    if (this.#shown === wanted) return;
    this.#shown = wanted;
    this.onswitch?.(found);
  }
}
