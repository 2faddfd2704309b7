import { describe, expect, it } from "vitest";
import { comparedRun } from "../../testing/compare";
import { runRow } from "../../testing/fakeBackend";
import type { DiffKind, TextChange } from "../../generated";
import { step, text, value } from "../../testing/runs";
import { answersLine, firstPair } from "./answers";
import {
  baseWord,
  byLines,
  excerpt,
  oneSide,
  previewText,
  stepName,
  mainPart,
  withoutSpaces,
  changeWord,
} from "./stepLines";
import { columnNames, swapped, toFront, removeAt } from "./columnNames";

const same = (text: string): TextChange => ({ text, change: "same" });
const gone = (text: string): TextChange => ({ text, change: "missing" });
const added = (text: string): TextChange => ({ text, change: "extra" });

it("a later message is called as on the page of its run", () => {
  const later = step(4, 2, "user", [text("m", "message", "go on")], { nudge: true });
  const name = (follow_ups: number) => stepName(later, { model: "o1", follow_ups });
  expect([name(0), name(1)]).toEqual(["Nudge", "Follow-up"]);
});

describe("an excerpt of what differs", () => {
  it("begins shortly before the first difference of long texts", () => {
    const long = "the same ".repeat(60);
    const { pieces } = excerpt([gone(`${long}left`), added(`${long}right`)], 420);
    expect(pieces.map((piece) => piece.text.startsWith("…"))).toEqual([true, true]);
    expect(pieces[0]?.text).toContain("left");
    expect(pieces[1]?.text).toContain("right");
  });
  it("shows both sides of a difference, however long one is", () => {
    const { pieces } = excerpt([gone("a".repeat(5000)), added("b".repeat(5000))], 420);
    expect(pieces.map(({ text }) => text[0])).toEqual(["a", "b"]);
  });
  it("leaves out the middle of what is equal", () =>
    expect(
      excerpt([gone("x"), same(`${"a".repeat(300)}${"b".repeat(300)}`), added("y")], 400).pieces[1]
        ?.text,
    ).toMatch(/^a{40} … b{60}$/));
  it("has the difference within few lines, however many equal ones are before it", () => {
    const lines = "x\n".repeat(20);
    const { pieces } = excerpt([same(lines), gone("a"), added("b"), same(lines)], 400);
    expect(pieces.map(({ text }) => text.split("\n").length)).toEqual([2, 1, 1, 2]);
  });
  it("begins and ends with whole words", () => {
    const before =
      "SELECT plan FROM control_plane.plan_history x WHERE x.project_id = h.project_id";
    const after = " AND x.since <= h.since ORDER BY h.project_id, x.since_the_beginning";
    const texts = (pieces: TextChange[]) => excerpt(pieces, 400).pieces.map(({ text }) => text);
    expect(texts([same(before), gone("a"), added("b"), same(after)])).toEqual([
      " … x WHERE x.project_id = h.project_id",
      "a",
      "b",
      " AND x.since <= h.since ORDER BY … ",
    ]);
    const [left, right] = texts([gone(`${before} left`), added(`${before} right`)]);
    expect(left).toBe("…x WHERE x.project_id = h.project_id left");
    expect(right).toBe("…x WHERE x.project_id = h.project_id right");
  });
  it("says when there is more, and cuts no sign in two", () => {
    const { pieces, cut } = excerpt(
      [added("😀".repeat(500)), same(" "), added("z".repeat(900)), added("more")],
      300,
    );
    expect(cut).toBe(true);
    expect(pieces.every((piece) => encodeURIComponent(piece.text) !== "")).toBe(true);
  });
});

describe("texts that stand one after the other", () => {
  const rows = Array.from({ length: 9 }, (_, at) => `| ${at} | team | ${at}.5 |\n`);
  it("are merged by lines and words where they share lines", () => {
    const left = `# Rows\n${rows.join("")}The end, as JSON.`;
    const right = `Now.\n# Rows\n${rows.join("").replace("4.5", "7.5")}### How`;
    const pieces = byLines([gone(left), added(right)]);
    const side = (without: DiffKind) =>
      pieces
        .filter(({ change }) => change !== without)
        .map((piece) => piece.text)
        .join("");
    expect([side("extra"), side("missing")]).toEqual([left, right]);
    expect(pieces.filter(({ change }) => change !== "same")).toEqual([
      added("Now.\n"),
      gone("4"),
      added("7"),
      gone("The end, as JSON."),
      added("### How"),
    ]);
  });
  it("stay so where they share little, or the engine merged them", () => {
    const apart = [gone("one text\nof lines"), added("and another\nwithout any")];
    expect(byLines(apart)).toBe(apart);
    const merged = [same("a\n"), gone("b"), added("c")];
    expect(byLines(merged)).toBe(merged);
  });
});

describe("the sides of a difference", () => {
  const absent: TextChange = { text: "", change: "absent" };
  it("are shown at the same places, with a gap for what only the other one has", () => {
    const pieces = [same("a "), gone("only left"), same(" b "), gone("old"), added("new")];
    expect(oneSide(pieces, "left", 400).pieces).toEqual(pieces.slice(0, 4));
    expect(oneSide(pieces, "right", 400).pieces).toEqual([
      same("a "),
      absent,
      same(" b "),
      added("new"),
    ]);
  });
});

