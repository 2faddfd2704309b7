import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { Judged, JudgeRequest } from "../../generated";
import { judging, SCORES } from "../../testing/judge";
import { layOut, OneRun, SMALL, view } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const button = (name: string, within: ParentNode | null = document) =>
  [...(within ?? document).querySelectorAll("button")].find((found) =>
    flat(found).startsWith(name),
  );
async function press(name: string, within?: ParentNode | null) {
  button(name, within)?.click();
  await tick();
  flushSync();
}

const round = (verdict: string | null, reply: string) => ({
  verdict,
  told: verdict ?? "not read",
  score: verdict === "solved" ? 1 : verdict === null ? null : 0,
  reason: `It says ${verdict ?? "nothing"}.`,
  replies: reply === "" ? [] : [reply],
  model_id: "any-1",
  at: null,
  order: null,
});
const judged = (change: Partial<Judged> = {}): Judged => ({
  judge: "sopr",
  version: 1,
  model: "local",
  official: false,
  against: null,
  stale: null,
  wanted: 2,
  score: 0.5,
  spread: 0.5,
  told: null,
  own_spread: null,
  threshold: null,
  of_suite: false,
  passed: false,
  rounds: [round("solved", '{"verdict": "solved"}<img src=x>'), round("unsolved", "")],
  ...change,
});
const GOING = judging("j1", { total: 1 });

async function open(backend: OneRun) {
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("judgements")).not.toBeNull());
  return backend;
}
const requests = (backend: OneRun, name: string) =>
  backend.calls
    .filter((call) => call.name === name)
    .map((call) => (call.args as { request: JudgeRequest }).request);

let away: () => void;
beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it("shows what judges said with every reason, and the replies as text", async () => {
  const backend = new OneRun(view(SMALL));
  backend.replies.run_scores = () => ({
    ...SCORES,
    judged: [
      judged(),
      judged({
        stale: "The run or its task has changed since.",
        score: null,
        spread: null,
        passed: null,
        rounds: [round(null, "hm")],
      }),
    ],
  });
  await open(backend);
  const said = flat(id("judgements"));
  expect(said).toContain("sopr v1 · local");
  expect(said).toContain("0.50 ± 0.50");
  expect(said).toContain("It says solved.");
  expect(said).toContain('{"verdict": "solved"}<img src=x>');
  expect(said).toContain("no API call");
  expect(said).toContain("The run or its task has changed since. Not counted.");
  expect(id("judgements")?.querySelector("img")).toBeNull();
});

it("tells a judge with a scale of its own on that scale, with what it has to reach and whose word that is", async () => {
  const backend = new OneRun(view(SMALL));
  const stars = {
    score: 0.75,
    spread: 0.125,
    told: "4 of 5",
    own_spread: 0.5,
    threshold: "from 4 of 5",
    of_suite: true,
    passed: true,
  };
  backend.replies.run_scores = () => ({
    ...SCORES,
    judged: [
      judged({
        judge: "relevance",
        ...stars,
        rounds: [
          { ...round("solved", "a"), told: "4 of 5" },
          { ...round("solved", "b"), told: "not read" },
        ],
      }),
      judged({ stale: "The run or its task has changed since." }),
    ],
  });
  await open(backend);
  const said = flat(id("judgements"));
  expect(said).toContain("4 of 5 ± 0.50");
  expect(said).toContain("passes (from 4 of 5, set by the suite) · 4 of 5, not read");
  await press("Judge again", id("judgements"));
  await until(() =>
    expect(requests(backend, "plan_judging").at(-1)).toMatchObject({
      judge: "sopr",
      model: "local",
      again: false,
    }),
  );
});

it("says before anything is sent when a budget binds nothing", async () => {
  const backend = new OneRun(view(SMALL));
  const plan = backend.replies.plan_judging;
  backend.replies.plan_judging = (asked) => ({
    ...plan(asked),
    unbound: "`local` has no known price, so the budget of $2 has no effect there.",
  });
  await open(backend);
  await press("Judge this…", id("judgements"));
  await until(() =>
    expect(flat(id("judge-unbound"))).toBe(
      "◐ `local` has no known price, so the budget of $2 has no effect there.",
    ),
  );
});

