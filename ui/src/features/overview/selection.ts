// Which cells are selected, and where the cursor is. Cells are known by what they stand for, so that a selection survives folds and filters.
import { createSubscriber } from "svelte/reactivity";
import type { Pick } from "./cells";

/** Row and column; -1 is the head of either. */
export interface CellPosition {
  row: number;
  column: number;
}

export class CellSelection {
  readonly #selected = new Map<string, Pick>();
  #cursor: CellPosition = { row: 0, column: 0 };
  #anchor: CellPosition = { row: 0, column: 0 };
  /** What the row under the cursor stands for. */
  #key: string | null = null;
  /** How often somebody moved or selected. */
  #acts = 0;
  // Apart from each other: the cursor moves with every key, and each of many cells asks whether it is selected.
  #notifyCursor: () => void = () => undefined;
  #notifySelection: () => void = () => undefined;
  readonly #cursorSubscription = createSubscriber((update) => {
    this.#notifyCursor = update;
  });
  readonly #selectionSubscription = createSubscriber((update) => {
    this.#notifySelection = update;
  });

  get size(): number {
    this.#selectionSubscription();
    return this.#selected.size;
  }
  get all(): Pick[] {
    this.#selectionSubscription();
    return [...this.#selected.values()];
  }
  has(key: string): boolean {
    this.#selectionSubscription();
    return this.#selected.has(key);
  }
  get cursor(): CellPosition {
    this.#cursorSubscription();
    return this.#cursor;
  }
  get key(): string | null {
    this.#cursorSubscription();
    return this.#key;
  }
  /** Where a range begins. */
  get anchor(): CellPosition {
    return this.#anchor;
  }
  /** Another number once somebody moved or selected anything since. */
  get acts(): number {
    return this.#acts;
  }

  move(to: CellPosition, key: string | null, keepAnchor = false): void {
    if (!keepAnchor) this.#anchor = to;
    if (to.row === this.#cursor.row && to.column === this.#cursor.column && key === this.#key)
      return;
    this.#acts++;
    this.#cursor = to;
    this.#key = key;
    this.#notifyCursor();
  }

  /** What the row under the cursor stands for is at this row now, or is known now; where a range began moves along. */
  follow(row: number, key: string): void {
    this.#anchor = {
      ...this.#anchor,
      row: Math.max(-1, this.#anchor.row + row - this.#cursor.row),
    };
    this.#cursor = { ...this.#cursor, row };
    this.#key = key;
    this.#notifyCursor();
  }

  toggle(pick: Pick): void {
    this.#acts++;
    if (!this.#selected.delete(pick.key)) this.#selected.set(pick.key, pick);
    this.#notifySelection();
  }

  only(these: readonly Pick[], more = false): void {
    this.#acts++;
    if (!more) this.#selected.clear();
    for (const pick of these) this.#selected.set(pick.key, pick);
    this.#notifySelection();
  }

  clear(): void {
    this.#acts++;
    if (this.#selected.size === 0) return;
    this.#selected.clear();
    this.#notifySelection();
  }
}
