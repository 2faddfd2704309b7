import { describe, expect, it } from "vitest";
import { beside, comparedRun, line } from "../../testing/compare";
import { runRow } from "../../testing/fakeBackend";
import {
  baseline,
  isEqual,
  foldText,
  foldedItems,
  comparedWith,
  relationBadge,
  dividers,
  nextDifference,
  ownStep,
  passingFirst,
  itemIndex,
  leavingRow,
  moreLines,
  partingRow,
  stretchAt,
  withEdits,
  withParting,
} from "./rows";

const TWO = beside([runRow(0), runRow(1)]);
const listed = (open: (from: number) => boolean) =>
  foldedItems(TWO.rows, open)
    .map((item) => (item.kind === "row" ? `${item.row}` : `${item.from}–${item.to - 1}`))
    .join(" ");

describe("folding", () => {
  it("folds stretches of equal steps and nothing else", () =>
    expect(listed(() => false)).toBe("0–2 3 4–5 6 7 8 9"));
  it("shows the rows of a stretch that is unfolded, and leaves the others folded", () =>
    expect(listed((from) => from === 4)).toBe("0–2 3 4 5 6 7 8 9"));
  it("loses and doubles no row, whatever is unfolded", () => {
    for (const open of [() => true, () => false, (from: number) => from === 0]) {
      const rows = foldedItems(TWO.rows, open).flatMap((item) =>
        item.kind === "row"
          ? [item.row]
          : Array.from({ length: item.to - item.from }, (_, at) => item.from + at),
      );
      expect(rows).toEqual(TWO.rows.map((_, at) => at));
    }
  });
  it("does not fold one equal step alone", () =>
    expect(stretchAt([line("same", [0, 0]), line("different", [1, 1])], 0)).toBeNull());
  it("folds other words that do not count, and calls no step with them equal", () => {
    const rows = [line("same", [0, 0]), line("other_words", [1, 1]), line("reworded", [2, 2])];
    expect(stretchAt(rows, 0)).toEqual({ from: 0, to: 3 });
    expect(foldText(rows, 0, 3)).toBe("3 steps, 1 reworded, 1 in other words that do not count");
  });
  it("shows equal steps in which the runs part", () =>
    expect(isEqual(line("reworded", [0, 0], { diverges: true }))).toBe(false));
  it("finds a row within the fold that hides it", () =>
    expect(
      itemIndex(
        foldedItems(TWO.rows, () => false),
        5,
      ),
    ).toBe(2));
  it.each([
    [0, 3, "3 steps, 1 reworded"],
    [4, 6, "2 equal steps"],
    [1, 2, "1 step, 1 reworded"],
  ])("says of rows %d to %d: %s", (from, to, text) =>
    expect(foldText(TWO.rows, from, to)).toBe(text),
  );
});

describe("an edited step", () => {
  const runs = TWO.runs.map((run, at) => ({ ...run, edited: at === 1 ? 1 : null }));
  const edited = withEdits({ ...TWO, runs, first_divergence: 1 });
  it("is shown by itself, and called edited where it is only reworded", () => {
    expect(TWO.rows[1]?.relation).toBe("reworded");
    expect(foldedItems(edited.rows, () => false)[1]).toEqual({ kind: "row", row: 1 });
    expect(edited.rows[1] && relationBadge(edited.rows[1], 0).word).toBe("edited");
    expect(edited.rows[1]?.edited).toEqual([false, true]);
  });
  it("is no difference where all runs have the same edit", () => {
    const both = TWO.runs.map((run) => ({ ...run, edited: 2 }));
    expect(withEdits({ ...TWO, runs: both }).rows).toEqual(TWO.rows);
  });
  it("is where a comparison opens, if the engine says that the runs part there", () => {
    expect([partingRow(TWO), partingRow(edited)]).toEqual([6, 1]);
    expect(partingRow(withEdits({ ...TWO, runs }))).toBe(6);
    expect([nextDifference(edited, -1, 1), nextDifference(edited, 1, 1)]).toEqual([1, 3]);
  });
  it("leaves a comparison without edits as it is", () =>
    expect(withEdits(TWO).rows).toEqual(TWO.rows));
});

describe("the next difference", () => {
  const walk = (by: 1 | -1, from = -1) => {
    const seen: (number | null)[] = [];
    for (let at = from, n = 0; n < 5; n++) {
      const to = nextDifference(TWO, at, by);
      seen.push(to);
      at = to ?? -1;
    }
    return seen;
  };
  it("is where they part, at first", () => expect(nextDifference(TWO, -1, 1)).toBe(6));
  it("goes from one to the next and begins again at the end", () =>
    expect(walk(1)).toEqual([6, 7, 9, 3, 6]));
  it("goes back the same way", () => expect(walk(-1)).toEqual([9, 7, 6, 3, 9]));
  it("is one for steps that the same runs have alone, one after the other", () =>
    expect(nextDifference(TWO, 7, 1)).toBe(9));
  it("leads to where something else came back when they never part", () =>
    expect(
      nextDifference(
        {
          rows: [line("same", [0, 0]), line("other_result", [1, 1])],
          first_divergence: null,
          first_other_result: 1,
        },
        -1,
        1,
      ),
    ).toBe(1));
  it("is nowhere when nothing differs", () =>
    expect(
      nextDifference(
        {
          rows: [line("same", [0, 0])],
          first_divergence: null,
          first_other_result: null,
        },
        -1,
        1,
      ),
    ).toBeNull());
});

