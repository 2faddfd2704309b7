// Reading position in a transcript: focused step and folds. Survives changes of the file.
import { SvelteMap } from "svelte/reactivity";
import type { Step, StepGroup } from "../../generated";
import { isOpenByDefault } from "../../domain/stepSummary";
import { groupsAround, groupsByStep, movedSteps, openByDefault } from "./groups";

export class ReadingState {
  /** The focused step, or -1 before the first move. */
  focused = $state(-1);
  /** A step to flash after navigation. */
  flashed = $state(-1);
  /** The step that a fork is being made from, or -1. */
  forked = $state(-1);
  #all: boolean | null = $state(null);
  readonly #folds = new SvelteMap<number, boolean>();
  #groups = $state.raw<readonly StepGroup[]>([]);
  #defaults = $state.raw<ReadonlyMap<number, boolean>>(openByDefault([], []));
  readonly #byStep = $derived(groupsByStep(this.#groups));

  /** Sub-agents and abandoned branches, in the order of their steps. */
  get groups(): readonly StepGroup[] {
    return this.#groups;
  }
  /** Takes the groups of a new version of the run. Folds and focus stay with their steps. */
  take(groups: readonly StepGroup[]): void {
    const before = this.#groups;
    const moved = movedSteps(before, groups);
    this.#defaults = openByDefault(before, groups, this.#defaults);
    this.#groups = groups;
    const folds = [...this.#folds].map(([step, open]) => [moved(step), open] as const);
    this.#folds.clear();
    for (const [step, open] of folds) this.#folds.set(step, open);
    if (this.focused >= 0) this.focused = this.shown(moved(this.focused));
    if (this.flashed >= 0) this.flashed = moved(this.flashed);
    if (this.forked >= 0) this.forked = moved(this.forked);
  }

  /** The group that a step opens. */
  groupOf(index: number): StepGroup | undefined {
    return this.#byStep.get(index);
  }
  isGroupOpen(group: StepGroup): boolean {
    return this.#folds.get(group.step) ?? this.#all ?? this.#defaults.get(group.step) ?? false;
  }
  /** Opens every group that contains a step. */
  reveal(index: number): void {
    for (const group of groupsAround(this.groups, index)) this.set(group.step, true);
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
