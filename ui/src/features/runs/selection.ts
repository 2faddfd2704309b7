// Which runs are selected, and where the cursor is. Rows are known by id, so that both survive a new order.
import { createSubscriber } from "svelte/reactivity";

export interface SelectedRun {
  id: string;
  path: string;
}

export class RunSelection {
  readonly #selected = new Map<string, string>();
  #cursor: { index: number; id: string | null } = { index: 0, id: null };
  #anchor = 0;
  /** How often somebody moved or selected. */
  #acts = 0;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  get size(): number {
    this.#subscribe();
    return this.#selected.size;
  }
  get paths(): string[] {
    return [...this.#selected.values()];
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
  /** Where a range begins. */
  get anchor(): number {
    return this.#anchor;
  }
  /** Another number once somebody moved or selected anything since. */
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

  /** The row under the cursor stands elsewhere now, or is known now; where a range began moves along. */
  follow(index: number, id: string): void {
    this.#anchor = Math.max(0, this.#anchor + index - this.#cursor.index);
    this.#cursor = { index, id };
    this.#update();
  }

  toggle(one: SelectedRun): void {
    this.#acts++;
    if (!this.#selected.delete(one.id)) this.#selected.set(one.id, one.path);
    this.#update();
  }

  /** These and no others; with `more`, these as well. */
  only(these: readonly SelectedRun[], more = false): void {
    this.#acts++;
    if (!more) this.#selected.clear();
    for (const one of these) this.#selected.set(one.id, one.path);
    this.#update();
  }

  clear(): void {
    this.#acts++;
    this.#selected.clear();
    this.#update();
  }
}