describe("what is compared with what", () => {
  const damaged = {
    ...TWO,
    runs: [comparedRun(runRow(6), { trouble: "line 3: a key is missing" }), ...TWO.runs],
  };
  it("is the first run that can be read", () =>
    expect([baseline(TWO), baseline(damaged)]).toEqual([0, 1]));
  it("is in each row the first run that has a step there", () =>
    expect([
      comparedWith(line("alone", [null, 3, 4]), 0),
      comparedWith(line("same", [1, 3, 4]), 0),
    ]).toEqual([1, 0]));
  it.each<[string, string, (number | null)[], number]>([
    ["−", "only in the baseline", [4, null, null], 0],
    ["−", "missing in some runs", [4, null, 4], 0],
    ["+", "missing in the baseline", [null, 4, null], 0],
    ["−", "only in the baseline", [null, 4, null], 1],
  ])("has a %s where %s", (sign, word, steps, base) =>
    expect(relationBadge(line("alone", steps), base)).toMatchObject({ sign, word }),
  );
  it("is said where they part: for all at once, or by name", () => {
    expect(dividers(TWO, ["a", "b"]).get(6)?.text).toBe("Differs for good from here");
    const [a, b, c] = [
      comparedRun(runRow(0)),
      comparedRun(runRow(1), { parts_at: 3, leaves_at: 3 }),
      comparedRun(runRow(2), { parts_at: 6, leaves_at: null }),
    ];
    const marks = dividers({ ...TWO, runs: [a, b, c] }, ["a", "b", "c"]);
    expect([...marks].map(([row, { text }]) => `${row}: ${text}`)).toEqual([
      "3: b differs for good from a from here",
      "6: c first differs from a here",
    ]);
  });
  it("differs for good from the row that the engine says, and from none if it comes back", () => {
    const of = (parts_at: number | null, leaves_at: number | null) =>
      leavingRow({ parts_at, leaves_at });
    expect([of(2, 4), of(0, null), of(null, null)]).toEqual([2, null, null]);
  });
  it("differs for good only if no later step of the run is equal", () => {
    const parted = (...rows: ReturnType<typeof line>[]) => {
      const runs = TWO.runs.map((run, at) =>
        at === 1 ? { ...run, parts_at: 1, leaves_at: 1 } : run,
      );
      return withParting({ ...TWO, runs, rows }).runs[1];
    };
    const before = line("same", [0, 0]);
    const differs = line("similar", [1, 1]);
    const back = parted(before, differs, line("same", [2, 2]));
    expect(back?.leaves_at).toBeNull();
    expect(dividers({ ...TWO, runs: [comparedRun(runRow(0)), back!] }, ["a", "b"]).get(1)).toEqual({
      parts: false,
      text: "First differs here",
    });
    expect(parted(before, differs, line("similar", [2, 2]))?.leaves_at).toBe(1);
  });
  it("differs from the first of the steps that only one run has", () => {
    const runs = TWO.runs.map((run, at) =>
      at === 1 ? { ...run, parts_at: 2, leaves_at: 2 } : run,
    );
    const rows = [line("same", [0, 0]), line("alone", [null, 1]), line("alone", [null, 2])];
    const parted = withParting({ ...TWO, runs, rows, first_divergence: 2 });
    expect([parted.runs[1]?.parts_at, parted.first_divergence]).toEqual([1, 1]);
    expect(dividers(parted, ["a", "b"]).has(1)).toBe(true);
  });
  it("shows more lines of a row where there is room below the list", () =>
    expect([400, 10, -300, 9_000].map((left) => moreLines(6, left, 13))).toEqual([26, 6, 6, 40]));
  it("is counted by the steps of the run, not by rows", () => {
    const rows = [
      line("same", [0, 0]),
      line("alone", [1, null]),
      line("different", [2, 1]),
      line("alone", [3, null]),
    ];
    expect([0, 1, 2, 3].map((row) => ownStep(rows, 1, row))).toEqual([0, 1, 1, null]);
  });
  it("tells of another result only before they part", () => {
    expect(dividers({ ...TWO, first_other_result: 3 }, ["a", "b"]).get(3)?.parts).toBe(false);
    expect(dividers({ ...TWO, first_other_result: 9 }, ["a", "b"]).has(9)).toBe(false);
  });
});

it("moves the first passing run to the front", () => {
  const of = (...passed: (boolean | null)[]) =>
    passingFirst(passed.map((one, at) => ({ id: `r${at}`, passed: one }))).join(" ");
  expect(of(false, null, true, true)).toBe("r2 r0 r1 r3");
  expect(of(true, false)).toBe("r0 r1");
  expect(of(false, null)).toBe("r0 r1");
});
