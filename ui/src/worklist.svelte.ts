// The list that a person works through: as it was when its first run was opened, until they leave it or refresh it. Runs that do not pass its filter any more, because they were reviewed, keep their place.
import type { Backend } from "./backend/backend";
import type { Place } from "./generated/Place";
import type { RunsAround } from "./generated/RunsAround";
import type { Sort } from "./generated/Sort";
import { formatSort } from "./route";

export class WorkList {
  #around = $state.raw<RunsAround | null>(null);
  /** Names the filter and order of the list. */
  #key = "";
  /** The run that the list was last asked for. */
  #asked = "";
  #asking: Promise<void> | null = null;
  /** Grows when the list is left, so that replies on their way count no more. */
  #era = 0;

  constructor(readonly backend: Pick<Backend, "call">) {}

  /** A run of a list is open. The list is asked for once; it is kept as long as runs of it are opened. */
  open(filter: string, sort: Sort, id: string): void {
    const key = `${formatSort(sort)} ${filter}`;
    if (key === this.#key && (this.#asked === id || this.#around?.ids.includes(id))) return;
    if (key !== this.#key) this.leave();
    this.#key = key;
    this.#ask(filter, sort, id);
  }

  /** The list as it is now, with the run that is open. */
  refresh(filter: string, sort: Sort, id: string): void {
    this.leave();
    this.open(filter, sort, id);
  }

  leave(): void {
    this.#era++;
    this.#around = null;
    this.#asking = null;
    this.#key = this.#asked = "";
  }

  /** Where a run stands in the list; undefined while the list is awaited. A run that is not in it is followed by the first that is. */
  place(id: string): Place | undefined {
    const list = this.#around;
    if (list === null) return undefined;
    const at = list.ids.indexOf(id);
    if (at < 0) return { position: null, total: list.total, previous: null, next: list.ids[0] ?? null };
    return { position: list.offset + at, total: list.total, previous: list.ids[at - 1] ?? null, next: list.ids[at + 1] ?? null };
  }

  /** Comes when the list is there, or could not be had; null when nothing is awaited. */
  get awaited(): Promise<void> | null {
    return this.#asking;
  }

  #ask(filter: string, sort: Sort, id: string): void {
    const era = this.#era;
    this.#asked = id;
    const asking = this.backend.call("runs_around", { filter, sort, id }).then(
      (around) => {
        // A run that is not in the list takes away no list that somebody works through.
        if (era === this.#era && (this.#around === null || around.ids.includes(id))) this.#around = around;
      },
      () => {
        if (era === this.#era) this.#asked = "";
      },
    ).finally(() => {
      if (this.#asking === asking) this.#asking = null;
    });
    this.#asking = asking;
  }
}
