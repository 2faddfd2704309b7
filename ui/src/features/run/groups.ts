// Pure. Groups of steps, which fold as one: sub-agents and abandoned branches.
import type { Part, Step, StepGroup } from "../../generated";

/** Groups of more steps than this are folded by default. */
export const MAX_OPEN = 3;

const holds = ({ step, steps }: StepGroup, index: number): boolean =>
  step < index && index <= step + steps;

/** The parts of the opening step, without the count of events that the group shows itself. */
export const ownParts = (step: Step): Part[] =>
  step.parts.filter((part) => part.label !== "contains");

/** The groups that contain a step, the outermost first. `groups` are in the order of their steps. */
export function groupsAround(groups: readonly StepGroup[], index: number): StepGroup[] {
  return groups.filter((group) => holds(group, index));
}

/** Indexes of the steps that no folded group contains. */
export function visibleSteps(
  total: number,
  groups: readonly StepGroup[],
  isOpen: (group: StepGroup) => boolean,
): number[] {
  const visible: number[] = [];
  let at = 0;
  for (const group of groups) {
    if (group.step < at || isOpen(group)) continue;
    for (; at <= group.step && at < total; at++) visible.push(at);
    at = group.step + group.steps + 1;
  }
  for (; at < total; at++) visible.push(at);
  return visible;
}

/** Position of a step in a sorted list, else that of the last one before it; -1 if there is none. */
export function rowOf(visible: readonly number[], index: number): number {
  let [low, high] = [0, visible.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((visible[middle] ?? 0) <= index) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Returns the group that each step opens. */
export function groupsByStep(groups: readonly StepGroup[]): ReadonlyMap<number, StepGroup> {
  return new Map(groups.map((group) => [group.step, group]));
}
