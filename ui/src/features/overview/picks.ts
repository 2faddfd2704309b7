// Which cells are selected, and where the cursor is. Cells are known by what they stand for, so that a selection survives folds and filters.
import { createSubscriber } from "svelte/reactivity";
import type { Pick } from "./cells";

/** Row and column; -1 is the head of either. */
export interface At {
  row: number;
  column: number;
}

export class CellPicks {
  readonly #picked = new Map<string, Pick>();
  #cursor: At = { row: 0, column: 0 };
  #anchor: At = { row: 0, column: 0 };
  /** What the row under the cursor stands for. */
  #key: string | null = null;
  /** How often somebody moved or selected. */
  #acts = 0;
  // Apart from each other: the cursor moves with every key, and each of many cells asks whether it is selected.
  #moved: () => void = () => undefined;
  #picks: () => void = () => undefined;
  readonly #whereabouts = createSubscriber((update) => {
    this.#moved = update;
  });
  readonly #selection = createSubscriber((update) => {
    this.#picks = update;
  });

  get size(): number {
    this.#selection();
    return this.#picked.size;
  }
  get all(): Pick[] {
    this.#selection();
    return [...this.#picked.values()];
  }
  has(key: string): boolean {
    this.#selection();
    return this.#picked.has(key);
  }
  get cursor(): At {
    this.#whereabouts();
    return this.#cursor;
  }
  get key(): string | null {
    this.#whereabouts();
    return this.#key;
  }
  /** Where a range begins. */
  get anchor(): At {
    return this.#anchor;
  }
  /** Another number once somebody moved or selected anything since. */
  get acts(): number {
    return this.#acts;
  }

  move(to: At, key: string | null, keepAnchor = false): void {
    if (!keepAnchor) this.#anchor = to;
    if (to.row === this.#cursor.row && to.column === this.#cursor.column && key === this.#key)
      return;
    this.#acts++;
    this.#cursor = to;
    this.#key = key;
    this.#moved();
  }

  /** What the row under the cursor stands for is at this row now, or is known now; where a range began moves along. */
  follow(row: number, key: string): void {
    this.#anchor = {
      ...this.#anchor,
      row: Math.max(-1, this.#anchor.row + row - this.#cursor.row),
    };
    this.#cursor = { ...this.#cursor, row };
    this.#key = key;
    this.#moved();
  }

  toggle(pick: Pick): void {
    this.#acts++;
    if (!this.#picked.delete(pick.key)) this.#picked.set(pick.key, pick);
    this.#picks();
  }

  only(these: readonly Pick[], more = false): void {
    this.#acts++;
    if (!more) this.#picked.clear();
    for (const pick of these) this.#picked.set(pick.key, pick);
    this.#picks();
  }

  clear(): void {
    this.#acts++;
    if (this.#picked.size === 0) return;
    this.#picked.clear();
    this.#picks();
  }
}
