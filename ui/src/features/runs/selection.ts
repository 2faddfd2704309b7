// Selected runs and cursor. Rows are identified by id, so that both survive a new order. A selection
// of which nothing is listed is kept, and no action takes it.
import { createSubscriber } from "svelte/reactivity";
import type { RunRow } from "../../generated";

export type SelectedRun = Pick<RunRow, "id" | "path" | "state">;

/** What is kept of a row. */
const kept = ({ id, path, state }: SelectedRun): SelectedRun => ({ id, path, state });

/** Number of paths that are looked for at once. */
const AT_ONCE = 32;
/** A search rests this many times its duration before the next one, because many runs take long. */
const REST = 3;
const rest = (ms: number) => new Promise((done) => setTimeout(done, ms));

export class RunSelection {
  readonly #selected = new Map<string, SelectedRun>();
  /** Selected runs that the list does not show under its filter. */
  #hidden = new Set<string>();
  /** The filter that these are hidden by, and whether they are being looked for under it. */
  #q: string | null = null;
  #looking = false;
  #again = false;
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
   * Finds out which selected runs the list has under a filter. Under another one than before, those
   * that are not in sight count as not listed until `find` has said otherwise; under the same one,
   * what was known of them stays until then, and one search follows the other.
   */
  async relist(
    q: string,
    inSight: (id: string) => boolean,
    find: (paths: readonly string[]) => Promise<readonly string[]>,
  ): Promise<void> {
    if (q === this.#q && this.#looking) {
      this.#again = true;
      return;
    }
    if (q !== this.#q) {
      this.#q = q;
      this.#hidden = new Set(this.#missing(inSight).map((run) => run.id));
      this.#update();
    }
    this.#looking = true;
    try {
      do {
        this.#again = false;
        const began = performance.now();
        await this.#look(q, inSight, find);
        if (this.#again) await rest(REST * (performance.now() - began));
      } while (this.#again && q === this.#q);
    } finally {
      if (q === this.#q) this.#looking = false;
    }
  }

  #missing(inSight: (id: string) => boolean): SelectedRun[] {
    return [...this.#selected.values()].filter((run) => !inSight(run.id));
  }

  async #look(...[q, inSight, find]: Parameters<RunSelection["relist"]>): Promise<void> {
    const missing = this.#missing(inSight);
    for (const { id } of this.#selected.values()) if (inSight(id)) this.#hidden.delete(id);
    for (let at = 0; at < missing.length; at += AT_ONCE) {
      const some = missing.slice(at, at + AT_ONCE);
      const found = new Set(await find(some.map((run) => run.path)));
      // A newer filter took over.
      if (q !== this.#q) return;
      for (const { id } of some)
        if (found.has(id)) this.#hidden.delete(id);
        else if (this.#selected.has(id)) this.#hidden.add(id);
      this.#update();
    }
    this.#update();
  }
}
