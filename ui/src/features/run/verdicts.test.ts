import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { RunRow, RunScore, RunScores, RunView, StoredVerdict } from "../../generated";
import { SCORES } from "../../testing/judge";
import { layOut, OneRun, SMALL, text, view } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const id = (testid: string) => all(`[data-testid='${testid}']`)[0];
const said = (testid: string) => flat(id(testid));
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });

let away: () => void;
beforeEach(() => {
  away = layOut();
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

const verdict = (evaluator: string, change: Partial<StoredVerdict>): StoredVerdict => ({
  evaluator,
  score: null,
  word: null,
  passed: null,
  threshold: null,
  reason: null,
  silent: false,
  result: "open",
  rounds: [],
  ...change,
});
const score = (scorer: string, change: Partial<RunScore>): RunScore => ({
  scorer,
  version: 0,
  standing: "scored",
  score: null,
  passed: null,
  reason: "",
  detail: [],
  ...change,
});
const passes = verdict("f1", { result: "pass", score: "1.0", threshold: "0.5", passed: true });
const fails = verdict("relevance", {
  result: "fail",
  score: "1.0",
  passed: false,
  reason: "It does not answer.",
});
const UNSCORED: Partial<RunRow> = {
  state: "answered",
  scoring: null,
  scorer: null,
  score: null,
  passed: null,
  class: null,
  score_reason: null,
};
const ERROR: Partial<RunRow> = { ...UNSCORED, state: "error", scoring: "error" };

async function open(
  row: Partial<RunRow>,
  scores: Partial<RunScores>,
  change: Partial<RunView> = {},
) {
  const backend = new OneRun(view(SMALL, row, change));
  const none: RunScores = { ...SCORES, scores: [], class: null, judged: [], stored: [], notes: [] };
  backend.replies.run_scores = () => ({ ...none, ...scores });
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("scores")).toBeDefined());
  flushSync();
  return backend;
}

it("a run without a score of its own has the verdicts of evaluators in its place", async () => {
  await open(
    { ...UNSCORED, stored: { passed: 1, decided: 2, errors: 0 } },
    { stored: [passes, fails], notes: ["There is no suite for the task, so it is not scored."] },
  );
  expect(flat(all(".who")[0])).not.toContain("Answered");
  await until(() => expect(said("verdicts-chip")).toBe("Fails 1 of 2 evaluators relevance"));
  expect(id("verdicts-chip")?.className).toContain("wrong");
  expect(said("scores")).toContain("Fails 1 of 2 evaluators");
  expect(said("scores")).toContain("choose it under Scores by in the Overview");
  expect(said("scores")).not.toContain("no suite");
  const [first, second, ...more] = all("[data-testid='stored'] details");
  expect([flat(first), first?.hasAttribute("open")]).toEqual([
    "relevance does not pass 1.0 It does not answer.",
    true,
  ]);
  expect(flat(second)).toContain("f1 passes · threshold 0.5");
  expect([second?.hasAttribute("open"), more]).toEqual([false, []]);
});

it("a run in error shows what evaluators said of it beside the error", async () => {
  const reason = "Rate limit exceeded.";
  const withheld = ["f1", "relevance"].map((name) => score(name, { standing: "error", reason }));
  await open(
    { ...ERROR, stored: { passed: 1, decided: 2, errors: 0 } },
    { scores: withheld, class: "system_error", stored: [passes, fails] },
  );
  await until(() => expect(said("verdicts-chip")).toContain("Fails 1 of 2 evaluators"));
  expect(said("score-chip")).toContain("System error");
  expect(said("scores")).toContain("The run still counts as an error.");
  expect(all("[data-testid='scores'] details")).toHaveLength(2);
});

it("a verdict that is a score is shown once, with its word, and what the file lacks is marked", async () => {
  await open(
    { ...UNSCORED, scoring: "scored", score: 0, stored: { passed: 0, decided: 1, errors: 0 } },
    {
      scores: [
        score("includes", { score: 0, passed: false }),
        score("two/exact", { score: 0 }),
        score("text: f1", { version: 1, score: 0, passed: false }),
      ],
      stored: [
        verdict("includes", { result: "fail", score: "0", word: "I", passed: false }),
        verdict("two/exact", { score: "0.0" }),
        verdict("two/words", { score: "5" }),
      ],
    },
  );
  expect(id("verdicts-chip")).toBeUndefined();
  expect(said("scores")).toContain("not passed · I");
  expect(all("[data-testid='scores'] details").map(flat)).toEqual([
    expect.stringMatching(/^Score two\/exact 0\.00/),
    expect.stringMatching(/^Wrong text: f1 v1, not in the file 0\.00/),
    expect.stringMatching(/^two\/words no verdict 5/),
  ]);
});

it("scores of a file without a threshold are neutral, and have no cause", async () => {
  const backend = await open(
    {
      ...UNSCORED,
      format: "langfuse",
      scoring: "scored",
      scorer: "toxicity",
      score: 0,
      stored: { passed: 0, decided: 0, errors: 0 },
    },
    {
      scores: [score("toxicity", { score: 0 }), score("hallucination", { score: 1 })],
      stored: [verdict("toxicity", { score: "0" }), verdict("hallucination", { score: "1" })],
    },
  );
  expect(said("score-chip")).toBe("Score 0.00");
  expect(all(".head .wrong, .head .right, [data-testid='scores'] :is(.wrong, .right)")).toEqual([]);
  expect(backend.calls.map(({ name }) => name)).not.toContain("run_cause");
});

it("the expected answer of an evaluated row stands below its score, and once", async () => {
  const fact = (key: string, of: string) => ({ key, part: text(key, "value", of) });
  await open(
    { ...UNSCORED, stored: { passed: 0, decided: 1, errors: 0 } },
    { stored: [fails] },
    {
      facts: [fact("inputs.ground_truth", "Rayleigh scattering."), fact("inputs.id", "q5")],
      answer: { part: text("answer", "answer", "No idea."), source: "response", lenient: false },
    },
  );
  const heads = () => all("#run-side h2").map((head) => flat(head).split(" ")[0]);
  await until(() => expect(heads().slice(0, 3)).toEqual(["Score", "Expected", "Judges"]));
  expect(said("expected")).toMatch(/Expected output .*Rayleigh scattering\./u);
  expect(flat(all("#run-side")[0]).split("Rayleigh scattering.")).toHaveLength(2);
  expect(flat(all("#run-side")[0])).toContain("inputs.id q5");
  all("button")
    .find((button) => flat(button) === "Answer")
    ?.click();
  await until(() => expect(said("answer-diff")).toContain("Rayleigh scattering."));
  expect(said("answer-diff")).not.toContain("suite");
});

it("a row without messages shows its columns, and the file on demand", async () => {
  const backend = new OneRun(
    view(
      [],
      { ...UNSCORED, state: "no_answer", member: "row-1", stored: null },
      { facts: [{ key: "inputs.documents", part: text("fact:0", "value", "D1, D2") }] },
    ),
  );
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(said("row-columns")).toContain("inputs.documents"));
  expect(said("row-columns")).toContain("D1, D2");
  expect(id("raw")).toBeUndefined();
  expect(flat(document.body)).toContain("This row has no messages.");
  all("button")
    .find((button) => flat(button) === "raw")
    ?.click();
  await until(() => expect(id("raw")).toBeDefined());
  expect(id("row-columns")).toBeUndefined();
});
