import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { group } from "../../testing/runs";
import { groupsAround, movedSteps, openByDefault, visibleSteps } from "./groups";

// 0  1[2  3[4 5] 6]  7  8[9]
const GROUPS = [group(1, 5), group(3, 2), group(8, 1)];
const shown = (open: number[], total = 10) =>
  visibleSteps(total, GROUPS, ({ step }) => open.includes(step)).join(" ");

describe("visible steps", () => {
  it("are all steps of a run without groups", () =>
    expect(visibleSteps(3, [], () => false)).toEqual([0, 1, 2]));
  it("leave out what a folded group contains, with the groups in it", () => {
    expect(shown([])).toBe("0 1 7 8");
    expect(shown([3])).toBe("0 1 7 8");
    expect(shown([1])).toBe("0 1 2 3 6 7 8");
    expect(shown([1, 3, 8])).toBe("0 1 2 3 4 5 6 7 8 9");
  });
  it("end where the run ends, even if a group does not", () =>
    expect(shown([1], 5)).toBe("0 1 2 3"));
  it("are those whose groups are all open", () =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 }),
        fc.func(fc.boolean()),
        (depths, open) => {
          const groups = depths.flatMap((depth, at) => {
            const end = depths.findIndex((other, next) => next > at && other <= depth);
            const steps = (end < 0 ? depths.length : end) - at - 1;
            return steps > 0 ? [group(at, steps)] : [];
          });
          const isOpen = ({ step }: { step: number }) => open(step);
          const expected = depths.flatMap((_, at) =>
            groupsAround(groups, at).every(isOpen) ? [at] : [],
          );
          expect(visibleSteps(depths.length, groups, isOpen)).toEqual(expected);
        },
      ),
    ));
});

describe("groups around a step", () => {
  it("come from the outside in, without its own", () => {
    expect(groupsAround(GROUPS, 4).map(({ step }) => step)).toEqual([1, 3]);
    expect(groupsAround(GROUPS, 3).map(({ step }) => step)).toEqual([1]);
    expect(groupsAround(GROUPS, 7)).toEqual([]);
  });
});

describe("a run that grows", () => {
  const named = (name: string, step: number, steps: number) => group(step, steps, { name });
  // Two sub-agents that run at the same time: the first grows by two steps.
  const before = [named("a", 1, 4), named("b", 6, 3)];
  const now = [named("a", 1, 6), named("b", 8, 5)];
  it("keeps its steps where they are, though steps are added before them", () => {
    const moved = movedSteps(before, now);
    expect([0, 1, 4, 6, 8, 10].map(moved)).toEqual([0, 1, 4, 8, 10, 14]);
  });
  it("moves what follows an outer group by all that was added to it", () => {
    const moved = movedSteps(
      [named("a", 1, 10), named("b", 3, 2)],
      [named("a", 1, 13), named("b", 3, 2)],
    );
    expect([3, 5, 6, 11, 12].map(moved)).toEqual([3, 5, 6, 11, 15]);
  });
  it("moves what follows a new group by the group and its steps", () => {
    const moved = movedSteps([named("b", 8, 2)], [named("a", 3, 2), named("b", 11, 2)]);
    expect([2, 3, 7, 8, 10, 11].map(moved)).toEqual([2, 6, 10, 11, 13, 14]);
    const nested = movedSteps(
      [named("b", 2, 6)],
      [named("b", 2, 10), named("c", 4, 2), named("d", 5, 1)],
    );
    expect([3, 4, 8, 9].map(nested)).toEqual([3, 7, 11, 13]);
  });
  it("moves nothing for a new group at its end", () => {
    expect([0, 4].map(movedSteps([], [named("a", 5, 2)]))).toEqual([0, 4]);
    const inside = movedSteps([named("b", 2, 3)], [named("b", 2, 6), named("c", 6, 2)]);
    expect([2, 5, 6].map(inside)).toEqual([2, 5, 9]);
  });
  it("moves steps that were abandoned since by the step that opens their branch", () => {
    const branch = group(5, 5, { name: null });
    const moved = movedSteps([named("a", 6, 2)], [branch, named("a", 7, 2)]);
    expect([4, 5, 6, 8, 9].map(moved)).toEqual([4, 6, 7, 9, 10]);
  });
  it("keeps equal groups apart by their order", () => {
    const same = [named("a", 1, 1), named("a", 3, 1)];
    const moved = movedSteps(same, [named("a", 1, 2), named("a", 4, 1)]);
    expect([1, 2, 3, 4].map(moved)).toEqual([1, 2, 4, 5]);
  });
  it("leaves a group open that was small when it was first seen", () => {
    const first = openByDefault([], before);
    expect([...first]).toEqual([
      [1, false],
      [6, true],
    ]);
    expect([...openByDefault(before, now, first)]).toEqual([
      [1, false],
      [8, true],
    ]);
  });
});
