// Selected cells and cursor. Cells are identified by content, so that the selection survives folds
// and filters.
import { createSubscriber } from "svelte/reactivity";
import type { Pick } from "./cells";

/** Row and column; -1 is the header of either. */
export interface CellPosition {
  row: number;
  column: number;
}

export class CellSelection {
  readonly #selected = new Map<string, Pick>();
  #cursor: CellPosition = { row: 0, column: 0 };
  #anchor: CellPosition = { row: 0, column: 0 };
  /** Key of the row under the cursor. */
  #key: string | null = null;
  /** Counts moves and selections. */
  #acts = 0;
  // Separate notifications: the cursor moves with each key, and many cells watch the selection.
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
  /** Start of a range. */
  get anchor(): CellPosition {
    return this.#anchor;
  }
  /** Changes with each move or selection. */
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

  /** The row under the cursor moved or became known; the anchor moves along. */
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
