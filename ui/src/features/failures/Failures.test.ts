import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import type { FailureCluster, FailureExample, FailureKind, FailureMap } from "../../generated";
import { layOut } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((found) => flat(found).startsWith(name));
async function press(key: string) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  await tick();
  flushSync();
}

const example = (run: string, change: Partial<FailureExample> = {}): FailureExample => ({
  id: run,
  path: `${run}.yaml`,
  group: 0,
  task: "refunds",
  variation: "0",
  is_main: true,
  step: 3,
  quote: "order <b>17</b> not found",
  review: null,
  decisive: {
    step: 2,
    baseline: "r9",
    baseline_path: "r9.yaml",
    baseline_name: "tool_calling/claude",
    baseline_of: "same_system_and_model",
    instead: 2,
  },
  ...change,
});
const cluster = (title: string, change: Partial<FailureCluster> = {}): FailureCluster => ({
  kind: "tool_errors",
  mode: "tool_failed",
  subject: title,
  detail: "",
  title,
  is_error: false,
  runs: 3,
  also: 1,
  shares: [{ group: 0, runs: 3, failed: 4, all: 10, low: 0.1, high: 0.6 }],
  examples: [example("r1"), example("r2", { is_main: false })],
  named: null,
  ...change,
});
const kind = (name: string, change: Partial<FailureKind> = {}): FailureKind => ({
  kind: name,
  title: name,
  is_error: false,
  causes: 1,
  runs: 3,
  also: 0,
  shares: [{ group: 0, runs: 3, failed: 4, all: 10, low: 0.1, high: 0.6 }],
  ...change,
});
const MAP: FailureMap = {
  generation: 1,
  state: "done",
  read: 5,
  failed: 5,
  errors: 2,
  runs: 12,
  undecided: 0,
  unreadable: 0,
  forks_left_out: 0,
  replays_left_out: 0,
  evaluations_left_out: 0,
  naming: null,
  passed_but_reviewed_wrong: 1,
  scorers: ["fields", "exact"],
  groups: [
    { name: "agent/o1", failed: 4, read: 4, runs: 10 },
    { name: "agent/claude", failed: 1, read: 1, runs: 2 },
  ],
  kinds: [
    kind("tool_errors"),
    kind("provider_errors", { is_error: true, runs: 2 }),
    kind("missing_calls", { causes: 0, runs: 0, also: 2 }),
  ],
  clusters: [
    cluster("`get_order` failed: order <n> not found"),
    cluster("System error: overloaded", {
      kind: "provider_errors",
      mode: "system_error",
      is_error: true,
      runs: 2,
      also: 0,
      examples: [example("r3", { step: null, decisive: null, quote: "" })],
    }),
    cluster("Never called `refund`", {
      kind: "missing_calls",
      mode: "never_called",
      runs: 0,
      also: 2,
      shares: [],
    }),
  ],
  clusters_left_out: 0,
  misread: [],
};

async function open(map: FailureMap, hash = "#/failures") {
  const backend = new Fixture();
  backend.replies.failures = () => map;
  location.hash = hash;
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("failures")).not.toBeNull());
  return backend;
}

let away: () => void;
beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it("lists causes with counts, shares and evidence, and never as markup", async () => {
  await open(MAP);
  await until(() =>
    expect(flat(id("failures-scope"))).toBe(
      "5 of 12 runs failed or are only partly right, 2 of them ended in an error. 1 run that passed was reviewed as wrong or partly right.",
    ),
  );
  const list = id("failures-list");
  expect(flat(list)).toContain("3 get_order failed: order <n> not found order <b>17</b> not found");
  expect(flat(list)).toContain("agent/o1 3 of 10");
  expect(flat(list)).toContain("Only as a second cause 2 Never called refund");
  expect(list?.querySelector("b b")).toBeNull();
  const detail = id("failures-cluster");
  expect(flat(id("failures-shares"))).toContain("agent/o13 of 1010 to 60 %");
  expect(flat(detail)).toContain("3 runs, and 1 more as a second cause.");
  const links = [...(detail?.querySelectorAll("a") ?? [])].map((a) => a.getAttribute("href"));
  expect(links.slice(0, 3)).toEqual([
    "#/run/r1?q=file%3Ar1.yaml,r2.yaml&step=4",
    "#/run/r1?q=file%3Ar1.yaml,r2.yaml&step=3",
    "#/compare?run=r9&run=r1",
  ]);
});

