import fc from "fast-check";
import { BLANK_DRAFT } from "../../domain/launchDraft";
import { describe, expect, it } from "vitest";
import { OPTIONS, plan, planned } from "../../testing/launch";
import {
  actOf,
  differenceLines,
  estimateWords,
  flipTag,
  groups,
  lines,
  mismatched,
  overLimit,
  sought,
  tagsOf,
  variationsOf,
  chosenText,
  type Line,
} from "./plan";

const told = (line: Line) =>
  line.kind === "section"
    ? line.title
    : line.kind === "group"
      ? `${line.open ? "v" : ">"} ${line.group.act} ${line.group.runs.length}`
      : line.kind === "run"
        ? line.run.run
        : line.text;

describe("the runs of a plan", () => {
  it("says that a run without a recording is skipped, and what is refused in red", () => {
    const [none, other] = groups([
      planned(1, "refused", "There is no recording to replay: a-b-c.yaml."),
      planned(2, "refused", "The first message differs."),
    ]);
    expect(actOf(none!)).toEqual({ title: "Skipped: no recording", tone: "muted" });
    expect(actOf(other!)).toEqual({ title: "Refused", tone: "wrong" });
  });
  it("are grouped by what is done and why", () => {
    const found = groups([
      planned(1, "start", "new"),
      planned(2, "continue", "error"),
      planned(3, "start", "new"),
      planned(4, "continue", "waiting"),
    ]);
    expect(found.map((group) => [group.act, group.why, group.runs.length])).toEqual([
      ["start", "new", 2],
      ["continue", "error", 1],
      ["continue", "waiting", 1],
    ]);
  });
  it("share a group where reasons differ only by the file that they name", () => {
    const why = (n: number) => `There is no recording to replay: a-variation${n}.yaml.`;
    const all = Array.from({ length: 10 }, (_, n) => planned(n, "refused", why(n)));
    expect(groups(all).map((group) => [group.why, group.runs.length])).toEqual([
      ["There is no recording to replay.", 10],
    ]);
  });
  it("are one group when each has a reason of its own", () => {
    const found = groups(
      Array.from({ length: 9 }, (_, index) => planned(index, "continue", `reason ${index}`)),
    );
    expect(found.map((group) => [group.why, group.runs.length])).toEqual([[null, 9]]);
    expect(
      lines(plan(found[0]!.runs), new Set(), 80)
        .filter((line) => line.kind === "run")
        .every((line) => line.why),
    ).toBe(true);
  });
  it("are in exactly one group each, whatever they are", () => {
    const run = fc
      .tuple(
        fc.nat(99),
        fc.constantFrom("start", "continue", "nothing", "refused" as const),
        fc.constantFrom("a", "b", "c"),
      )
      .map(([index, act, why]) => planned(index, act as "start", why));
    fc.assert(
      fc.property(
        fc.array(run),
        (runs) => void expect(groups(runs).flatMap((group) => group.runs).length).toBe(runs.length),
      ),
    );
  });
  it("of which there is a choice are those with a difference", () => {
    const [with_, without] = [
      groups([planned(1, "refused", "x", { differs: "- a\n+ b" })])[0]!,
      groups([planned(1, "refused", "The system cannot run it.")])[0]!,
    ];
    expect([mismatched(with_), mismatched(without)]).toEqual([true, false]);
  });
});

