import { describe, expect, it } from "vitest";
import { leader } from "../../testing/overview";
import type { FailureMap } from "../../generated";
import { answer, choice, errorsBeside, topCauses } from "./headline";

const TOP = { why: "Highest, but not shown to be better than all others." } as const;
const time = (value: number) => ({
  seconds: { value, low: null, high: null, known: 1, unknown: 0 },
});

describe("the answer of the overview", () => {
  it("names who is highest and who is not shown to differ from it", () => {
    const rows = [leader("a", "x", 1, null, TOP), leader("b", "x", 1, 1), leader("c", "x", 0.9, 2)];
    expect(answer(rows)).toBe(
      "a/x scores highest (1.00 over 10 runs); b/x and c/x are not shown to differ from it.",
    );
    const more = [
      ...rows,
      leader("d", "x", 0.5, 1),
      leader("e", "x", 0.4, 1, { standing: "open" }),
    ];
    expect(answer(more)).toBe(
      "a/x scores highest (1.00 over 10 runs); 3 others are not shown to differ from it, and e/x is undecided.",
    );
  });

  it("says who is best, and of whom nothing can be said", () => {
    expect(answer([leader("a", "x", 0.9, 1, { standing: "best" })])).toBe(
      "a/x is best (0.90 over 10 runs); all others are shown to be worse.",
    );
    const rows = [
      leader("z", "x", 1, 1, { standing: "apart", why: "No row in common with a/x." }),
      leader("a", "x", 0.9, 1, TOP),
      leader("b", "x", 0.9, 1),
    ];
    expect(answer(rows)).toBe(
      "a/x scores highest of those that share tasks (0.90 over 10 runs); b/x is not shown to differ from it. z/x has no tasks in common with it and is not ranked.",
    );
    const best = [rows[0]!, leader("a", "x", 0.9, 1, { standing: "best" })];
    expect(answer(best)).toBe(
      "a/x is best (0.90 over 10 runs); all others that share tasks with it are shown to be worse. z/x has no tasks in common with it and is not ranked.",
    );
    const nobody = { standing: "open", why: "No system is better than all others." } as const;
    expect(answer([leader("a", "x", 0.9, 1, nobody)])).toBeNull();
    expect(answer([])).toBeNull();
  });

  it("says that tasks are too few where no test can show a difference, and advises none of these", () => {
    const few = (name: string, shared_tasks: number) =>
      leader(name, "x", 0, 1, { shared_tasks, has_too_few: true, ...time(1) });
    const first = leader("a", "x", 1, 2, { ...TOP, ...time(9) });
    const all = [first, few("b", 1), few("c", 1)];
    expect(answer(all)).toBe(
      "a/x scores highest (1.00 over 10 runs). Only 1 task or variation in common: too few to tell.",
    );
    expect(answer([...all, few("d", 5)])).toContain("Only 1 to 5 tasks and variations in common");
    expect(choice(all)).toBe("");
    const some = [first, leader("b", "x", 0.9, 3, time(20)), few("c", 5)];
    expect(answer(some)).toBe(
      "a/x scores highest (1.00 over 10 runs); b/x is not shown to differ from it, and c/x has too few tasks to tell.",
    );
    expect(choice(some)).toBe(
      "Of those not shown to differ, a/x is cheapest and fastest ($2.00 and 9.0 s a run, scores 1.00).",
    );
  });

  it("advises the cheapest and the fastest of these, and says what is not known", () => {
    const rows = [
      leader("a", "x", 1, null, { ...TOP, ...time(9) }),
      leader("b", "x", 1, 2, time(30)),
      leader("c", "x", 1, 1, time(20)),
      leader("d", "x", 0.1, 0.1, { standing: "behind", ...time(1) }),
    ];
    expect(choice(rows)).toBe(
      "Of those not shown to differ, c/x is cheapest ($1.00 a run, scores 1.00, cost unknown for 1); a/x is fastest (9.0 s a run, scores 1.00).",
    );
    expect(choice(rows.slice(1, 3))).toBe("");
    expect(choice(rows.slice(0, 1))).toBe("");
  });

  it("names the cheapest with its pass rate, and never one that passes less than the best", () => {
    const passes = (value: number, low: number, high: number) => ({
      passes: { value, low, high, known: 9, unknown: 0 },
    });
    const first = leader("a", "x", 1, 5, { ...TOP, ...time(9), ...passes(1, 0.6, 1) });
    const worse = leader("b", "x", 0.9, 1, { ...time(8), ...passes(0.9, 0.5, 1) });
    const alike = leader("c", "x", 0.9, 2, { ...time(7), ...passes(1, 0.6, 1) });
    expect(choice([first, worse])).toBe("");
    expect(choice([first, worse, alike])).toBe(
      "Of those that pass as often, c/x is cheapest and fastest ($2.00 and 7.0 s a run, passes 100 %).",
    );
  });

  it("has the two most frequent kinds of causes", () => {
    const kind = (name: string, runs: number, is_error = false) => ({
      kind: name,
      title: name,
      is_error,
      causes: 1,
      runs,
      also: 0,
      shares: [],
    });
    const kinds = [kind("few", 1), kind("most", 5), kind("none", 0), kind("some", 3)];
    expect(topCauses({ kinds, clusters: [] }).map(({ title, runs }) => [title, runs])).toEqual([
      ["most", 5],
      ["some", 3],
    ]);
    // A kind with one cause has the name of that cause, as in Failures.
    const only = {
      kind: "some",
      title: "Rows are missing",
      runs: 3,
      mode: "m",
      subject: "",
      detail: "",
    };
    expect(
      topCauses({ kinds, clusters: [only as FailureMap["clusters"][number]] }).map(
        ({ title }) => title,
      ),
    ).toEqual(["most", "Rows are missing"]);
    const error = kind("rate limit", 9, true);
    const named = (some: typeof kinds) =>
      topCauses({ kinds: some, clusters: [] }).map(({ title }) => title);
    expect(named([error, ...kinds])).toEqual(["most", "some"]);
    expect(named([error])).toEqual(["rate limit (error)"]);
    expect(errorsBeside({ kinds: [error, ...kinds] })).toBe(9);
    expect(errorsBeside({ kinds: [error] })).toBe(0);
  });
});
