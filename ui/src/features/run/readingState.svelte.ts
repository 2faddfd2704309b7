// Where the reader is in a transcript: which step has the focus, and what is folded. Outlives changes of the file.
import { SvelteMap } from "svelte/reactivity";
import type { Step } from "../../generated/Step";
import { isOpenByDefault } from "../../domain/stepSummary";

export class ReadingState {
  /** The step with the focus, or -1 before anyone moved. */
  focused = $state(-1);
  /** A step that was led to and should be noticed. */
  flashed = $state(-1);
  #all: boolean | null = $state(null);
  readonly #folds = new SvelteMap<number, boolean>();

  isOpen(step: Step): boolean {
    return this.#folds.get(step.index) ?? this.#all ?? isOpenByDefault(step);
  }
  set(index: number, open: boolean): void {
    this.#folds.set(index, open);
  }
  flip(step: Step): void {
    this.set(step.index, !this.isOpen(step));
  }
  /** Everything open, then everything folded to one line each, and so on. */
  flipAll(): void {
    this.#all = this.#all !== true;
    this.#folds.clear();
  }
}