it("asks for a model, says what it takes before anything is sent, then how it goes, and stops", async () => {
  const backend = await open(new OneRun(view(SMALL)));
  await press("Judge this…", id("judgements"));
  await until(() => expect(flat(id("judge-estimate"))).toContain("3 to 6 requests"));
  expect(requests(backend, "plan_judging").at(-1)).toEqual({
    judge: "sopr",
    model: "local",
    rounds: null,
    official: false,
    runs: ["r0"],
    filter: "",
    again: false,
    max_cost: null,
    reference: "",
  });
  expect(requests(backend, "start_judging")).toEqual([]);
  expect(
    [...(id("judge")?.querySelectorAll("option") ?? [])].map(
      (one) => `${flat(one)}${one.disabled ? " off" : ""}`,
    ),
  ).toEqual(["local", "old (unavailable) off"]);
  expect([...(id("judges")?.querySelectorAll("label") ?? [])].map((one) => flat(one))).toEqual([
    "sopr Was the request solved?",
    "fac Is it complete?",
  ]);
  expect(flat(id("judge"))).toContain("Official rule");
  id("judges")?.querySelector<HTMLInputElement>("input[value=fac]")?.click();
  await until(() => expect(requests(backend, "plan_judging").at(-1)?.judge).toBe("fac"));
  expect(flat(id("judge")), "fac has no official rules").not.toContain("Official rule");
  id("judges")?.querySelector<HTMLInputElement>("input[value=sopr]")?.click();
  await until(() => expect(requests(backend, "plan_judging").at(-1)?.judge).toBe("sopr"));
  backend.judgings = [GOING];
  await press("Judge 1 run", id("judge"));
  await until(() => expect(flat(id("judging"))).toContain("0 of 1 run Running · 1 reply"));
  await press("Stop", id("judge"));
  expect(backend.calls.at(-1)).toEqual({ name: "stop_judging", args: { id: "j1", now: false } });
  backend.judgings = [
    {
      ...GOING,
      state: "done",
      done: 1,
      rates: {
        runs: 1,
        without_answer: 0,
        mean: 1,
        spread: 0,
        mean_of_answered: 1,
        pairs: null,
        own: null,
        passed: { passed: 1, runs: 1, interval: [0.2, 1] },
      },
    },
  ];
  backend.tell({ kind: "judgings" });
  await until(() =>
    expect(flat(id("judge-rates"))).toBe(
      "sopr: mean 1.00 ± 0.00 of 1 run; 1 of 1 pass [20 to 100 %]",
    ),
  );
  expect(button("Stop", id("judge"))).toBeUndefined();
});

it("leads to judging that is under way, where it can be stopped", async () => {
  const backend = new OneRun(view(SMALL));
  backend.judgings = [{ ...GOING, id: "j7", total: 9, done: 2 }];
  await open(backend);
  await press("Judge this…", id("judgements"));
  await until(() => expect(flat(id("judge"))).toContain("sopr by local is running: 2 of 9 runs."));
  await press("Show", id("judge"));
  await press("Stop", id("judge"));
  expect(backend.calls.at(-1)).toEqual({ name: "stop_judging", args: { id: "j7", now: false } });
});

it("refuses a budget and rounds that are no numbers before it asks anything", async () => {
  const backend = await open(new OneRun(view(SMALL)));
  await press("Judge this…", id("judgements"));
  await until(() => expect(requests(backend, "plan_judging").length).toBe(1));
  const field = id("judge")?.querySelector<HTMLInputElement>("input[inputmode=numeric]");
  if (!field) throw new Error("there is no field");
  field.value = "many";
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await until(() =>
    expect(flat(id("judge")?.querySelector("[role=alert]"))).toContain("from 1 to 20"),
  );
  expect(button("Judge", id("judge"))?.disabled).toBe(true);
  expect(requests(backend, "plan_judging").length).toBe(1);
});

it("sends a judge that waits to the choices and not to the sandbox", async () => {
  const backend = new OneRun(view(SMALL));
  backend.replies.run_scores = () => ({
    ...SCORES,
    scores: [
      {
        scorer: "judge:fac",
        version: 1,
        standing: "waiting",
        score: null,
        passed: null,
        reason: "`judge:fac` has not run yet.",
        detail: [],
      },
    ],
  });
  await open(backend);
  await press("Judge this…", id("scores"));
  await until(() => expect(requests(backend, "plan_judging").at(-1)?.judge).toBe("fac"));
  expect(backend.calls.some((call) => call.name === "run_scorers")).toBe(false);
});
