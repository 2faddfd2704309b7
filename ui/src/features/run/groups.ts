// Pure. Groups of steps, which fold as one: sub-agents and abandoned branches.
import type { StepGroup } from "../../generated";

/** Groups of more steps than this are folded by default. */
export const MAX_OPEN = 3;

const holds = ({ step, steps }: StepGroup, index: number): boolean =>
  step < index && index <= step + steps;

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

/** Position of each group by its new group: the n-th of a name and a prompt stays the n-th. */
function matched(
  before: readonly StepGroup[],
  now: readonly StepGroup[],
): { old: StepGroup; new: StepGroup }[] {
  const key = ({ name, prompt }: StepGroup) => JSON.stringify([name, prompt]);
  const known = new Map<string, StepGroup[]>();
  for (const group of now.toReversed()) {
    const same = known.get(key(group));
    if (same) same.push(group);
    else known.set(key(group), [group]);
  }
  return before.flatMap((old) => {
    const found = known.get(key(old))?.pop();
    return found ? [{ old, new: found }] : [];
  });
}

/**
 * Where steps are after a run has grown: steps may be added inside of a group, which moves all that
 * follow it.
 */
export function movedSteps(
  before: readonly StepGroup[],
  now: readonly StepGroup[],
): (index: number) => number {
  const pairs = matched(before, now);
  return (index) => {
    let by = 0;
    /** Last step of the outermost group that ends before the step. */
    let ended = -1;
    for (const { old, new: now } of pairs) {
      if (old.step > index) break;
      if (old.step <= ended) continue;
      by = now.step - old.step;
      if (index <= old.step + old.steps) continue;
      by += now.steps - old.steps;
      ended = old.step + old.steps;
    }
    return index + by;
  };
}

/**
 * Which groups are open by default, by their first step: small ones. A group that grows stays as it
 * was when it was first seen.
 */
export function openByDefault(
  before: readonly StepGroup[],
  now: readonly StepGroup[],
  wasOpen: ReadonlyMap<number, boolean> = new Map(),
): ReadonlyMap<number, boolean> {
  const open = new Map(now.map(({ step, steps }) => [step, steps <= MAX_OPEN]));
  for (const pair of matched(before, now))
    open.set(pair.new.step, wasOpen.get(pair.old.step) ?? false);
  return open;
}

/** Returns the group that each step opens. */
export function groupsByStep(groups: readonly StepGroup[]): ReadonlyMap<number, StepGroup> {
  return new Map(groups.map((group) => [group.step, group]));
}
