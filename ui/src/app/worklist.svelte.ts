// The list that a person works through: as it was when its first run was opened, until they leave it or refresh it. Runs that do not pass its filter any more, because they were reviewed, keep their place. Of a long list the runs around the one that is open are loaded; more are fetched before they are needed.
import type { Backend } from "../backend/backend";
import type { Place } from "../generated/Place";
import type { RunsAround } from "../generated/RunsAround";
import type { Sort } from "../generated/Sort";
import { formatSort } from "./route";

/** So close to an end of what is loaded, more is fetched. */
const PREFETCH_DISTANCE = 200;

/** What is loaded of the list. */
type LoadedRuns = Pick<RunsAround, "offset" | "total" | "ids">;
type Direction = "previous" | "next";

/** A run that is not in the list, and between which of its runs it would stand. */
interface UnlistedRun {
  id: string;
  previous: string | null;
  next: string | null;
}

export class WorkList {
  #loaded = $state.raw<LoadedRuns | null>(null);
  #unlisted = $state.raw<UnlistedRun | null>(null);
  /** Names the filter and order of the list. */
  #key = "";
  /** The run that the list is asked for, or was last. */
  #asked = "";
  #asking: Partial<Record<"list" | Direction, Promise<void>>> = {};
  /** Grows when the list is left, so that replies on their direction count no more. */
  #era = 0;

  constructor(readonly backend: Pick<Backend, "call">) {}

  /** A run of a list is open. The list is asked for once; it is kept as long as runs of it are opened. */
  open(filter: string, sort: Sort, id: string): void {
    const key = `${formatSort(sort)} ${filter}`;
    if (key !== this.#key) this.leave();
    this.#key = key;
    const loaded = this.#loaded;
    if (loaded?.ids.includes(id)) {
      for (const direction of ["next", "previous"] as const)
        if (isNear(loaded, id, direction)) this.#more(filter, sort, direction);
    } else if (this.#asked !== id) this.#ask(filter, sort, id);
  }

  /** The list as it is now, around the run that is open. What is loaded stays until that is there. */
  refresh(filter: string, sort: Sort, id: string): void {
    this.#era++;
    this.#asking = {};
    this.#ask(filter, sort, id, true);
  }

  leave(): void {
    this.#era++;
    this.#loaded = this.#unlisted = null;
    this.#asking = {};
    this.#key = this.#asked = "";
  }

  /** Where a run stands in the list; undefined while that is not known. A run that is not in it has the neighbours that it would have. */
  place(id: string): Place | undefined {
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

  /** Whether the list goes on beside a run, though its neighbour is not known yet. */
  hasMore(id: string, direction: Direction): boolean {
    const loaded = this.#loaded;
    if (loaded === null) return true;
    const at = loaded.ids.indexOf(id);
    if (at < 0) return this.#unlisted?.id !== id;
    return direction === "next"
      ? at === loaded.ids.length - 1 && isMore(loaded, direction)
      : at === 0 && isMore(loaded, direction);
  }

  /** Comes when everything that was asked for is there, or could not be had; null when nothing is awaited. */
  get awaited(): Promise<unknown> | null {
    const all = Object.values(this.#asking).filter((asking) => asking !== undefined);
    return all.length === 0 ? null : Promise.all(all);
  }

  /** The same of the list alone, without what lies further off: until then a run that leaves it may be missing in it. */
  get listed(): Promise<void> | null {
    return this.#asking.list ?? null;
  }

  #ask(filter: string, sort: Sort, id: string, anew = false): void {
    this.#asked = id;
    this.#fetch("list", filter, sort, id, (around) => {
      // A run that is not in the list takes away no list that somebody works through.
      const loaded = this.#loaded;
      if (anew || loaded === null || around.ids.includes(id)) this.#loaded = around;
      this.#unlisted = around.ids.includes(id)
        ? null
        : findNeighbours(id, around, anew || loaded === null ? around.ids : loaded.ids);
    });
  }

  /** Fetches what comes beyond an end of what is loaded. */
  #more(filter: string, sort: Sort, direction: Direction): void {
    const loaded = this.#loaded;
    const end = direction === "next" ? loaded?.ids.at(-1) : loaded?.ids[0];
    if (
      loaded === null ||
      end === undefined ||
      !isMore(loaded, direction) ||
      this.#asking[direction] !== undefined
    )
      return;
    this.#fetch(direction, filter, sort, end, (around) => {
      if (this.#loaded !== null)
        this.#loaded =
          direction === "next"
            ? appendAfter(this.#loaded, end, around)
            : prependBefore(this.#loaded, end, around);
    });
  }

  #fetch(
    what: "list" | Direction,
    filter: string,
    sort: Sort,
    id: string,
    take: (around: RunsAround) => void,
  ): void {
    const era = this.#era;
    const asking: Promise<void> = this.backend
      .call("runs_around", { filter, sort, id })
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

const isMore = (loaded: LoadedRuns, direction: Direction) =>
  direction === "next" ? loaded.offset + loaded.ids.length < loaded.total : loaded.offset > 0;

function isNear(loaded: LoadedRuns, id: string, direction: Direction): boolean {
  const at = loaded.ids.indexOf(id);
  return (
    isMore(loaded, direction) &&
    (direction === "next" ? loaded.ids.length - at <= PREFETCH_DISTANCE : at < PREFETCH_DISTANCE)
  );
}

/** The neighbours of a run that is not in the list, among those that are. */
function findNeighbours(id: string, around: RunsAround, ids: readonly string[]): UnlistedRun {
  const known = new Set(ids);
  const at = around.before - around.offset;
  return {
    id,
    previous: around.ids.slice(0, at).findLast((other) => known.has(other)) ?? null,
    next: around.ids.slice(at).find((other) => known.has(other)) ?? null,
  };
}

/** With what follows its last run in the list as that is now. */
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

/** With what stands before its first run in the list as that is now; what came or went there moves the places of all others. */
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
