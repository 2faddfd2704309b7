// The list of runs under review. It stays as it was when its first run was opened, until the user
// leaves or refreshes it; runs that no longer match its filter keep their position. Of a long list
// only the neighbourhood of the open run is loaded, and more is fetched ahead.
import type { Backend } from "../backend/backend";
import { filterOf, formatOrder } from "../domain/reviewQueue";
import type { ListPosition, QueueOrder, RunsAround, Sort } from "../generated";
import { formatSort, runRoute, type Route, type RunRoute } from "./route";

/** Fetches more when the open run is this close to the end of the loaded part. */
const PREFETCH_DISTANCE = 200;

/** The loaded part of the list. */
type LoadedRuns = Pick<RunsAround, "offset" | "total" | "ids">;
export type Direction = "previous" | "next";

/** Filter and order of a list. A queue has its own order, which depends on its reviewer. */
export interface ListOf {
  q: string;
  sort: Sort;
  queue: QueueOrder | null;
  /** Name of the reviewer; null for that of the engine. */
  author: string | null;
}

/** A run of a list that another place shows. */
export interface ShownRun {
  id: string;
  path: string;
}

/** Route of a run whose list are these: their filter, or none if no filter holds that many. */
export const runAmong = (id: string, runs: readonly ShownRun[]): RunRoute => ({
  ...runRoute(id),
  q: filterOf(runs.map(({ path }) => path)) ?? "",
});

/** A run outside the list, and its neighbours in it. */
interface UnlistedRun {
  id: string;
  previous: string | null;
  next: string | null;
}

export class WorkList {
  #loaded = $state.raw<LoadedRuns | null>(null);
  #unlisted = $state.raw<UnlistedRun | null>(null);
  /** The runs of a list that another place shows, in its order, their filter, and that place. */
  #given: { q: string; ids: string[]; from: Route | null } | null = null;
  /** Identifies the filter and order of the list. */
  #key = "";
  /** The run around which the list was requested last. */
  #asked = "";
  #asking: Partial<Record<"list" | Direction, Promise<void>>> = {};
  /** Increases when the list is left, so that late replies are ignored. */
  #era = 0;

  constructor(readonly backend: Pick<Backend, "call">) {}

