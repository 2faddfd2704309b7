import { describe, expect, it } from "vitest";
import { leader } from "../../testing/overview";
import { figureText } from "../../domain/figures";
import {
  aboutFront,
  binText,
  columnsOf,
  firstOf,
  grouped,
  marksOf,
  sharedText,
  shownSort,
  sorted,
  standingOf,
  BY_SCORE,
  type BoardColumn,
  type BoardSort,
} from "./leaderboard";

const models = (rows: readonly { model: string | null }[]) => rows.map((row) => row.model).join("");

describe("the order of the leaderboard", () => {
  const rows = [
    leader("s", "a", 0.9, 2),
    leader("s", "b", 0.5, null),
    leader("s", "c", null, 1, { errors: 3 }),
    leader("s", "d", 0.5, 1, { standing: "best" }),
  ];
  it.each<[BoardColumn, boolean, string]>([
    ["score", true, "abdc"],
    ["score", false, "bdac"],
    ["cost", false, "cdab"],
    ["cost", true, "acdb"],
    ["errors", true, "cabd"],
    ["standing", false, "dabc"],
    ["name", false, "abcd"],
  ])(
    "by %s, descending %s, puts what is unknown last and keeps equal ones",
    (column, descending, expected) => {
      expect(models(sorted(rows, { column, descending }))).toBe(expected);
    },
  );
});

describe("rows that share no tasks", () => {
  const rows = [
    leader("z", "m", 1, 1, { standing: "apart", group: "apart", shared_tasks: 0 }),
    leader("oracle", null, 1, null, { standing: "solution", group: "solution" }),
    leader("c", "m", 1, 1, { standing: null, group: "apart", shared_tasks: 0 }),
    leader("a", "m", 0.9, 2, { standing: "best" }),
    leader("b", "m", 0.5, 1, { standing: "behind" }),
  ];
  const names = (sort: BoardSort) =>
    grouped(rows, sort).map((group) => group.rows.map((row) => row.system));
  it("have a heading of their own, and no order by score or cost", () => {
    expect(grouped(rows, BY_SCORE).map((group) => group.title)).toEqual([
      "Tasks in common with a/m",
      "Reference solutions: not ranked",
      "No tasks in common with a/m: by name, not by score",
    ]);
    expect(names(BY_SCORE)).toEqual([["a", "b"], ["oracle"], ["c", "z"]]);
    expect(names({ column: "cost", descending: false })).toEqual([
      ["b", "a"],
      ["oracle"],
      ["c", "z"],
    ]);
    expect(names({ column: "name", descending: true })).toEqual([
      ["b", "a"],
      ["oracle"],
      ["z", "c"],
    ]);
  });
  it("are all of them in the order of names where no two are compared", () => {
    const none = rows.map((row) => ({
      ...row,
      standing: null,
      is_reference: false,
      group: "uncompared" as const,
    }));
    const [only, ...others] = grouped(none, BY_SCORE);
    expect(only?.title).toBe("Not compared with each other");
    expect(only?.rows.map((row) => row.system)).toEqual(["a", "b", "c", "oracle", "z"]);
    expect(others).toEqual([]);
  });
  it("are said to be in the order of names only while they are", () => {
    const title = (column: BoardColumn) => grouped(rows, { column, descending: false })[2]?.title;
    expect([title("cost"), title("name"), title("runs")]).toEqual([
      "No tasks in common with a/m: by name, not by score",
      "No tasks in common with a/m: by name, not by score",
      "No tasks in common with a/m",
    ]);
  });
  it("leave the mark of an order on the column that gives it", () => {
    const column = (some: typeof rows, sort = BY_SCORE) => shownSort(grouped(some, sort))?.column;
    expect(column(rows)).toBe("score");
    expect(column(rows.slice(0, 4))).toBe("name");
    expect(column(rows.slice(0, 4), { column: "runs", descending: true })).toBe("runs");
  });
  it("are not ranked", () =>
    expect(grouped(rows, BY_SCORE)[2]?.rows.map((row) => standingOf(row)?.word)).toEqual([
      "not ranked",
      "no tasks in common",
    ]));
  it("the first rows are taken over all groups", () => {
    const all = grouped(rows, BY_SCORE);
    const counts = (most: number) => firstOf(all, most).map((group) => group.rows.length);
    expect([counts(2), counts(4), counts(9)]).toEqual([[2], [2, 1, 1], [2, 1, 2]]);
  });
});

it("a column without any value is left out", () => {
  const rows = [leader("s", "a", 0.9, null), leader("s", "b", null, null)];
  const solution = [leader("s", "a", 0.9, null, { standing: "solution", group: "solution" })];
  expect(columnsOf(solution).map(({ id }) => id)).not.toContain("standing");
  expect(columnsOf(rows).map(({ id }) => id)).toEqual([
    "name",
    "standing",
    "score",
    "tasks",
    "runs",
    "errors",
  ]);
});

it("a row says how many tasks it shares with the reference, unless it shares all", () => {
  const text = (tasks: number, shared_tasks: number | null) =>
    sharedText(leader("s", "m", 0.5, null, { tasks, shared_tasks }));
  expect([text(10, 6), text(10, 10), text(10, 0), text(10, null)]).toEqual([
    "6 shared",
    "",
    "0 shared",
    "",
  ]);
});

describe("a figure", () => {
  const figure = { value: 0.5, low: 0.25, high: 0.75, known: 10, unknown: 0 };
  it("has its interval and how many runs it covers", () => {
    expect(figureText(figure, "score")).toEqual({
      value: "0.50",
      range: "0.25–0.75",
      about: "0.50 over 10 runs; 95 % interval 0.25–0.75",
    });
    expect(figureText({ ...figure, unknown: 2 }, "cost").about).toBe(
      "$0.500 over 10 runs, unknown for 2; 95 % interval $0.250–$0.750",
    );
    expect(figureText(figure, "passes").value).toBe("50 %");
  });
  it("is a dash and no zero when it is unknown, and says why it has no interval", () => {
    expect(figureText(null, "cost")).toEqual({ value: "–", range: "", about: "Unknown" });
    expect(figureText({ ...figure, low: null, high: null }, "tokens")).toMatchObject({
      range: "",
      about: expect.stringContaining("no interval") as unknown,
    });
  });
});

it("the Pareto mark is explained by what it rests on", () => {
  expect(aboutFront("cost", [6, 6])).toContain("on the 6 tasks and variations that both have");
  expect(aboutFront("cost", [2, 6])).toContain("on the 2 to 6 tasks and variations");
  expect(aboutFront("seconds", [6, 6])).toContain("no cost is known");
  expect(aboutFront(null, null)).toBe("");
});

it("a bar says its scores and runs", () => {
  expect(binText(9, 3, 12)).toBe("0.9–1.0: 3 of 12 scores");
});

it("a mark stands for one system", () => {
  const rows = [leader("s", "a", 1, 1), leader("t", "b", 1, 1), leader("s", "c", 1, 1)];
  const points = [0, 1, 2].map((row) => ({ row, shape: row % 2 }));
  expect(marksOf({ points }, rows)).toEqual([
    { system: "s", shape: 0 },
    { system: "t", shape: 1 },
  ]);
});
