import { describe, expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import type { OwnName, RunRow } from "../../generated";
import {
  chosen,
  COLUMNS,
  evaluatorColumn,
  evaluatorRoom,
  evaluatorsOf,
  isOwnColumn,
  LABELS,
  ownColumn,
  widthsOf,
} from "./columns";
import { SOURCE } from "./sources";

const score = COLUMNS.find((column) => column.id === "score");

describe("the column of scores", () => {
  const told = (change: Parameters<typeof runRow>[1]) => {
    const row = runRow(0, change);
    return [score?.text(row), score?.hint?.(row), score?.token?.(row)];
  };

  it("shows the number, says the scorer and the reason, and asks for runs like this one", () => {
    const right = {
      scoring: "scored",
      scorer: "fields",
      score: 1,
      passed: true,
      class: null,
      score_reason: "all 10 rows right",
    } as const;
    expect(told(right)).toEqual([
      "1.00",
      "fields: Right · all 10 rows right",
      { key: "passed", value: "yes" },
    ]);
    const wrong = {
      ...right,
      score: 0.3,
      passed: false,
      class: "wrong_answer",
      score_reason: "3 of 10 rows right",
    } as const;
    expect(told(wrong)).toEqual([
      "0.30",
      "fields: Wrong · 3 of 10 rows right",
      { key: "passed", value: "no" },
    ]);
  });

  it("shows a dash where there is no score, never 0, and says why", () => {
    const none = { score: null, passed: null, class: null, scorer: "fields" } as const;
    expect(told({ ...none, scoring: "failed", score_reason: "It expects a number." })).toEqual([
      "–",
      "fields: Scorer failed · It expects a number.",
      { key: "scoring", value: "failed" },
    ]);
    expect(told({ ...none, scoring: "no_expected", scorer: null, score_reason: null })).toEqual([
      "–",
      "No expected output",
      { key: "scoring", value: "no_expected" },
    ]);
    expect(told({ ...none, scoring: null, score_reason: null })).toEqual([
      "–",
      "Unknown task, so not scored",
      null,
    ]);
  });
});

describe("the column of tasks", () => {
  const text = (change: Parameters<typeof runRow>[1]) =>
    COLUMNS.find((column) => column.id === "task")?.text(runRow(0, change));
  it("is the prompt without a task, and has it behind the task for rows of a file", () => {
    const [task, prompt, path] = ["row-7", "How deep?", "a.json"];
    expect(text({ task, prompt, path, member: null })).toBe("row-7");
    expect(text({ task, prompt, path, member: "row-7" })).toBe("row-7 · How deep?");
    expect(text({ task: "How deep? 2", prompt, path, member: "2" })).toBe("How deep? 2");
    expect(text({ task: null, prompt, path, member: null })).toBe("How deep? · a.json");
    expect(text({ task: null, prompt: null, path, member: null })).toBe("a.json");
  });
});

describe("the column of stored verdicts", () => {
  const column = COLUMNS.find((one) => one.id === "stored");
  const told = (stored: RunRow["stored"]) => [
    column?.text(runRow(0, { stored })),
    column?.hint?.(runRow(0, { stored })),
  ];

  it("counts what passes of what says so, errors apart, and shows a dash where nothing is known", () => {
    expect(told({ passed: 1, decided: 3, errors: 0 })).toEqual([
      "1/3",
      "1 of 3 stored verdicts pass",
    ]);
    expect(told({ passed: 0, decided: 0, errors: 2 })).toEqual([
      "2 err",
      "0 of 0 stored verdicts pass; 2 errors",
    ]);
    expect(told({ passed: 0, decided: 0, errors: 0 })[0]).toBe("–");
    expect(told(null)).toEqual(["–", "No stored verdicts: this run is not an evaluation row"]);
  });

  it("is shown where there are any, unless the user says otherwise", () => {
    const has = (shown: Record<string, boolean>, stored: boolean) =>
      chosen(shown, stored).some((one) => one.id === "stored");
    expect([has({}, false), has({}, true)]).toEqual([false, true]);
    expect([has({ stored: true }, false), has({ stored: false }, true)]).toEqual([true, false]);
  });
});

describe("the columns of evaluators", () => {
  const verdict = (change: Partial<RunRow["verdicts"][number]> = {}) => ({
    evaluator: "tone",
    result: "pass" as const,
    score: "4",
    word: null,
    threshold: "3",
    reason: null,
    ...change,
  });
  const told = (verdicts: RunRow["verdicts"]) => {
    const column = evaluatorColumn("tone");
    return [column.text(runRow(0, { verdicts })), column.hint?.(runRow(0, { verdicts }))];
  };

  it("show what an evaluator said, and nothing where it said nothing, never 0", () => {
    expect(told([verdict()])).toEqual(["4 ✓", "tone: 4, pass, threshold 3"]);
    expect(told([verdict({ score: "0.49791", result: "fail", threshold: null })])[0]).toBe(
      "0.50 ✗",
    );
    expect(told([verdict({ score: null, result: "open", word: "Very low" })])[0]).toBe("Very low");
    expect(told([verdict({ score: null, result: "error", word: null })])[0]).toBe("err");
    expect(told([verdict({ evaluator: "other" })])).toEqual(["", "tone said nothing of this run"]);
    expect(told([])[0]).toBe("");
  });

  it("are as many as the window has room for, unless the user says otherwise", () => {
    expect([800, 1_280, 1_440, 2_560].map(evaluatorRoom)).toEqual([0, 1, 3, 4]);
    const ids = (shown: Record<string, boolean>, room: number) =>
      chosen(shown, true, ["tone", "bleu"], room)
        .map((one) => one.id)
        .filter((id) => id.startsWith("verdict:"));
    expect(ids({}, 0)).toEqual([]);
    expect(ids({}, 1)).toEqual(["verdict:tone"]);
    expect(ids({ "verdict:bleu": true, "verdict:tone": false }, 4)).toEqual(["verdict:bleu"]);
  });

  it("are of evaluators, not of their results, by their own names", () => {
    const values = ["tone", "tone=pass", '"my \\"tone\\""', '"my \\"tone\\""=fail', '"a=pass"'];
    expect(evaluatorsOf(values.map((value) => ({ value })))).toEqual([
      "tone",
      'my "tone"',
      "a=pass",
    ]);
  });
});

describe("the column of labels", () => {
  const labels = [
    { name: "gave-up", value: null },
    { name: "severity", value: "high" },
  ];

  it("shows names and values, and filters by a label that follows from a question", () => {
    const row = runRow(0, { labels });
    expect(LABELS.text(row)).toBe("gave-up, severity: high");
    expect(LABELS.token?.(row)).toEqual({ key: "label", value: "gave-up" });
    expect(LABELS.token?.(runRow(0, { labels: labels.slice(1) }))).toBeNull();
  });

  it("is shown where the folder has labels, unless the user says otherwise", () => {
    const has = (shown: Record<string, boolean>, hasLabels: boolean) =>
      chosen(shown, false, [], 0, hasLabels).some((one) => one.id === "labels");
    expect([has({}, false), has({}, true)]).toEqual([false, true]);
    expect([has({ labels: true }, false), has({ labels: false }, true)]).toEqual([true, false]);
  });
});

describe("columns of one's own", () => {
  const values = (known: Record<string, string | null>) => ({
    text: (_: RunRow, column: string) => known[column],
    quotes: (column: string) => column === "answer" || column === "label:note",
  });
  const shown = {
    "answer.items[0].id": true,
    "fact:run.version": true,
    "label:x": false,
    size: false,
  };

  it("stand behind the others, and are known by their form", () => {
    const ids = chosen(shown, false, [], 0, false, values({})).map(({ id }) => id);
    expect(ids.filter((id) => id.includes(":") || id.includes("."))).toEqual([
      "answer.items[0].id",
      "fact:run.version",
    ]);
    for (const id of ["answer", "answer[0]", "answer.a", "label:a b", "score:fields"])
      expect(isOwnColumn(id)).toBe(true);
    for (const id of ["answers", "cost", "fact:", "verdict:relevance", ""])
      expect(isOwnColumn(id)).toBe(false);
  });

  it("show a dash for what is missing, and nothing of a folded answer", () => {
    const row = runRow(0);
    const text = (id: OwnName, known: Record<string, string | null>, of = row) =>
      ownColumn(id, values(known)).text(of);
    expect(text("answer", { answer: "0" })).toBe("0");
    expect(text("answer", { answer: null })).toBe("–");
    expect(text("answer", {})).toBe("…");
    const folded = { ...row, sensitive: true };
    expect(text("answer", { answer: "secret" }, folded)).toBe("folded");
    expect(text("label:x", { "label:x": "yes" }, folded)).toBe("yes");
    // The engine says which columns quote: so does a label whose values are texts.
    expect(text("label:note", { "label:note": "a quotation" }, folded)).toBe("folded");
  });

  it("are sorted by, as an evaluator's verdicts are", () => {
    expect(ownColumn("answer.id", values({})).sort).toBe("answer.id");
    expect(evaluatorColumn("relevance").sort).toBe("verdict:relevance");
  });
});

describe("the score of a row that evaluators were applied to", () => {
  const verdict = (score: string | null, word: string | null = null) => ({
    evaluator: word ?? "relevance",
    result: "pass" as const,
    score,
    word,
    threshold: null,
    reason: null,
  });
  it("is what they say; a run with a scorer keeps its own", () => {
    const score = COLUMNS.find(({ id }) => id === "score")!;
    const row = runRow(0, {
      scoring: null,
      score: null,
      verdicts: [verdict("4"), verdict("0.33333")],
    });
    expect(score.text(row)).toBe("4, 0.333");
    expect(score.text({ ...row, verdicts: [verdict(null, "safe")] })).toBe("safe");
    // More than fit the column are counted.
    expect(score.text({ ...row, verdicts: Array(6).fill(verdict("0.33333")) })).toBe("6 scores");
    expect(score.text({ ...row, verdicts: [] })).toBe("–");
    expect(score.text({ ...row, scoring: "scored", score: 0 })).toBe("0.00");
  });
});

describe("a run of another tool", () => {
  const text = (id: string, change: Partial<RunRow>) =>
    COLUMNS.find((column) => column.id === id)?.text(runRow(0, change));

  it("without a task has its first prompt for a name, with its file", () => {
    const row = { task: null, path: "agent_session.jsonl", format: "claude_code" };
    expect(text("task", { ...row, prompt: "Fix the build." })).toBe(
      "Fix the build. · agent_session.jsonl",
    );
    expect(text("task", row)).toBe("agent_session.jsonl");
    expect(text("task", { prompt: "Fix the build.", task: "build" })).toBe("build");
  });

  it("has no variation where there is only one", () => {
    const only = { variation: 0, variation_name: null };
    expect(text("variation", { ...only, format: "inspect" })).toBe("–");
    expect(text("variation", { ...only, format: null, scoring: "scored" })).toBe("–");
    expect(text("variation", { ...only, format: null, scoring: null })).toBe("0");
    expect(text("variation", { ...only, variation_name: "last 20" })).toBe("last 20");
  });
});

describe("the widths", () => {
  const columns = chosen({}, true, [], 0, false, null, SOURCE);
  const box = 2.3;
  const endOfScore = (textSize: number, window: number, resized = {}) => {
    const widths = widthsOf(columns, resized, textSize, window - box * textSize);
    const at = columns.findIndex(({ id }) => id === "score");
    return columns
      .slice(0, at + 1)
      .reduce((sum, { id }) => sum + (widths.get(id) ?? NaN), box * textSize);
  };

  it.each([
    [13, 900],
    [13, 1_280],
    [18, 900],
    [18, 1_280],
  ])("leave the score in sight with text of %i px in a window of %i px", (textSize, window) => {
    expect(endOfScore(textSize, window)).toBeLessThanOrEqual(window);
  });

  it("shrink only where there is no room, and never what the user chose", () => {
    const wide = widthsOf(columns, {}, 13, 2_000);
    for (const { id, width } of columns) expect(wide.get(id)).toBe(Math.round(width * 13));
    const narrow = widthsOf(columns, { task: 400 }, 13, 600);
    expect(narrow.get("task")).toBe(400);
    expect(narrow.get("system")).toBe(Math.round(11.2 * 13) - Math.ceil((11.2 - 5.5) * 13));
    expect(narrow.get("cost")).toBe(wide.get("cost"));
  });
});
