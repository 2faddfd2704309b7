import { describe, expect, it } from "vitest";
import type { Overview, OverviewCell } from "../../generated";
import { cell, column, matrix, row } from "../../testing/overview";
import {
  columnName,
  modelOf,
  systemOf,
  keyOf,
  marksOf,
  passedOf,
  pickOf,
  rowName,
  runOf,
  sentence,
  toneOf,
  whyUnscored,
} from "./cells";

const NONE = { scored: 0, passed: null, score: null, low: null, high: null } as const;

describe("how good a cell is", () => {
  it.each<[string, Partial<OverviewCell>, string | null]>([
    ["every run passed", { passed: 3, score: 0.9 }, "right"],
    ["some passed", { passed: 1, score: 0.4 }, "part"],
    ["none passed, and most of it is right", { passed: 0, score: 0.8 }, "part"],
    ["none passed", { passed: 0, score: 0.2 }, "wrong"],
    ["nobody decides, nearly all right", { passed: null, score: 0.95 }, "right"],
    ["nobody decides, half", { passed: null, score: 0.5 }, "part"],
    ["nobody decides, less", { passed: null, score: 0.49 }, "wrong"],
    ["no score", NONE, null],
  ])("%s", (_, change, tone) => expect(toneOf(cell(change))).toBe(tone));
});

describe("what a cell says", () => {
  it.each<[Partial<OverviewCell> | null, string]>([
    [
      { flaky: 1, errors: 1, runs: 4 },
      "4 runs: 2 of 3 right, mean 0.87 (95 % interval 0.71–0.96), flaky; 1 error",
    ],
    [
      { runs: 1, scored: 1, passed: 1, score: 1, low: null, high: null },
      "1 run: 1 of 1 right, score 1.00",
    ],
    [
      { passed: 3, score: 1, low: 0.438, high: 1 },
      "3 runs: 3 of 3 right, mean 1.00 (95 % interval 0.44–1.00)",
    ],
    [{ passed: null }, "3 runs: mean 0.87 (95 % interval 0.71–0.96)"],
    [{ ...NONE, runs: 0, missing: 3, run: null }, "No run: 3 missing"],
    [
      {
        ...NONE,
        runs: 6,
        errors: 1,
        damaged: 1,
        running: 1,
        waiting: 2,
        unscored: 1,
        missing: 4,
        reviewed: 1,
      },
      "6 runs: 1 error, 1 damaged, 1 running, 2 paused, 1 not scored, 4 missing, 1 reviewed",
    ],
    [null, "No run, none expected"],
  ])("is one sentence", (change, said) =>
    expect(sentence(change === null ? null : cell(change), false)).toBe(said),
  );
  it("tells in how many variations of a task repeats disagree", () =>
    expect(sentence(cell({ flaky: 2 }), true)).toContain("flaky in 2 variations"));
  it("never counts what is not there", () => {
    expect(marksOf(cell())).toEqual([]);
    const counts = { errors: 1, damaged: 1, running: 1, waiting: 1, unscored: 1, missing: 1 };
    const icons = marksOf(cell({ ...counts, forks: 1, superseded: 1 })).map((mark) => mark.icon);
    expect(new Set(icons).size).toBe(8);
    expect(passedOf(cell())).toBe("2/3");
    expect([passedOf(cell({ passed: null })), passedOf(cell({ passed: null, scored: 1 }))]).toEqual(
      ["n 3", ""],
    );
  });
  it("puts errors before everything else", () =>
    expect(marksOf(cell({ missing: 1, waiting: 1, errors: 2 })).map((mark) => mark.text)).toEqual([
      "2 errors",
      "1 paused",
      "1 missing",
    ]));
});

