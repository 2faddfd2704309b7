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

/** From this step of the old run on, steps are later by so many. */
interface Shift {
  from: number;
  by: number;
}

const last = ({ step, steps }: StepGroup): number => step + steps;

/** Steps that a group adds where it is new. Steps that were abandoned since have been there. */
const added = (group: StepGroup): number => 1 + (group.name === null ? 0 : group.steps);

/** How far steps have moved, in the order of the steps. */
function shifts(before: readonly StepGroup[], now: readonly StepGroup[]): Shift[] {
  const old = new Map(matched(before, now).map((pair) => [pair.new, pair.old]));
  const found: Shift[] = [{ from: 0, by: 0 }];
  const by = () => found.at(-1)?.by ?? 0;
  /** Known groups around the current one, the outermost first. */
  const around: { old: StepGroup; new: StepGroup }[] = [];
  const close = (step: number) => {
    for (let inner = around.at(-1); inner && last(inner.new) < step; inner = around.at(-1)) {
      around.pop();
      found.push({ from: last(inner.old) + 1, by: last(inner.new) - last(inner.old) });
    }
  };
  /** Last step of a new group, whose steps are counted with it. */
  let counted = -1;
  for (const group of now) {
    if (group.step <= counted) continue;
    close(group.step);
    const known = old.get(group);
    if (known) {
      found.push({ from: known.step, by: group.step - known.step });
      around.push({ old: known, new: group });
      continue;
    }
    const outer = around.at(-1);
    const from = group.step - by();
    // What is added at the end of a group moves nothing in it.
    if (!outer || from <= last(outer.old)) found.push({ from, by: by() + added(group) });
    if (group.name !== null) counted = last(group);
  }
  close(Infinity);
  return found.sort((one, other) => one.from - other.from);
}

/**
 * Where steps are after a run has grown: steps may be added inside of a group, and a new group may
 * stand between steps, which moves all that follow it.
 */
export function movedSteps(
  before: readonly StepGroup[],
  now: readonly StepGroup[],
): (index: number) => number {
  const all = shifts(before, now);
  return (index) => index + (all.findLast(({ from }) => from <= index)?.by ?? 0);
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