describe("spaces that mean nothing", () => {
  it("are shown as on the right, and not as a difference", () =>
    expect(
      withoutSpaces([same("WITH a AS ("), gone("\n    "), added("\n  "), same("SELECT")])
        .map(({ text }) => text)
        .join(""),
    ).toBe("WITH a AS (\n  SELECT"));
  it("make one equal piece with what is beside them, so that a difference is found behind it", () => {
    const pieces = [same("a"), gone(" "), added("\n"), same("b"), gone("\n"), same("c"), gone("d")];
    expect(withoutSpaces(pieces)).toEqual([same("a\nbc"), gone("d")]);
  });
  it("stay where words beside them differ", () =>
    expect(withoutSpaces([gone("a"), added(" ")])).toEqual([gone("a"), added(" ")]));
  it("leave the right side as it is", () => {
    const pieces = [same("a"), gone(" "), same(", b"), added("\n"), same("c")];
    const right = (list: readonly TextChange[]) =>
      list
        .filter(({ change }) => change !== "missing")
        .map((piece) => piece.text)
        .join("");
    expect(right(withoutSpaces(pieces))).toBe(right(pieces));
  });
});

describe("a step in short", () => {
  const call = step(0, 1, "tool_call", [
    value("p0", "rows", { long: "x".repeat(500) }),
    text("p1", "code", "print(1)", "python"),
    text("p2", "result", "1"),
  ]);
  it("shows the program before what it is given", () => expect(mainPart(call)?.label).toBe("code"));
  it("shows a few lines and says that there are more", () =>
    expect(previewText(text("p", "sql", "a\nb\nc", "sql"), 2)).toEqual({
      text: "a\nb",
      language: "sql",
      cut: true,
    }));
});

describe("what became of a part", () => {
  it("names the run it is compared with where that is not the baseline", () =>
    expect([
      changeWord("changed", null),
      changeWord("changed", "b"),
      changeWord("missing", "b"),
      changeWord("extra", null),
    ]).toEqual(["differs", "differs from b", "missing, unlike b", "extra"]));
  it("names the other run in the baseline only where that has nothing", () =>
    expect([baseWord("changed", "b"), baseWord("missing", "b")]).toEqual([
      "differs",
      "missing in b",
    ]));
});

describe("what runs are called", () => {
  const rows = [
    runRow(0, { system: "a", model: "m", repeat: 1 }),
    runRow(0, { system: "b", model: "m", repeat: 1 }),
  ];
  it("is what tells them apart; what they share is said once", () =>
    expect(columnNames(rows)).toEqual({
      each: ["a", "b"],
      shared: ["prioritize_tickets", "last 20", "m"],
    }));
  it("is the number of the repeat when nothing else differs", () =>
    expect(columnNames([runRow(0, { repeat: 1 }), runRow(0, { repeat: 2 })]).each).toEqual([
      "run 1",
      "run 2",
    ]));
  it("is never the same for two, nor empty", () => {
    const twins = columnNames([runRow(0, { task: null }), runRow(0, { task: null })]).each;
    expect(new Set(twins).size).toBe(2);
    expect(twins.every((name) => name !== "")).toBe(true);
  });
  it("shows signs that cannot be seen", () =>
    expect(columnNames([runRow(0, { system: "a\u202eb" }), runRow(0)]).each[0]).not.toContain(
      "\u202e",
    ));
  it("moves to the front, out, or into another's place", () => {
    expect([
      toFront(["a", "b", "c"], 2),
      removeAt(["a", "b", "c"], 1),
      swapped(["a", "b", "c"], 0, 1),
      swapped(["a", "b"], 1, 2),
    ]).toEqual([
      ["c", "a", "b"],
      ["a", "c"],
      ["b", "a", "c"],
      ["a", "b"],
    ]);
  });
});

describe("the answers in a line", () => {
  const [a, b] = [
    comparedRun(runRow(0)),
    comparedRun(runRow(1), { answer: "changed", answer_summary: "2 of 10 rows differ" }),
  ];
  const of = (...answers: DiffKind[]) =>
    answersLine([a, ...answers.map((answer, at) => comparedRun(runRow(at + 1), { answer }))], 0);
  it.each<[string, DiffKind[]]>([
    ["equal", ["same"]],
    ["all equal", ["same", "same"]],
    ["equal, written differently", ["same", "alike"]],
    ["no answers", ["absent", "absent"]],
    ["the baseline has no answer", ["extra", "absent"]],
    ["only the baseline has an answer", ["missing"]],
    ["they differ", ["changed"]],
    ["2 of 3 differ from the baseline", ["changed", "alike", "missing"]],
  ])("say %j in a few words", (said, answers) => expect(of(...answers)).toBe(said));
  it("say nothing of a run that could not be read", () =>
    expect(
      answersLine([a, comparedRun(runRow(6), { trouble: "damaged", answer: "absent" })], 0),
    ).toBe("nothing to compare with"));
  it("are opened at the first that differs, else beside what was expected", () =>
    expect([firstPair([a, b], 0), firstPair([a, a], 0)]).toEqual([
      { left: 0, right: 1 },
      { left: null, right: 0 },
    ]));
});
