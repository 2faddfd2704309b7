// The list that a person works through: as it was when its first run was opened, until they leave it or refresh it. Runs that do not pass its filter any more, because they were reviewed, keep their place. Of a long list the runs around the one that is open are held; more are fetched before they are needed.
import type { Backend } from "../backend/backend";
import type { Place } from "../generated/Place";
import type { RunsAround } from "../generated/RunsAround";
import type { Sort } from "../generated/Sort";
import { formatSort } from "./route";

/** So close to an end of what is held, more is fetched. */
const NEAR = 200;

/** What is held of the list. */
type Held = Pick<RunsAround, "offset" | "total" | "ids">;
type Way = "previous" | "next";

/** A run that is not in the list, and between which of its runs it would stand. */
interface Guest {
  id: string;
  previous: string | null;
  next: string | null;
}

export class WorkList {
  #held = $state.raw<Held | null>(null);
  #guest = $state.raw<Guest | null>(null);
  /** Names the filter and order of the list. */
  #key = "";
  /** The run that the list is asked for, or was last. */
  #asked = "";
  #asking: Partial<Record<"list" | Way, Promise<void>>> = {};
  /** Grows when the list is left, so that replies on their way count no more. */
  #era = 0;

  constructor(readonly backend: Pick<Backend, "call">) {}

  /** A run of a list is open. The list is asked for once; it is kept as long as runs of it are opened. */
  open(filter: string, sort: Sort, id: string): void {
    const key = `${formatSort(sort)} ${filter}`;
    if (key !== this.#key) this.leave();
    this.#key = key;
    const held = this.#held;
    if (held?.ids.includes(id)) {
      for (const way of ["next", "previous"] as const)
        if (isNear(held, id, way)) this.#more(filter, sort, way);
    } else if (this.#asked !== id) this.#ask(filter, sort, id);
  }

  /** The list as it is now, around the run that is open. What is held stays until that is there. */
  refresh(filter: string, sort: Sort, id: string): void {
    this.#era++;
    this.#asking = {};
    this.#ask(filter, sort, id, true);
  }

  leave(): void {
    this.#era++;
    this.#held = this.#guest = null;
    this.#asking = {};
    this.#key = this.#asked = "";
  }

  /** Where a run stands in the list; undefined while that is not known. A run that is not in it has the neighbours that it would have. */
  place(id: string): Place | undefined {
    const held = this.#held;
    if (held === null) return undefined;
    const at = held.ids.indexOf(id);
    if (at >= 0)
      return {
        position: held.offset + at,
        total: held.total,
        previous: held.ids[at - 1] ?? null,
        next: held.ids[at + 1] ?? null,
      };
    const guest = this.#guest;
    return guest?.id === id
      ? { position: null, total: held.total, previous: guest.previous, next: guest.next }
      : undefined;
  }

  /** Whether the list goes on beside a run, though its neighbour is not known yet. */
  goesOn(id: string, way: Way): boolean {
    const held = this.#held;
    if (held === null) return true;
    const at = held.ids.indexOf(id);
    if (at < 0) return this.#guest?.id !== id;
    return way === "next"
      ? at === held.ids.length - 1 && isMore(held, way)
      : at === 0 && isMore(held, way);
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
      const held = this.#held;
      if (anew || held === null || around.ids.includes(id)) this.#held = around;
      this.#guest = around.ids.includes(id)
        ? null
        : guest(id, around, anew || held === null ? around.ids : held.ids);
    });
  }

  /** Fetches what comes beyond an end of what is held. */
  #more(filter: string, sort: Sort, way: Way): void {
    const held = this.#held;
    const end = way === "next" ? held?.ids.at(-1) : held?.ids[0];
    if (held === null || end === undefined || !isMore(held, way) || this.#asking[way] !== undefined)
      return;
    this.#fetch(way, filter, sort, end, (around) => {
      if (this.#held !== null)
        this.#held =
          way === "next"
            ? withNext(this.#held, end, around)
            : withPrevious(this.#held, end, around);
    });
  }

  #fetch(
    what: "list" | Way,
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

const isMore = (held: Held, way: Way) =>
  way === "next" ? held.offset + held.ids.length < held.total : held.offset > 0;

function isNear(held: Held, id: string, way: Way): boolean {
  const at = held.ids.indexOf(id);
  return isMore(held, way) && (way === "next" ? held.ids.length - at <= NEAR : at < NEAR);
}

/** The neighbours of a run that is not in the list, among those that are. */
function guest(id: string, around: RunsAround, ids: readonly string[]): Guest {
  const known = new Set(ids);
  const at = around.before - around.offset;
  return {
    id,
    previous: around.ids.slice(0, at).findLast((other) => known.has(other)) ?? null,
    next: around.ids.slice(at).find((other) => known.has(other)) ?? null,
  };
}

/** With what follows its last run in the list as that is now. */
function withNext(held: Held, last: string, around: RunsAround): Held {
  const known = new Set(held.ids);
  const ids = [
    ...held.ids,
    ...around.ids
      .slice(around.before - around.offset)
      .filter((id) => id !== last && !known.has(id)),
  ];
  const left = around.total - around.offset - around.ids.length;
  return { offset: held.offset, total: held.offset + ids.length + left, ids };
}

/** With what stands before its first run in the list as that is now; what came or went there moves the places of all others. */
function withPrevious(held: Held, first: string, around: RunsAround): Held {
  const known = new Set(held.ids);
  const before = around.ids
    .slice(0, around.before - around.offset)
    .filter((id) => id !== first && !known.has(id));
  return {
    offset: around.offset,
    total: held.total + around.offset + before.length - held.offset,
    ids: [...before, ...held.ids],
  };
}
