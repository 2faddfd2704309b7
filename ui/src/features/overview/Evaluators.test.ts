import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import { layOut } from "../../testing/runs";
import { matrix } from "../../testing/overview";
import type { EvaluatorSummary, Overview } from "../../generated";

let app: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });

const ROWS: EvaluatorSummary[] = [
  {
    evaluator: "<b>tone</b>",
    group: "helpdesk",
    filter: "system:helpdesk -model:*",
    runs: 8,
    mean: { value: 3.25, low: 2.5, high: 4, known: 8, unknown: 0 },
    passes: null,
    errors: 1,
  },
];
let away: () => void;
beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
  away();
});
async function open(rows: EvaluatorSummary[], head: Partial<Overview> = {}) {
  const backend = new Fixture();
  const page = matrix(2);
  backend.replies.overview = ({ request }) => ({ ...page(request), ...head });
  backend.replies.evaluator_summaries = () => rows;
  location.hash = "#/overview?q=model%3Ao1";
  app = mount(App, { target: document.body, props: { backend } });
  await until(() =>
    expect(backend.calls.some((call) => call.name === "evaluator_summaries")).toBe(true),
  );
  return backend;
}

it("shows the means of evaluators with intervals, and a dash for what is unknown", async () => {
  const backend = await open(ROWS);
  await until(() => expect(id("evaluators")).not.toBeNull());
  expect(backend.calls.find((call) => call.name === "evaluator_summaries")?.args).toEqual({
    filter: "model:o1",
  });
  expect(flat(id("evaluators")?.querySelector("summary"))).toContain("<b>tone</b>");
  const cells = [...(id("evaluator-row")?.children ?? [])].map(flat);
  expect(cells).toEqual(["<b>tone</b>", "helpdesk", "8", "3.252.50–4.00", "–", "1"]);
  const link = id("evaluator-row")?.querySelector("a")?.getAttribute("href") ?? "";
  expect(decodeURIComponent(link)).toBe("#/runs?q=model:o1+system:helpdesk+-model:*");
});

it("leads, unfolded, above the folded leaderboard where no run has a score", async () => {
  await open(ROWS, { scored: 0 });
  await until(() => expect(id("evaluators")?.hasAttribute("open")).toBe(true));
  const board = id("toggle-leaderboard");
  expect(board?.getAttribute("aria-expanded")).toBe("false");
  const follows = id("evaluators")?.compareDocumentPosition(board ?? document.body) ?? 0;
  expect(follows & Node.DOCUMENT_POSITION_FOLLOWING).not.toBe(0);
});

it("chooses the first evaluator where only evaluators say what passes, and says so", async () => {
  const backend = await open(ROWS, {
    scorers: ["verdict:tone", "verdict:<b>tone</b>"],
    evaluations_left_out: 0,
    headline: ["Two tie."],
  });
  await until(() => expect(location.hash).toContain("scorer=verdict%3Atone"));
  const asked = backend.calls.filter((call) => call.name === "overview").at(-1);
  expect(asked?.args).toMatchObject({ request: { scorer: "verdict:tone" } });
  await until(() => expect(flat(id("headline"))).toContain("By tone:"));
  await until(() => expect(id("evaluators")?.hasAttribute("open")).toBe(true));
  const select = id("overview-scorer") as HTMLSelectElement;
  expect([...select.options].map((one) => one.label || one.textContent)).toEqual([
    "tone",
    "<b>tone</b>",
  ]);
  // Another one is a click away.
  id("evaluator-row")?.querySelector<HTMLElement>("th a")?.click();
  await until(() => expect(decodeURIComponent(location.hash)).toContain("verdict:<b>tone</b>"));
});

it.each([
  { why: "tasks have scorers", scorers: ["fields", "verdict:tone"], evaluations_left_out: 0 },
  { why: "evaluations are not counted", scorers: ["verdict:tone"], evaluations_left_out: 3 },
])("leaves the scorer to the tasks where $why", async ({ scorers, evaluations_left_out }) => {
  await open(ROWS, { scorers, evaluations_left_out });
  await until(() => expect(id("evaluators")).not.toBeNull());
  expect(location.hash).not.toContain("scorer");
});

it("leaves the grid without keys and legend where it leads, until the grid is shown", async () => {
  const backend = await open(ROWS, { scored: 0 });
  const button = () =>
    [...document.querySelectorAll("button")].find((one) => one.textContent === "Show the tasks");
  await until(() => expect(button()).toBeDefined());
  const asked = (name: string) => backend.calls.filter((call) => call.name === name).length;
  const before = [location.hash, asked("overview")];
  const press = (...keys: string[]) => {
    for (const key of keys)
      document.body.dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
      );
    flushSync();
  };
  press("j", "x", "F", "O", "Enter", "r");
  expect([location.hash, asked("overview")]).toEqual(before);
  expect(document.querySelector(".legend")).toBeNull();
  button()?.click();
  await until(() => expect(document.querySelector(".legend")).not.toBeNull());
  press("O");
  await until(() => expect(location.hash).toContain("#/runs"));
});

it("names a few evaluators and counts the others", async () => {
  await open(["a", "b", "c", "d", "e"].map((evaluator) => ({ ...ROWS[0]!, evaluator })));
  await until(() => expect(flat(id("evaluators")?.querySelector("summary"))).not.toBe(""));
  expect(flat(id("evaluators")?.querySelector("summary"))).toContain(
    "a, b, c and 2 more evaluators",
  );
});

it("is not there where no evaluator said anything", async () => {
  await open([]);
  await until(() => expect(document.querySelector("main")).not.toBeNull());
  expect(id("evaluators")).toBeNull();
});