  /** Opens a run of a list. Fetches the list once and keeps it as long as its runs are opened. */
  open(list: ListOf, id: string): void {
    const order = list.queue === null ? "" : `${formatOrder(list.queue)} ${list.author ?? ""}`;
    const key = JSON.stringify([formatSort(list.sort), list.q, order]);
    const given = this.#key === "" && list.queue === null ? this.#given : null;
    if (key !== this.#key) this.leave();
    this.#key = key;
    if (given?.q === list.q && given.ids.includes(id)) {
      this.#given = given;
      this.#loaded = { offset: 0, total: given.ids.length, ids: given.ids };
    }
    const loaded = this.#loaded;
    if (loaded?.ids.includes(id)) {
      for (const direction of ["next", "previous"] as const)
        if (isNear(loaded, id, direction)) this.#more(list, direction);
    } else if (this.#asked !== id) this.#ask(list, id);
  }

  /**
   * Takes the list that another place shows, before one of its runs is opened. Returns the route of
   * this run. Closing it returns to `from`, if that place is no list.
   */
  give(id: string, runs: readonly ShownRun[], from: Route | null = null): RunRoute {
    const route = runAmong(id, runs);
    this.leave();
    this.#given = { q: route.q, ids: runs.map((run) => run.id), from };
    return route;
  }

  /** The place that gave the list of a run, if closing the run returns there. */
  giver({ id, q }: Pick<RunRoute, "id" | "q">): Route | null {
    const given = this.#given;
    return given?.q === q && given.ids.includes(id) ? given.from : null;
  }

  /** True if the list is one that another place showed, in its order. */
  get isGiven(): boolean {
    return this.#loaded !== null && this.#given !== null;
  }

  /** Those of the runs around one that are in a list of another place, in its order. */
  arranged(id: string, around: RunsAround): RunsAround {
    if (!this.isGiven || this.#loaded === null) return around;
    const isIn = (one: string) => one === id || around.ids.includes(one);
    return { ...around, ids: this.#loaded.ids.filter(isIn) };
  }

  /** Fetches the current list around the open run. The loaded part stays until then. */
  refresh(list: ListOf, id: string): void {
    this.#era++;
    this.#asking = {};
    this.#ask(list, id, true);
  }

  leave(): void {
    this.#era++;
    this.#loaded = this.#unlisted = this.#given = null;
    this.#asking = {};
    this.#key = this.#asked = "";
  }

  /**
   * Position of a run in the list; undefined while unknown. A run outside the list gets the
   * neighbours it would have.
   */
  place(id: string): ListPosition | undefined {
    const loaded = this.#loaded;
    if (loaded === null) return undefined;
    const at = loaded.ids.indexOf(id);
    if (at >= 0)
      return {
        position: loaded.offset + at,
        total: loaded.total,
        previous: loaded.ids[at - 1] ?? null,
        next: loaded.ids[at + 1] ?? null,
      };
    const unlisted = this.#unlisted;
    return unlisted?.id === id
      ? {
          position: null,
          total: loaded.total,
          previous: unlisted.previous,
          next: unlisted.next,
        }
      : undefined;
  }

  /** True if the list continues beside a run, though the neighbour is not loaded yet. */
  hasMore(id: string, direction: Direction): boolean {
    const loaded = this.#loaded;
    if (loaded === null) return true;
    const at = loaded.ids.indexOf(id);
    if (at < 0) return this.#unlisted?.id !== id;
    return direction === "next"
      ? at === loaded.ids.length - 1 && isMore(loaded, direction)
      : at === 0 && isMore(loaded, direction);
  }

  /** Resolves when all requests have finished or failed; null when there is none. */
  get awaited(): Promise<unknown> | null {
    const all = Object.values(this.#asking).filter((asking) => asking !== undefined);
    return all.length === 0 ? null : Promise.all(all);
  }

  /**
   * Like `awaited`, for the list alone without the prefetch: until then a run may be missing in it.
   */
  get listed(): Promise<void> | null {
    return this.#asking.list ?? null;
  }

  #ask(list: ListOf, id: string, anew = false): void {
    this.#asked = id;
    this.#fetch("list", list, id, (around) => {
      // A run outside the list must not replace the list in use.
      const loaded = this.#loaded;
      if (anew || loaded === null || around.ids.includes(id)) this.#loaded = around;
      this.#unlisted = around.ids.includes(id)
        ? null
        : findNeighbours(id, around, anew || loaded === null ? around.ids : loaded.ids);
    });
  }

  /** Fetches what lies beyond one end of the loaded part. */
  #more(list: ListOf, direction: Direction): void {
    const loaded = this.#loaded;
    const end = direction === "next" ? loaded?.ids.at(-1) : loaded?.ids[0];
    if (
      loaded === null ||
      end === undefined ||
      !isMore(loaded, direction) ||
      this.#asking[direction] !== undefined
    )
      return;
    this.#fetch(direction, list, end, (around) => {
      if (this.#loaded !== null)
        this.#loaded =
          direction === "next"
            ? appendAfter(this.#loaded, end, around)
            : prependBefore(this.#loaded, end, around);
    });
  }

  #fetch(
    what: "list" | Direction,
    list: ListOf,
    id: string,
    take: (around: RunsAround) => void,
  ): void {
    const era = this.#era;
    const asking: Promise<void> = runsAround(this.backend, list, id)
      .then(
        (around) => {
          if (era === this.#era) take(around);
        },
        () => {
          if (era === this.#era && what === "list") this.#asked = "";
        },
      )
      .finally(() => {
        if (this.#asking[what] === asking) this.#asking[what] = undefined;
      });
    this.#asking[what] = asking;
  }
}

/** The runs around one in its list or queue; an unknown id stands before the first one. */
export function runsAround(
  backend: Pick<Backend, "call">,
  { q: filter, sort, queue: order, author }: ListOf,
  id: string,
): Promise<RunsAround> {
  return order === null
    ? backend.call("runs_around", { filter, sort, id })
    : backend.call("queue_around", { filter, sort, order, author, id });
}

const isMore = (loaded: LoadedRuns, direction: Direction) =>
  direction === "next" ? loaded.offset + loaded.ids.length < loaded.total : loaded.offset > 0;

function isNear(loaded: LoadedRuns, id: string, direction: Direction): boolean {
  const at = loaded.ids.indexOf(id);
  return (
    isMore(loaded, direction) &&
    (direction === "next" ? loaded.ids.length - at <= PREFETCH_DISTANCE : at < PREFETCH_DISTANCE)
  );
}

/** Neighbours of an unlisted run among the loaded ones. */
function findNeighbours(id: string, around: RunsAround, ids: readonly string[]): UnlistedRun {
  const known = new Set(ids);
  const at = around.before - around.offset;
  return {
    id,
    previous: around.ids.slice(0, at).findLast((other) => known.has(other)) ?? null,
    next: around.ids.slice(at).find((other) => known.has(other)) ?? null,
  };
}

/** Appends what follows the last loaded run in the current list. */
function appendAfter(loaded: LoadedRuns, last: string, around: RunsAround): LoadedRuns {
  const known = new Set(loaded.ids);
  const ids = [
    ...loaded.ids,
    ...around.ids
      .slice(around.before - around.offset)
      .filter((id) => id !== last && !known.has(id)),
  ];
  const left = around.total - around.offset - around.ids.length;
  return { offset: loaded.offset, total: loaded.offset + ids.length + left, ids };
}

/**
 * Prepends what precedes the first loaded run in the current list; changes there shift the
 * positions of all others.
 */
function prependBefore(loaded: LoadedRuns, first: string, around: RunsAround): LoadedRuns {
  const known = new Set(loaded.ids);
  const before = around.ids
    .slice(0, around.before - around.offset)
    .filter((id) => id !== first && !known.has(id));
  return {
    offset: around.offset,
    total: loaded.total + around.offset + before.length - loaded.offset,
    ids: [...before, ...loaded.ids],
  };
}

/** The neighbour of a run among others of a list, which may leave it out; null at the end. */
export function neighbourAmong(
  id: string,
  around: RunsAround,
  direction: Direction,
): string | null {
  const at = around.ids.indexOf(id);
  // Without the run, the next one stands where it would be.
  const place = at >= 0 ? at : around.before - around.offset;
  return around.ids[direction === "next" ? place + (at >= 0 ? 1 : 0) : place - 1] ?? null;
}
