// Reading position in a transcript: focused step and folds. Survives changes of the file.
import { SvelteMap } from "svelte/reactivity";
import type { Step, StepGroup } from "../../generated";
import { isOpenByDefault } from "../../domain/stepSummary";
import { groupsAround, groupsByStep, MAX_OPEN } from "./groups";

export class ReadingState {
  /** The focused step, or -1 before the first move. */
  focused = $state(-1);
  /** A step to flash after navigation. */
  flashed = $state(-1);
  #all: boolean | null = $state(null);
  readonly #folds = new SvelteMap<number, boolean>();
  /** Sub-agents and abandoned branches, in the order of their steps. */
  groups = $state.raw<readonly StepGroup[]>([]);
  readonly #byStep = $derived(groupsByStep(this.groups));

  /** The group that a step opens. */
  groupOf(index: number): StepGroup | undefined {
    return this.#byStep.get(index);
  }
  isGroupOpen(group: StepGroup): boolean {
    return this.#folds.get(group.step) ?? this.#all ?? group.steps <= MAX_OPEN;
  }
  /** Opens every group that contains a step. */
  reveal(index: number): void {
    for (const group of groupsAround(this.groups, index))
      if (!this.isGroupOpen(group)) this.set(group.step, true);
  }
  /** The step itself, or the outermost folded group that contains it. */
  shown(index: number): number {
    const folded = groupsAround(this.groups, index).find((group) => !this.isGroupOpen(group));
    return folded?.step ?? index;
  }

  isOpen(step: Step): boolean {
    const group = this.groupOf(step.index);
    if (group) return this.isGroupOpen(group);
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