it("shows kinds of causes, and the causes of a kind when it is unfolded", async () => {
  const field = (name: string, run: string) =>
    cluster(`Field \`${name}\` has another value`, {
      kind: "wrong_values",
      mode: "wrong_field",
      subject: name,
      detail: "has another value",
      runs: 1,
      also: 0,
      examples: [example(run)],
    });
  const rows = cluster("Rows are missing", {
    kind: "rows",
    mode: "missing_rows",
    subject: "",
    runs: 2,
  });
  await open({
    ...MAP,
    kinds: [
      kind("wrong_values", { title: "Wrong values", causes: 3, runs: 3 }),
      kind("rows", { runs: 2 }),
    ],
    clusters: [rows, field("a", "r1"), field("b", "r2"), field("c", "r3")],
  });
  const list = id("failures-list");
  await until(() => expect(flat(id("failures-list"))).toContain("3 Wrong values 3 causes"));
  expect(flat(id("failures-list"))).not.toContain("Field");
  expect(flat(id("failures-list"))).toContain("2 Rows are missing");
  expect(list?.querySelectorAll("[aria-expanded]")).toHaveLength(1);
  const runs = () => [...(id("failures-examples")?.querySelectorAll("li") ?? [])].map(flat);
  expect(runs().map((one) => one.split(" ")[0])).toEqual(["r1.yaml", "r2.yaml", "r3.yaml"]);
  await press("ArrowRight");
  await until(() => expect(flat(id("failures-list"))).toContain("Field b has another value"));
  await press("j");
  await press("j");
  await until(() => expect(flat(id("failures-cluster"))).toContain("Field b has another value"));
  await press("ArrowLeft");
  await until(() => expect(flat(id("failures-list"))).not.toContain("Field"));
  await until(() => expect(flat(id("failures-cluster"))).toContain("Wrong values"));
  list?.querySelector<HTMLElement>(".fold")?.click();
  await until(() => expect(flat(id("failures-list"))).toContain("Field c has another value"));
});

it("moves by keys, and opens the first run at the step that shows the cause", async () => {
  await open(MAP);
  await until(() => expect(flat(id("failures-cluster"))).toContain("get_order failed"));
  await press("j");
  await until(() => expect(flat(id("failures-cluster"))).toContain("System error: overloaded"));
  expect(flat(id("failures-cluster"))).toContain("say nothing about the answer");
  expect(flat(id("failures-chosen"))).toBe("2 of 3: System error: overloaded, 2 runs.");
  await press("k");
  await until(() => expect(flat(id("failures-cluster"))).toContain("get_order failed"));
  await press("Enter");
  expect(location.hash).toBe("#/run/r1?q=file%3Ar1.yaml,r2.yaml&step=4");
});

it("shows what was read so far, stops and goes on", async () => {
  const [o1, claude] = MAP.groups;
  const groups = [
    { ...o1!, read: 3 },
    { ...claude!, read: 0 },
  ];
  const backend = await open({ ...MAP, state: "running", read: 3, groups });
  await until(() =>
    expect(flat(id("failures-progress"))).toContain(
      "All numbers below are of the 3 failed runs read so far.",
    ),
  );
  expect(flat(id("failures-shares"))).toContain("3 of 3 failed runs read so far");
  expect(flat(id("failures-cluster"))).toContain(
    "as a second cause, of the 3 failed runs read so far.",
  );
  expect(id("failures-progress")?.getAttribute("role")).toBeNull();
  await until(() =>
    expect(flat(id("failures-progress"))).toContain("Reading transcripts: 3 of 5 failed runs."),
  );
  backend.replies.failures = () => ({ ...MAP, state: "stopped", read: 3 });
  button("Stop")?.click();
  await until(() =>
    expect(flat(id("failures-progress"))).toContain("Stopped after 3 of 5 failed runs."),
  );
  expect(backend.calls.some((call) => call.name === "stop_failures")).toBe(true);
  backend.replies.failures = () => MAP;
  button("Read the others")?.click();
  await until(() => expect(id("failures-progress")).toBeNull());
  expect(backend.calls.some((call) => call.name === "resume_failures")).toBe(true);
});

it("shows a review beside the run, and says when not all runs are shown", async () => {
  const reviewed = example("r1", {
    review: { verdict: "right", note: "only <i>rounded</i>", disagrees: true },
  });
  await open({
    ...MAP,
    kinds: [kind("tool_errors", { runs: 30 })],
    clusters: [cluster("x", { runs: 30, also: 0, examples: [reviewed] })],
  });
  await until(() =>
    expect(flat(id("failures-examples"))).toContain("Reviewed: right, unlike the score"),
  );
  expect(flat(id("failures-examples"))).toContain("Note: only <i>rounded</i>");
  expect(flat(id("failures-cluster"))).toContain("1 of 30 runs are shown.");
});

