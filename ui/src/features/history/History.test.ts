import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import {
  BASELINE,
  CHANGES,
  HISTORY_OF_TWO,
  NO_BASELINE,
  NO_HISTORY,
  trendChange,
  trendPoint,
} from "../../testing/history";
import { layOut } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const all = (testid: string) => [...document.querySelectorAll(`[data-testid='${testid}']`)];
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const cells = (row: Element) => [...row.querySelectorAll("th, td")].map(flat).join(" | ");
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((found) => flat(found).startsWith(name));
function choose(testid: string, value: string) {
  const select = document.querySelector<HTMLSelectElement>(`[data-testid='${testid}']`);
  if (!select) throw new Error(testid);
  select.value = value;
  select.dispatchEvent(new Event("change", { bubbles: true }));
  flushSync();
}

async function open(hash = "#/history", change: (backend: Fixture) => void = () => undefined) {
  const backend = new Fixture();
  backend.replies.history = () => HISTORY_OF_TWO;
  backend.replies.set_changes = () => CHANGES;
  change(backend);
  location.hash = hash;
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("history")).not.toBeNull());
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

it("shows trends as a plot and in numbers, with change points and intervals", async () => {
  await open();
  await until(() => expect(all("trend-row").length).toBe(2));
  const rows = all("trend-row").map(cells);
  expect(rows[0]).toContain("2026-03-02 | 12 | 1 | 0.25 | 73 %43–90 %");
  expect(rows[0]).toContain("▼ Change point, worse: −0.50 (−0.80 to −0.20)");
  expect(rows[1]).toContain("0.750.60–0.90");
  expect(rows[1]).toContain("first");
  expect(all("change-point").length).toBe(1);
  const plot = id("trend-plot");
  expect(plot?.querySelector("b")).toBeNull();
  expect(flat(plot)).toContain("agent/<b>o1</b>");
  const link = id("trend-row")?.querySelector("a")?.getAttribute("href") ?? "";
  expect(decodeURIComponent(link)).toBe("#/runs?q=system:agent+model:o1+started:2026-03-02");
});

it("says where no line joins points, and offers sets that share tasks", async () => {
  const backend = await open();
  await until(() => expect(all("trend-row").length).toBe(2));
  expect(id("no-lines")).toBeNull();
  const { trends } = HISTORY_OF_TWO;
  const apart = { ...trendPoint(1), change: trendChange({ pairs: 0 }) };
  backend.replies.history = () => ({
    ...HISTORY_OF_TWO,
    trends: {
      ...trends,
      groups: trends.groups.map((group) => ({ ...group, points: [trendPoint(0), apart] })),
    },
  });
  backend.tell({ kind: "runs", generation: 2, ids: [], all: true });
  await until(() => expect(flat(id("no-lines"))).toContain("1 system has no tasks in common"));
  expect(flat(id("no-lines"))).toContain("Choose sets that share tasks: week, month.");
  button("week")?.click();
  await until(() => expect(location.hash).toContain("by=week"));
});

it("names what changed, the worst first, with the runs that show it", async () => {
  await open();
  await until(() => expect(all("changed-task").length).toBe(3));
  expect(flat(id("changes-sides"))).toBe(
    "2026-03-02 (12 runs), compared with 2026-03-01 (12 runs).",
  );
  const rows = all("changed-task").map(cells);
  expect(rows[0]).toContain("New failure | refunds #0 | agent/<b>o1</b> | passed | failed | Runs");
  expect(rows[1]).toContain("Error now | seats #0");
  expect(rows[2]).toContain("Fixed | fares #1 | agent/<b>o1</b> | failed | 2 of 2 passed");
  const groups = cells(id("changes-groups") ?? document.body);
  expect(groups).toContain(
    "agent/<b>o1</b> | 1 | 1 | 0 | 1 | worse: −0.50 (−0.80 to −0.20), in 6 of 12",
  );
  expect(groups).toContain("slower: +3.0 s (+1.0 s to +5.0 s), in 9 of 12");
  const links = [...(id("changed-task")?.querySelectorAll("a") ?? [])];
  const hrefs = links.map((link) => decodeURIComponent(link.getAttribute("href") ?? ""));
  expect(hrefs).toEqual([
    "#/runs?q=system:agent+model:o1+task:refunds+variation:0",
    "#/compare?run=r1&run=r2",
  ]);
});

it("asks for the chosen sets, task and measure, and keeps them in the address", async () => {
  const backend = await open("#/history?by=week&q=task%3Arefunds");
  await until(() => expect(all("trend-row").length).toBe(2));
  const asked = () => backend.calls.filter((call) => call.name === "history").at(-1)?.args;
  expect(asked()).toEqual({ request: { filter: "task:refunds", scorer: null, by: "week" } });
  choose("history-by", "folder");
  await until(() => expect(location.hash).toBe("#/history?q=task%3Arefunds&by=folder"));
  await until(() => expect(all("changed-task").length).toBe(3));
  choose("history-before", "2026-03-01");
  expect(location.hash).toContain("before=2026-03-01");
  button("Cost")?.click();
  await until(() => expect(location.hash).toContain("measure=cost"));
  expect(flat(id("trend-plot"))).toContain("Mean cost of a run");
  expect(all("change-point").length).toBe(0);
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "m", bubbles: true }));
  await tick();
  expect(location.hash).toContain("measure=seconds");
});

