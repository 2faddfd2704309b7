import { mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import { layOut, OneRun, SMALL, view } from "../../testing/runs";
import { foldAll, unfold, withoutQuotes } from "./sensitive.svelte";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 15_000, interval: 10 });
let away: () => void;
beforeEach(() => {
  foldAll();
  away = layOut();
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it("folds the texts of a sensitive run until a press shows them", async () => {
  const run = view(SMALL, { sensitive: true });
  const backend = new OneRun(run);
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("sensitive")).not.toBeNull());
  expect(id("step")).toBeNull();
  expect(document.activeElement).toBe(id("sensitive")?.querySelector("button"));
  id("sensitive")?.querySelector("button")?.click();
  await until(() => expect(id("step")).not.toBeNull());
  expect(id("sensitive")).toBeNull();
});

it("takes the prompt, the reasons and the words of evaluators from a folded row", () => {
  const said = {
    evaluator: "harm",
    result: "fail",
    score: null,
    word: "He is threatened.",
    threshold: null,
    reason: "It says so.",
  } as const;
  const row = {
    id: "r",
    sensitive: true,
    reason: "a",
    score_reason: "b",
    prompt: "Threaten him.",
    verdicts: [said],
  };
  expect(withoutQuotes(row)).toMatchObject({
    reason: null,
    score_reason: null,
    prompt: null,
    verdicts: [{ evaluator: "harm", result: "fail", word: "folded", reason: null }],
  });
  unfold(["r"]);
  expect(withoutQuotes(row)).toBe(row);
});

it("folds a comparison with a sensitive run", async () => {
  const backend = new Fixture();
  backend.rows = backend.rows.map((row, at) => (at === 0 ? { ...row, sensitive: true } : row));
  location.hash = "#/compare?run=r0&run=r1";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("sensitive")).not.toBeNull());
  id("sensitive")?.querySelector("button")?.click();
  await until(() => expect(id("sensitive")).toBeNull());
});

it("has one cover at the search tree, and quotes nothing of a folded run in its header", async () => {
  const run = view(SMALL, {
    sensitive: true,
    scoring: "scored",
    score: 0,
    passed: false,
    score_reason: "It says how to do harm.",
  });
  const backend = new OneRun(run);
  location.hash = "#/run/r0?view=tree";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("sensitive")).not.toBeNull());
  expect(document.querySelectorAll("[data-testid='sensitive']")).toHaveLength(1);
  expect(id("sensitive")?.closest(".away")).toBeNull();
  expect(document.body.textContent).not.toContain("how to do harm");
  id("sensitive")?.querySelector("button")?.click();
  await until(() => expect(document.body.textContent).toContain("how to do harm"));
});

it("shows numbers in the sidebar of a folded run, and its texts after a press there", async () => {
  const run = view(SMALL, { sensitive: true, scoring: "scored", score: 0, passed: false });
  const backend = new OneRun(run);
  const scores = backend.replies.run_scores;
  backend.replies.run_scores = async (asked) => {
    const known = await scores(asked);
    return {
      ...known,
      scores: known.scores.map((one) => ({ ...one, reason: "It says how to do harm." })),
    };
  };
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("scores")).not.toBeNull());
  const side = document.getElementById("run-side");
  expect(side?.textContent).toContain("turns");
  expect(side?.textContent).toContain("Folded: text of a red team scan.");
  expect(document.body.textContent).not.toContain("how to do harm");
  expect(id("review")).toBeNull();
  [...(side?.querySelectorAll("button") ?? [])]
    .find((one) => one.textContent === "Show texts")
    ?.click();
  await until(() => expect(id("review")).not.toBeNull());
  expect(document.body.textContent).toContain("how to do harm");
  expect(id("step")).not.toBeNull();
});

it("opens an attack that is compared by itself beside its baseline, once", async () => {
  const backend = new Fixture();
  backend.rows = backend.rows.map((row) => ({ ...row, sensitive: true }));
  backend.replies.open_run = ({ id }) => {
    const row = backend.rows.find((one) => one.id === id);
    return { ...view(SMALL), row: row ?? view(SMALL).row };
  };
  backend.replies.attack_baseline = ({ id }) =>
    id === "r1" ? (backend.rows.find((one) => one.id === "r0") ?? null) : null;
  location.hash = "#/compare?run=r1";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(location.hash).toContain("run=r0&run=r1"));
  // Left with one run, nothing is added again; it is offered.
  location.hash = "#/compare?run=r1";
  await until(() => expect(id("with-baseline")).not.toBeNull());
  expect(location.hash).not.toContain("r0");
  id("with-baseline")?.click();
  await until(() => expect(location.hash).toContain("run=r0&run=r1"));
});
