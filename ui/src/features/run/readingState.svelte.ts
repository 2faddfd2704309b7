// Reading position in a transcript: focused step and folds. Survives changes of the file.
import { SvelteMap } from "svelte/reactivity";
import type { Step } from "../../generated";
import { isOpenByDefault } from "../../domain/stepSummary";

export class ReadingState {
  /** The focused step, or -1 before the first move. */
  focused = $state(-1);
  /** A step to flash after navigation. */
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
  /** Opens all steps, then folds all, alternating. */
  flipAll(): void {
    this.#all = this.#all !== true;
    this.#folds.clear();
  }
}