it("offers earlier sets only, and says so when there are none", async () => {
  const names = () =>
    [...(id("history-before")?.querySelectorAll("option") ?? [])].map((option) => flat(option));
  const backend = await open();
  await until(() => expect(names()).toEqual(["2026-03-01"]));
  backend.replies.set_changes = ({ request }) => (request.after === null ? CHANGES : null);
  choose("history-after", "2026-03-01");
  await until(() =>
    expect(flat(id("history"))).toContain("There is no set before 2026-03-01. With an earlier one"),
  );
  expect(document.querySelector<HTMLSelectElement>("[data-testid='history-after']")?.value).toBe(
    "2026-03-01",
  );
  expect(names()).toEqual([]);
});

it("says where a series begins, and leaves forks out of the runs that it lists", async () => {
  const [first, second] = HISTORY_OF_TWO.trends.groups[0]?.points ?? [];
  if (!first || !second) throw new Error("two points");
  const group = {
    ...HISTORY_OF_TWO.trends.groups[0],
    points: [first, { ...second, new_series: 12 }],
  };
  await open("#/history", (backend) => {
    backend.replies.history = () => ({
      ...HISTORY_OF_TWO,
      trends: {
        ...HISTORY_OF_TWO.trends,
        forks_left_out: 2,
        replays_left_out: 1,
        evaluations_left_out: 0,
        groups: [group as (typeof HISTORY_OF_TWO.trends.groups)[0]],
      },
    });
  });
  await until(() =>
    expect(flat(id("trend-table"))).toContain("Not compared before: 12 tasks with"),
  );
  expect(flat(id("history"))).toContain("2 runs (forks, continued or older copies) left out");
  expect(flat(id("history"))).toContain("1 replay left out");
  const link = id("trend-row")?.querySelector("a")?.getAttribute("href") ?? "";
  expect(decodeURIComponent(link)).toContain("forked:no+-model:replay");
});

it("shows the result of the gate, and replaces a baseline only when asked twice", async () => {
  const saved: unknown[] = [];
  await open("#/history", (backend) => {
    backend.replies.baseline = () => BASELINE;
    backend.replies.save_baseline = (args) => {
      saved.push(args);
      return { path: NO_BASELINE.path, runs: 12, scored: 11, filter: "" };
    };
  });
  await until(() => expect(flat(id("baseline"))).toContain("✕ Gate failed."));
  expect(flat(id("baseline-violations"))).toContain("fails 1 task that passed: refunds #0.");
  choose("history-before", "\0baseline");
  await until(() =>
    expect(flat(id("changes-sides"))).toContain("touchstone-baseline.json (12 runs)"),
  );
  expect(location.hash).toBe("#/history?baseline=");
  expect(flat(id("baseline-runs"))).toContain("all runs that the baseline file chooses");
  id("save-baseline")?.click();
  flushSync();
  expect(saved).toEqual([]);
  button("Replace it")?.click();
  await until(() => expect(saved).toEqual([{ filter: null, scorer: null, replace: true }]));
});

it("saves a first baseline, and shows why it cannot", async () => {
  await open("#/history?q=model%3Ao1", (backend) => {
    backend.replies.save_baseline = ({ replace, filter }) =>
      Promise.reject({
        code: "not_allowed",
        message: `read-only ${String(filter)} ${String(replace)}`,
        hint: "Start it with --allow-run.",
      });
  });
  await until(() => expect(flat(id("baseline"))).toContain("There is no baseline file."));
  id("save-baseline")?.click();
  await until(() => expect(flat(id("baseline"))).toContain("read-only model:o1 false"));
});

it("says how runs get into sets when there are none", async () => {
  const backend = await open("#/history", (fake) => (fake.replies.history = () => NO_HISTORY));
  await until(() => expect(flat(id("history"))).toContain("the day on which it started"));
  const none = { ...NO_HISTORY, trends: { ...NO_HISTORY.trends, left_out: 4 } };
  backend.replies.history = () => none;
  location.hash = "#/history?by=folder";
  await until(() => expect(flat(id("history"))).toContain("4 runs lie directly in the output"));
  button("Sets by day")?.click();
  await until(() => expect(location.hash).toBe("#/history"));
});

it("joins no sets that have no task in common", async () => {
  const [group] = HISTORY_OF_TWO.trends.groups;
  const line = async (pairs: number) => {
    const points = group?.points.map((point, at) => ({
      ...point,
      change: at === 0 ? null : trendChange({ pairs }),
    }));
    await open("#/history", (fake) => {
      fake.replies.history = () => ({
        ...HISTORY_OF_TWO,
        trends: { ...HISTORY_OF_TWO.trends, groups: [{ ...group!, points: points ?? [] }] },
      });
    });
    await until(() => expect(id("trend-plot")?.querySelector(".line")).not.toBeNull());
    const drawn = id("trend-plot")?.querySelector(".line")?.getAttribute("d");
    if (page) await unmount(page);
    page = undefined;
    document.body.replaceChildren();
    return drawn;
  };
  expect([await line(3), await line(0)]).toEqual(["M100 40L300 200", "M100 40M300 200"]);
});

it("says what to change in a filter with a mistake, below its field and in place of trends", async () => {
  const misread = [{ token: "stat:error", message: "Did you mean state:error?" }];
  await open("#/history?q=stat%3Aerror", (fake) => {
    fake.replies.history = () => ({ ...NO_HISTORY, misread });
  });
  await until(() => expect(flat(id("filter-misread"))).toContain("Did you mean state:error?"));
  expect(flat(document.querySelector(".empty"))).toContain("Invalid filter stat:error Did you");
});
