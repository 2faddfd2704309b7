// Selected runs and cursor. Rows are identified by id, so that both survive a new order. A selection
// of which nothing is listed is kept, and no action takes it.
import { createSubscriber } from "svelte/reactivity";
import type { RunRow } from "../../generated";

export type SelectedRun = Pick<RunRow, "id" | "path" | "state">;

/** What is kept of a row. */
const kept = ({ id, path, state }: SelectedRun): SelectedRun => ({ id, path, state });

/** Number of paths that are looked for at once. */
const AT_ONCE = 32;

export class RunSelection {
  readonly #selected = new Map<string, SelectedRun>();
  /** Selected runs that the list does not show under its filter. */
  #hidden = new Set<string>();
  #cursor: { index: number; id: string | null } = { index: 0, id: null };
  #anchor = 0;
  /** Counts moves and selections. */
  #acts = 0;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  /** Number of selected runs, also of those that are not listed. */
  get all(): number {
    this.#subscribe();
    return this.#selected.size;
  }
  /** Number of selected runs that are not listed. */
  get hidden(): number {
    this.#subscribe();
    return this.#hidden.size;
  }
  /** Number of runs that actions take: all that are selected, if at least one is listed. */
  get size(): number {
    return this.hidden < this.all ? this.all : 0;
  }
  /** The runs that actions take. */
  get runs(): SelectedRun[] {
    return this.size === 0 ? [] : [...this.#selected.values()];
  }
  get paths(): string[] {
    return this.runs.map((run) => run.path);
  }
  get ids(): string[] {
    return this.runs.map((run) => run.id);
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

  /** Selects or unselects a row of the list. */
  toggle(one: SelectedRun): void {
    this.#acts++;
    this.#forgetHidden();
    this.#hidden.delete(one.id);
    if (!this.#selected.delete(one.id)) this.#selected.set(one.id, kept(one));
    this.#update();
  }

  /** Selects exactly these rows; with `more`, adds them. */
  only(these: readonly SelectedRun[], more = false): void {
    this.#acts++;
    if (more) this.#forgetHidden();
    else this.#forget();
    for (const one of these) {
      this.#selected.set(one.id, kept(one));
      this.#hidden.delete(one.id);
    }
    this.#update();
  }

  clear(): void {
    this.#acts++;
    this.#forget();
    this.#update();
  }

  /** Begins anew where nothing of the selection is listed. */
  #forgetHidden(): void {
    if (this.#hidden.size === this.#selected.size) this.#forget();
  }

  #forget(): void {
    this.#selected.clear();
    this.#hidden.clear();
  }

  /**
   * Finds out which selected runs the list has under another filter. Until `find` has said so, those
   * that are not in sight count as not listed.
   */
  async relist(
    inSight: (id: string) => boolean,
    find: (paths: readonly string[]) => Promise<readonly string[]>,
  ): Promise<void> {
    const missing = [...this.#selected.values()].filter((run) => !inSight(run.id));
    const hidden = new Set(missing.map((run) => run.id));
    this.#hidden = hidden;
    this.#update();
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const found = await find(missing.slice(at, at + AT_ONCE).map((run) => run.path));
      // A newer filter took over.
      if (this.#hidden !== hidden) return;
      for (const id of found) hidden.delete(id);
      this.#update();
    }
  }
}
