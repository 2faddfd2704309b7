// Selected runs and cursor. Rows are identified by id, so that both survive a new order.
import { createSubscriber } from "svelte/reactivity";
import type { RunRow } from "../../generated";

export type SelectedRun = Pick<RunRow, "id" | "path" | "state">;

/** What is kept of a row. */
const kept = ({ id, path, state }: SelectedRun): SelectedRun => ({ id, path, state });

export class RunSelection {
  readonly #selected = new Map<string, SelectedRun>();
  #cursor: { index: number; id: string | null } = { index: 0, id: null };
  #anchor = 0;
  /** Counts moves and selections. */
  #acts = 0;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  get size(): number {
    this.#subscribe();
    return this.#selected.size;
  }
  get runs(): SelectedRun[] {
    return [...this.#selected.values()];
  }
  get paths(): string[] {
    return this.runs.map((run) => run.path);
  }
  get ids(): string[] {
    return [...this.#selected.keys()];
  }
  has(id: string): boolean {
    this.#subscribe();
    return this.#selected.has(id);
  }
  get cursor(): number {
    this.#subscribe();
    return this.#cursor.index;
  }
  get cursorId(): string | null {
    this.#subscribe();
    return this.#cursor.id;
  }
  /** Start of a range. */
  get anchor(): number {
    return this.#anchor;
  }
  /** Changes with each move or selection. */
  get acts(): number {
    return this.#acts;
  }

  move(index: number, id: string | null, keepAnchor = false): void {
    if (index === this.#cursor.index && id === this.#cursor.id) return;
    this.#acts++;
    this.#cursor = { index, id };
    if (!keepAnchor) this.#anchor = index;
    this.#update();
  }

  /** The row under the cursor moved or became known; the anchor moves along. */
  follow(index: number, id: string): void {
    this.#anchor = Math.max(0, this.#anchor + index - this.#cursor.index);
    this.#cursor = { index, id };
    this.#update();
  }

  toggle(one: SelectedRun): void {
    this.#acts++;
    if (!this.#selected.delete(one.id)) this.#selected.set(one.id, kept(one));
    this.#update();
  }

  /** Selects exactly these rows; with `more`, adds them. */
  only(these: readonly SelectedRun[], more = false): void {
    this.#acts++;
    if (!more) this.#selected.clear();
    for (const one of these) this.#selected.set(one.id, kept(one));
    this.#update();
  }

  clear(): void {
    this.#acts++;
    this.#selected.clear();
    this.#update();
  }
}