describe("the lines of a plan", () => {
  const small = plan(
    [planned(1, "start", "new"), planned(2, "start", "new")],
    [planned(3, "nothing", "done"), planned(4, "refused", "differs", { differs: "- a\n+ b" })],
  );
  it("count what is complete, and list the rest when it is little", () => {
    expect(lines(small, new Set(), 80).map(told)).toEqual([
      "2 to run",
      "v start 2",
      "r1",
      "r2",
      "2 skipped",
      "> nothing 1",
      "v refused 1",
      "r4",
    ]);
  });
  it("unfold and fold, and show a difference", () => {
    const flipped = new Set(["start new", "nothing done", small.skipped[1]!.path]);
    expect(lines(small, flipped, 80).map(told)).toEqual([
      "2 to run",
      "> start 2",
      "2 skipped",
      "v nothing 1",
      "r3",
      "v refused 1",
      "r4",
      "- a",
      "+ b",
    ]);
  });
  it("say when only the first are listed, and count all", () => {
    const [section] = lines(
      plan([planned(1, "start", "new")], [], { owed_total: 18_000 }),
      new Set(),
      80,
    );
    expect(section).toMatchObject({
      title: "18,000 to run",
      note: "first 1 listed",
    });
  });
  it("have keys of their own", () => {
    const all = lines(
      plan(
        Array.from({ length: 1_000 }, (_, index) =>
          planned(index, index % 2 ? "start" : "continue", `why ${index % 5}`, {
            path: `f${index}`,
          }),
        ),
      ),
      new Set(),
      80,
    ).map((line) => line.key);
    expect(new Set(all).size).toBe(all.length);
  });
  it("of a difference are broken where they are too long, and end somewhere", () => {
    expect(differenceLines("+ abcdef\n\n- x\n", 4)).toEqual(["+ ab", "cdef", "", "- x"]);
    expect(differenceLines("x\n".repeat(300), 80).slice(-1)).toEqual(["… 100 more lines"]);
  });
});

describe("the estimate", () => {
  it.each([
    [{ known: 0, calls: null, tokens: null, cost: null }, 0, "", ""],
    [
      { known: 0, calls: null, tokens: null, cost: null },
      3,
      "Calls, tokens and cost are unknown",
      "no past runs of these tasks",
    ],
    [
      { known: 3, calls: 12, tokens: 45_000, cost: null },
      3,
      "about 12 calls · 45.0k tokens · cost unknown",
      "from past runs of the same tasks",
    ],
    [
      { known: 1, calls: null, tokens: null, cost: 0 },
      2_000,
      "calls unknown · tokens unknown · $0.00",
      "for 1 of the 2,000 runs; no past runs of the others",
    ],
  ])("%j for %i runs is told as %j", (estimate, owed, figures, basis) =>
    expect(estimateWords(estimate, owed)).toEqual({ figures, basis }),
  );
  it("beyond the limit is said, and an unknown one is not", () => {
    const one = { known: 1, calls: 1, tokens: 1, cost: 3 };
    expect([
      overLimit(one, 2) !== "",
      overLimit(one, 3),
      overLimit(one, null),
      overLimit({ ...one, cost: null }, 2),
    ]).toEqual([true, "", "", ""]);
  });
});

describe("the tasks", () => {
  const found = (find: string) => sought(OPTIONS.tasks, find).map((task) => task.id);
  it("are found by words of id and name, and by tag, all of which have to fit", () => {
    expect([
      found(""),
      found("PRIO tickets"),
      found("tag:sql"),
      found("tag:sql churn"),
      found("tag:s"),
    ]).toEqual([
      OPTIONS.tasks.map((task) => task.id),
      ["support/prioritize_tickets"],
      ["churn_risk", "support/prioritize_tickets"],
      ["churn_risk"],
      [],
    ]);
  });
  it("have tags that are put into the filter and taken out", () => {
    expect(tagsOf(OPTIONS.tasks)).toEqual(["python", "sql"]);
    expect([
      flipTag("churn", "sql"),
      flipTag("churn tag:sql", "sql"),
      flipTag("", "Area 5"),
    ]).toEqual(["churn tag:sql", "churn", "tag:area_5"]);
  });
  it("say which systems and models are chosen, also those of cells", () => {
    const draft = { ...BLANK_DRAFT, systems: ["tool_calling"], models: ["replay", "o1"] };
    expect(chosenText(draft)).toBe("tool_calling · replay, o1");
    const cell = { task: "t", variation: null, system: "promptql", model: "o1" };
    expect(chosenText({ ...draft, cells: [cell, cell] })).toBe("promptql · o1");
    expect(chosenText({ ...draft, runs: ["a"] })).toBe("");
  });
  it("have variations by number, with a name where they agree on one", () => {
    expect(variationsOf(OPTIONS.tasks)).toEqual([
      { index: 0, name: null, tasks: 3 },
      { index: 1, name: "last 30", tasks: 2 },
      { index: 2, name: "all", tasks: 1 },
    ]);
  });
});