describe("where no run has a score", () => {
  const nothing = {
    scored: 0,
    errors: 0,
    waiting: 0,
    running: 0,
    damaged: 0,
    no_expected: 0,
    unasked: 0,
    unscored: 0,
  };
  const head = (change: Partial<Overview>): Overview => ({
    ...matrix(1)({
      filter: "",
      scorer: null,
      folded: false,
      except: [],
      find: null,
      view: { missing: false, by_model: false, by_tag: false },
      span: { offset: 0, limit: 9 },
    }),
    ...nothing,
    ...change,
  });
  it.each<[Partial<Overview>, string]>([
    [{ waiting: 2, running: 1 }, "none has finished yet."],
    [{ errors: 3 }, "all failed with errors."],
    [{ damaged: 3 }, "none is readable."],
    [{ unscored: 3 }, "their scorer failed."],
    [{ unasked: 3 }, "their scorer runs only on request."],
    [{ no_expected: 3 }, "there is no expected output, or no suite for their task."],
    [
      { errors: 2, waiting: 1, running: 3, damaged: 1 },
      "4 not finished yet, 2 with errors, 1 unreadable.",
    ],
  ])("says of %j: %s", (change, said) => expect(whyUnscored(head(change), 4, "")).toBe(said));
  it("does not say that runs failed of which evaluators said something", () =>
    expect([
      whyUnscored(head({ errors: 3 }), 4, "", true),
      whyUnscored(head({ errors: 1, waiting: 2 }), 4, "", true),
    ]).toEqual(["an error was recorded in each.", "2 not finished yet, 1 with errors."]));
  it("says of a scorer that was chosen what it leaves out", () =>
    expect([
      whyUnscored(head({ no_expected: 3 }), 4, "judge:x"),
      whyUnscored(head({ no_expected: 3, errors: 1 }), 4, "judge:x"),
    ]).toEqual(["judge:x does not apply to them.", "1 with errors, 3 not scored by judge:x."]));
  it("says first that there are no tasks", () =>
    expect(whyUnscored(head({ errors: 1 }), 0, "")).toContain("no tasks with expected output"));
});

describe("names", () => {
  it.each([
    [row("a", { label: "Tickets" }), "Tickets"],
    [row("a"), "a"],
    [row("a", { kind: "variation", variation: 2, label: "all" }), "a · all"],
    [row("a", { kind: "variation", variation: 2 }), "a · variation 2"],
    [row("a", { kind: "variation" }), "a · no variation"],
    [row("a", { kind: "loose", task: null }), "Runs without a task"],
  ])("of rows", (one, name) => expect(rowName(one)).toBe(name));
  it("show what would turn text around", () =>
    expect(
      [rowName(row("a\u202Eb")), columnName(column("s", "m\u202Ex"))].every(
        (name) => !name.includes("\u202E"),
      ),
    ).toBe(true));
  it("of columns leave out what is not known", () =>
    expect(
      [column("s", "m"), column(null, "a/m"), column("s", null), column(null, null)].map(
        columnName,
      ),
    ).toEqual(["s · m", "a/m", "s", "no system"]));
  it("of heads are empty for what is not known, unless nothing is", () =>
    expect(
      [column("s", null), column(null, "m"), column(null, null)].map((one) => [
        systemOf(one),
        modelOf(one),
      ]),
    ).toEqual([
      ["s", ""],
      ["", "m"],
      ["no system", ""],
    ]));
});

describe("a selected cell", () => {
  const variation = row("a", { kind: "variation", variation: 1, filter: "task:a variation:1" });
  it("narrows the list down to its runs, within the filter there is", () => {
    expect(pickOf(variation, column("s", "m"), cell(), "-state:error").filter).toBe(
      "-state:error task:a variation:1 system:s model:m",
    );
    expect(runOf(pickOf(variation, column("s", "m"), cell({ run: "r9" }), ""))).toMatchObject({
      id: "r9",
      q: "task:a variation:1 system:s model:m",
      sort: { column: "score", descending: false },
    });
    expect(runOf(pickOf(variation, column("s", "m"), cell({ run: null }), ""))).toBeNull();
  });
  it("can be launched when it says where it stands", () => {
    const can = (one: typeof variation, system: string | null) =>
      pickOf(one, column(system, "m"), null, "").launchable;
    expect([
      can(variation, "s"),
      can(row("a"), "s"),
      can(variation, null),
      can(row("a", { kind: "loose", task: null }), "s"),
      can(row("a", { kind: "variation", label: "odd" }), "s"),
    ]).toEqual([true, true, false, false, false]);
  });
  it("is the same after rows and columns came and went, and no other", () => {
    const rows = [
      row("a"),
      variation,
      row("a", { kind: "variation", variation: 2 }),
      row("a", { kind: "variation", label: "1" }),
      row("b"),
      row("", { kind: "loose", task: null }),
    ];
    const keys = rows.flatMap((one) =>
      [column("s", "m"), column("s m", null), column(null, "s m")].map((other) =>
        keyOf.cell(keyOf.row(one), keyOf.column(other)),
      ),
    );
    expect(new Set(keys).size).toBe(keys.length);
    expect(pickOf(variation, column("s", "m"), null, "x").key).toBe(
      pickOf({ ...variation, runs: 9 }, column("s", "m"), cell(), "").key,
    );
  });
});
