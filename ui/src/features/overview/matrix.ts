// The rows of the matrix as they are needed: parts around what is in sight. Old rows stay until newer ones are there.
import { createSubscriber } from "svelte/reactivity";
import type { StaleEvent } from "../../backend/backend";
import type { AppError } from "../../generated/AppError";
import type { Misread } from "../../generated/Misread";
import type { Overview } from "../../generated/Overview";
import type { OverviewColumn } from "../../generated/OverviewColumn";
import type { OverviewRow } from "../../generated/OverviewRow";
import { asAppError, MIN_INTERVAL_MS, type Live } from "../../backend/live";
import { columnName, keyOf } from "./cells";

/** Rows that are asked for at a time. */
export const PART = 60;
/** No more are asked for at once. */
export const MOST_ROWS = 500;
const PARTS_KEPT = 24;
/** Filters and folds that are remembered, so that back is at once. */
const KEPT = 4;
const AT_ONCE = 2;
/** After an answer that took its time, stale rows rest this many times as long: while files pour in, every answer counts all runs anew. */
const REST = 3;

/** What is shown: which runs, whose scores, which folds. */
export interface Ask {
  q: string;
  scorer: string;
  folded: boolean;
  except: readonly string[];
}

/** Which column it is, without what its runs come to. */
export interface ColumnName {
  key: string;
  name: string;
}

interface Part {
  rows: readonly OverviewRow[];
  generation: number;
  fresh: boolean;
}

interface Shown {
  key: string;
  ask: Ask;
  head: Overview | null;
  names: readonly ColumnName[];
  parts: Map<number, Part>;
  flying: Set<number>;
  error: AppError | null;
  /** A task whose row is to be in sight. */
  find: string | null;
}

const askedAs = (ask: Ask) => JSON.stringify([ask.q, ask.scorer, ask.folded, ask.except]);
const begin = (ask: Ask, find: string | null): Shown => ({
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
  #shown: Shown | null = null;
  #wanted: Shown | null = null;
  #kept: Shown[] = [];
  #first = 0;
  #last = 0;
  /** Replies asked for before this are about another folder. */
  #era = 0;
  /** How often runs changed. */
  #changes = 0;
  /** Until then nothing that is in sight is asked for again because runs changed since the last answer. */
  #rest = 0;
  #answered = 0;
  #update: () => void = () => undefined;
  /** Whether anybody looks at the rows. What nobody looks at goes stale unasked. */
  #watched = false;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
    this.#watched = true;
    this.#pump();
    return () => (this.#watched = false);
  });
  /** Told when other folds or another filter, asked for with `show`, are in sight, and where the task is that was to be found. */
  onswitch: ((found: number | null) => void) | null = null;

  constructor(readonly live: Live) {
    live.onStale((stale) => this.#hear(stale));
  }

  /** What came with the newest answer: columns and sums. Its rows are any. */
  get head(): Overview | null {
    this.#subscribe();
    return this.#shown?.head ?? null;
  }
  get columns(): readonly OverviewColumn[] {
    return this.head?.columns ?? [];
  }
  /** The same list as long as the columns are the same, so that an answer with newer sums draws no cell anew. */
  get names(): readonly ColumnName[] {
    this.#subscribe();
    return this.#shown?.names ?? [];
  }
  get total(): number {
    return this.head?.total_rows ?? 0;
  }
  get misread(): readonly Misread[] {
    return this.head?.misread ?? [];
  }
  get error(): AppError | null {
    this.#subscribe();
    return this.#wanted?.error ?? null;
  }
  /** True while other rows are in sight than those wanted last. */
  get behind(): boolean {
    this.#subscribe();
    return this.#shown !== this.#wanted;
  }
  /** The filter of what is in sight. */
  get q(): string {
    this.#subscribe();
    return this.#shown?.ask.q ?? "";
  }

  row(index: number): OverviewRow | undefined {
    this.#subscribe();
    return this.#shown?.parts.get(Math.floor(index / PART))?.rows[index % PART];
  }

  /** Turns to a filter and folds; what is in sight stays until the first rows are there. `find` is a task to lead to. */
  show(ask: Ask, top: number, find: string | null = null): void {
    if (this.#wanted?.key === askedAs(ask)) return;
    // Where a task is that is looked for only a new answer says.
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

  /** Which rows are in sight. */
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

  /** All rows from one to another, also those that were never in sight. */
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
    { q, scorer, folded, except }: Ask,
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
      // The cells stay in sight. Whoever answers now may have begun to count anew.
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

  /** Parts to ask for, most urgent first: missing in sight, stale in sight, then the next. */
  #needed({ head, parts, flying }: Shown): number | undefined {
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
    // The first answer counts the runs; a second question meanwhile would count them again.
    if (first !== undefined || head === null)
      return flying.size > 0 && head === null ? undefined : first;
    // Two further on: whoever scrolls fast is there before the next answer.
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

  async #ask(wanted: Shown, number: number): Promise<void> {
    const [era, changes, asked] = [this.#era, this.#changes, performance.now()];
    wanted.flying.add(number);
    try {
      const reply = await this.#call(wanted.ask, wanted.find, number * PART, PART);
      // What went stale on its way has to be asked again.
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

  #put(wanted: Shown, number: number, reply: Overview, fresh: boolean): void {
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
    // The matrix may end before what was in sight.
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