it("asks for the failures by another scorer", async () => {
  const backend = await open(MAP);
  await until(() => expect(id("failures-scorer")).not.toBeNull());
  const select = id("failures-scorer") as HTMLSelectElement;
  select.value = "exact";
  select.dispatchEvent(new Event("change", { bubbles: true }));
  await until(() => expect(location.hash).toBe("#/failures?scorer=exact"));
  await until(() =>
    expect(backend.calls.some((call) => JSON.stringify(call).includes('"scorer":"exact"'))).toBe(
      true,
    ),
  );
});

it("fills in when more transcripts were read", async () => {
  const backend = await open({ ...MAP, state: "running", read: 1, kinds: [], clusters: [] });
  await until(() => expect(flat(id("failures-progress"))).toContain("1 of 5"));
  backend.replies.failures = () => MAP;
  backend.tell({ kind: "failures" });
  await until(() => expect(flat(id("failures-list"))).toContain("get_order failed"));
});

it("says that nothing failed, or that no run matches", async () => {
  const empty = { ...MAP, failed: 0, read: 0, kinds: [], clusters: [], groups: [] };
  const backend = await open(empty);
  await until(() => expect(flat(id("failures"))).toContain("No failed runs"));
  backend.replies.failures = () => ({ ...empty, runs: 0 });
  location.hash = "#/failures?q=model%3Anone";
  await until(() => expect(flat(id("failures"))).toContain("No matching runs"));
  expect(id("filter-misread")).toBeNull();
  button("Clear the filter")?.click();
  await until(() => expect(location.hash).toBe("#/failures"));
});

it("says what to change in a filter with a mistake, below its field and in place of the list", async () => {
  const misread = [{ token: "stat:error", message: "Did you mean state:error?" }];
  await open({ ...MAP, failed: 0, runs: 0, misread }, "#/failures?q=stat%3Aerror");
  await until(() => expect(flat(id("filter-misread"))).toContain("Did you mean state:error?"));
  expect(flat(document.querySelector(".empty"))).toContain("Invalid filter stat:error Did you");
  expect(id("filter")?.getAttribute("aria-describedby")).toBe("filter-misread");
});

it("shows an error with its next step", async () => {
  const backend = new Fixture();
  backend.replies.failures = () =>
    Promise.reject({ code: "failed", message: "The index is damaged.", hint: "Read it again." });
  location.hash = "#/failures";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(flat(id("failures"))).toContain("The index is damaged."));
  expect(button("Try again")).toBeDefined();
});

it("names causes with a model after it says what that takes, beside the mined names", async () => {
  const named = { ...MAP, clusters: MAP.clusters.map((one) => ({ ...one })) };
  const fake = await open(MAP);
  fake.replies.judge_options = () => ({
    groups: [],
    judges: [],
    models: [{ name: "cheap", detail: "", why_not: null, is_free: false }],
    why_not: null,
  });
  const asked: unknown[] = [];
  fake.replies.plan_cause_names = ({ request }) => {
    asked.push(request);
    return { requests: 2, named: 1, tokens: 900, cost: 0.0012, example: "| order", unbound: null };
  };
  fake.replies.start_cause_names = () => {
    const first = named.clusters[0];
    if (first) first.named = { name: "Looks up <b>wrong</b> orders", model: "cheap" };
    fake.replies.failures = () => ({
      ...named,
      naming: {
        is_running: true,
        done: 1,
        without: 0,
        all: 2,
        requests: 1,
        cost: 0.0006,
        why: null,
      },
    });
    fake.tell({ kind: "failures" });
    return null;
  };
  button("Name causes")?.click();
  await until(() =>
    expect(document.querySelector("[data-testid=name-causes] select")).not.toBeNull(),
  );
  const select = document.querySelector<HTMLSelectElement>("[data-testid=name-causes] select");
  await until(() => expect(select?.options.length).toBe(2));
  if (select) {
    select.value = "cheap";
    select.dispatchEvent(new Event("change", { bubbles: true }));
  }
  await until(() =>
    expect(flat(id("name-causes-plan"))).toMatch(
      /About 2 requests, 900 tokens, \$0\.00.*Named before: 1 cause\./,
    ),
  );
  expect(asked.at(-1)).toMatchObject({ model: "cheap", max_cost: null });
  button("Send 2 requests")?.click();
  await until(() => expect(flat(id("cause-name"))).toBe("Looks up <b>wrong</b> orders"));
  expect(flat(document.querySelector(".under-way"))).toContain("Naming causes: 1 of 2.");
  expect(flat(id("failures-list"))).toContain("get_order failed: order <n> not found");
});
