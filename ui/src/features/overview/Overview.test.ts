import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture, runRow, STATUS } from "../../testing/fakeBackend";
import type { Leaderboard, Overview, OverviewRequest } from "../../generated";
import { cell, column, COLUMNS, leader, leaderboard, matrix, row } from "../../testing/overview";

let app: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const id = (testid: string) => all(`[data-testid="${testid}"]`)[0];
const text = () => document.body.textContent.replace(/\s+/g, " ");
const button = (label: string) => all("button").find((one) => one.textContent.includes(label));
const until = (holds: () => boolean) =>
  vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${location.hash}\n${text()}`);
  }, 4_000);
const press = (...keys: string[]) => {
  for (const key of keys) {
    const [name = "", ...mods] = key.split("+").reverse();
    (document.activeElement ?? document.body).dispatchEvent(
      new KeyboardEvent("keydown", {
        key: name,
        shiftKey: mods.includes("Shift"),
        bubbles: true,
        cancelable: true,
      }),
    );
    flushSync();
  }
};
const cursor = () =>
  all(".cursor")
    .map((one) => one.id)
    .join();
const said = () => id("overview-said")?.textContent.replace(/\s+/g, " ").trim();
const picked = () => all("[role=gridcell][aria-selected=true]").map((one) => one.id);
const requests = (fixture: Fixture) =>
  fixture.calls
    .filter((call) => call.name === "overview")
    .map((call) => (call.args as { request: OverviewRequest }).request);
const answers = (reply: (request: OverviewRequest) => Overview | Promise<Overview>) => {
  const fixture = new Fixture();
  fixture.replies.overview = ({ request }) => reply(request);
  return fixture;
};
async function open(fixture: Fixture, hash = "#/overview") {
  history.replaceState(null, "", hash);
  app = mount(App, { target: document.body, props: { backend: fixture } });
  await until(() => id("status") !== undefined);
  return fixture;
}
const opened = async (tasks = 4, hash = "#/overview", fill?: Parameters<typeof matrix>[2]) => {
  const fixture = await open(answers(matrix(tasks, COLUMNS, fill)), hash);
  await until(() => id("overview-row") !== undefined);
  return fixture;
};

beforeEach(() => localStorage.clear());
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
});

describe("the headline", () => {
  it("stands above the matrix", async () => {
    const headline = [
      "a/o1 is best (0.90 over 8 runs); all others are shown to be worse.",
      "Second.",
    ];
    const page = matrix(4, COLUMNS);
    await open(answers((request) => ({ ...page(request), headline })));
    await until(() => id("headline") !== undefined);
    expect(id("headline")?.querySelector("strong")?.textContent).toBe(headline[0]);
    expect(id("headline")?.querySelector("details")?.textContent).toContain("Second.");
  });
  it("has the words of the engine, with the causes of failures; statistics are folded", async () => {
    const page = matrix(4, COLUMNS);
    const headline = ["a/x scores highest (1.00 over 10 runs).", "p = 0.12"];
    const choice = "Of those not shown to differ, b/x is cheapest ($1.00 a run, scores 0.90).";
    const fixture = answers((request) => ({ ...page(request), headline }));
    fixture.replies.leaderboard = () => leaderboard([leader("a", "x", 1, 2)], { choice });
    const kind = { kind: "values", title: "Wrong values", is_error: false, causes: 2, runs: 3 };
    const none = await fixture.call("failures", { request: { filter: "", scorer: null } });
    fixture.replies.failures = () => ({ ...none, kinds: [{ ...kind, also: 0, shares: [] }] });
    await open(fixture);
    await until(() => id("headline")?.textContent.includes("Why runs fail") === true);
    const told = id("headline")?.textContent.replace(/\s+/g, " ") ?? "";
    expect(told).toContain(headline[0]);
    expect(told).toContain(choice);
    expect(told).toMatch(/Why runs fail: ?Wrong values ?\(3 runs\)/u);
    const link = id("headline")?.querySelector("a")?.getAttribute("href") ?? "";
    expect(decodeURIComponent(link)).toContain('cause=["kind","values",""]');
    expect(id("headline")?.querySelector("details")?.textContent).toContain("p = 0.12");
  });
});
describe("the matrix", () => {
  it("says how many kinds of marks a cell has beyond those that fit", async () => {
    await opened(4, "#/overview", (_, at) =>
      cell(at === 0 ? { errors: 1, waiting: 2, missing: 3 } : { errors: 1 }),
    );
    expect(document.getElementById("cell-1-0")?.textContent.trim()).toMatch(/1\s*\+2$/);
    expect(document.getElementById("cell-1-1")?.textContent).not.toContain("+");
  });
  it("fills rows that leave its sight anew, in the order in which they are read", async () => {
    await opened(100);
    const grid = id("overview-grid");
    const rows = () => all("[data-testid=overview-row]");
    const indexes = () => rows().map((one) => Number(one.dataset["row"]));
    const before = new Set(rows());
    for (const top of [400, 600, 500, 0]) {
      if (grid) grid.scrollTop = top;
      grid?.dispatchEvent(new Event("scroll"));
      flushSync();
      const first = Math.max(0, Math.floor(top / 30) - 6);
      expect(indexes()).toEqual(Array.from({ length: rows().length }, (_, at) => first + at));
      expect(new Set(all("[id]").map((one) => one.id)).size).toBe(all("[id]").length);
      expect(rows().filter((one) => before.has(one)).length).toBeGreaterThan(20);
    }
  });
  it("is a grid that tells its rows, columns and every cell as a sentence", async () => {
    await opened();
    const grid = id("overview-grid");
    expect(
      ["role", "aria-rowcount", "aria-colcount", "aria-activedescendant"].map((name) =>
        grid?.getAttribute(name),
      ),
    ).toEqual(["grid", "17", "4", "cell-0-0"]);
    expect(all("[role=columnheader]").map((head) => head.getAttribute("aria-colindex"))).toEqual([
      "1",
      "2",
      "3",
      "4",
    ]);
    const second = all("[data-testid=overview-row]")[1];
    expect([
      second?.getAttribute("aria-rowindex"),
      second?.querySelector("[role=rowheader]")?.textContent.trim(),
    ]).toEqual(["3", "last 20"]);
    expect(document.getElementById("cell-1-2")?.getAttribute("aria-label")).toBe(
      "tool_calling · o1: 3 runs: 2 of 3 right, mean 0.87 (95 % interval 0.71–0.96)",
    );
    expect(document.getElementById("cell--1-1")?.getAttribute("aria-label")).toContain(
      "tool_calling · claude: 3 runs",
    );
    expect(id("overview-sums")?.textContent.replace(/\s+/g, " ").trim()).toBe(
      "412 runs · 398 scored · ◇ 9 errors · 3 paused · 2 running · 5 missing",
    );
  });
  it("draws only what is in sight of a thousand rows, and asks for one part before any other", async () => {
    const fixture = await opened(250);
    expect(all("[role=row]").length).toBeLessThan(90);
    expect(requests(fixture).map((request) => request.span.offset)[0]).toBe(0);
    press("G");
    await until(() => cursor() === "cell-999-0" && said()?.startsWith("task249 · all") === true);
    expect(requests(fixture).every((request) => request.span.limit === 60)).toBe(true);
  });
  it("is asked for again when runs changed, and keeps the cursor on its row", async () => {
    const fixture = await opened(3);
    press("j", "j", "j", "j", "l");
    expect([cursor(), said()?.split(":")[0]]).toEqual([
      "cell-4-1",
      "task001 · tool_calling · claude 3 runs",
    ]);
    const before = matrix(3);
    fixture.replies.overview = ({ request }) => {
      const reply = before({ ...request, span: { offset: 0, limit: 99 } });
      const more = row("a", { variations: 1, cells: COLUMNS.map(() => cell({ score: 0.11 })) });
      return {
        ...reply,
        generation: 2,
        total_rows: reply.total_rows + 1,
        rows: [more, ...reply.rows].slice(
          request.span.offset,
          request.span.offset + request.span.limit,
        ),
      };
    };
    fixture.tell({ kind: "runs", generation: 2, ids: ["r1"], all: false });
    await until(() => text().includes("0.11") && cursor() === "cell-5-1");
    expect(said()).toContain("task001 · tool_calling");
  });
  it("shows bones until it is there, and what failed with a way to try again", async () => {
    const fixture = await open(
      answers(() =>
        Promise.reject({
          code: "failed",
          message: "The index is locked.",
          hint: "Close the other program.",
        }),
      ),
    );
    await until(
      () => text().includes("The index is locked.") && text().includes("Close the other program."),
    );
    let let_go: () => void = () => undefined;
    fixture.replies.overview = async ({ request }) => {
      await new Promise<void>((go) => (let_go = go));
      return matrix(1)(request);
    };
    button("Try again")?.click();
    await until(
      () => all(".bone").length > 3 && id("overview-grid")?.getAttribute("aria-busy") === "true",
    );
    let_go();
    await until(() => all("[data-testid=overview-row]").length === 4);
  });
});

describe("the cursor", () => {
  it("goes to every cell, to names and to heads, and no further", async () => {
    await opened(1);
    const walk = (...keys: string[]) => {
      press(...keys);
      return cursor();
    };
    expect([walk("j"), walk("l"), walk("ArrowRight"), walk("l"), walk("ArrowDown")]).toEqual([
      "cell-1-0",
      "cell-1-1",
      "cell-1-2",
      "cell-1-2",
      "cell-2-2",
    ]);
    expect([walk("Home"), walk("h"), walk("h"), walk("G"), walk("j")]).toEqual([
      "cell-2-0",
      "cell-2--1",
      "cell-2--1",
      "cell-3--1",
      "cell-3--1",
    ]);
    expect([walk("g", "g"), walk("k"), walk("End"), walk("k")]).toEqual([
      "cell-0--1",
      "cell--1--1",
      "cell--1-2",
      "cell--1-2",
    ]);
    expect(said()).toContain("tool_calling · o1 3 runs");
  });
  it("opens the worst run, with the runs of the cell as its neighbours, and Escape leads back", async () => {
    await opened(1);
    press("j", "l", "Enter");
    expect(location.hash).toBe(
      `#/run/${encodeURIComponent("task000/0/1")}?q=task%3Atask000+variation%3A0+system%3Atool_calling+model%3Aclaude&sort=score`,
    );
    await until(() => text().includes("could not be opened"));
    press("Escape");
    expect(location.hash).toBe("#/overview");
    await until(() => cursor() === "cell-1-1");
  });
  it("leads to the list of a cell, a row and a column", async () => {
    await opened(1, "#/overview?q=-state%3Aerror");
    const lists = [];
    for (const keys of [
      ["j", "O"],
      ["h", "o"],
      ["l", "k", "k", "Enter"],
    ]) {
      press(...keys);
      await until(() => document.querySelector("main[aria-label=Runs]") !== null);
      lists.push(new URLSearchParams(location.hash.split("?")[1]).get("q"));
      history.back();
      await until(() => id("overview-row") !== undefined);
    }
    expect(lists).toEqual([
      "-state:error task:task000 variation:0 system:promptql model:claude",
      "-state:error task:task000 variation:0",
      "-state:error system:promptql model:claude",
    ]);
  });
  it("says that there is no run yet where there is none", async () => {
    await opened(1, "#/overview", () =>
      cell({
        runs: 0,
        scored: 0,
        passed: null,
        score: null,
        low: null,
        high: null,
        missing: 2,
        run: null,
      }),
    );
    press("Enter");
    await until(() => text().includes("No run yet. Press r to launch it."));
    expect(location.hash).toBe("#/overview");
    document.getElementById("cell-1-1")?.click();
    flushSync();
    expect(picked()).toEqual(["cell-1-1"]);
  });
});

describe("folds", () => {
  it("are in the address: one task by f, from its variations too, and all by F", async () => {
    await opened(3);
    press("j", "j", "f");
    expect(location.hash).toBe("#/overview?task=task000");
    await until(() => all("[data-testid=overview-row]").length === 9 && cursor() === "cell-0-0");
    expect(document.getElementById("cell-0--1")?.getAttribute("aria-expanded")).toBe("false");
    press("f");
    await until(
      () => all("[data-testid=overview-row]").length === 12 && location.hash === "#/overview",
    );
    press("G", "F");
    await until(() => all("[data-testid=overview-row]").length === 3);
    expect([location.hash, cursor()]).toEqual(["#/overview?folded=", "cell-2-0"]);
    document.getElementById("cell-1--1")?.click();
    await until(
      () =>
        all("[data-testid=overview-row]").length === 6 &&
        location.hash === "#/overview?folded=&task=task001",
    );
  });
});

describe("a selection", () => {
  it("is made by x, by Shift with arrows, by the name of a row, and undone by Escape", async () => {
    await opened(2);
    press("x", "j", "x");
    expect(picked()).toEqual(["cell-0-0", "cell-1-0"]);
    press("Shift+ArrowDown", "Shift+ArrowRight");
    await until(() => picked().join() === "cell-1-0,cell-1-1,cell-2-0,cell-2-1");
    press("h", "h", "h", "x");
    expect(picked()).toContain("cell-2-2");
    expect(id("overview-picked")?.textContent).toBe("5 cells selected");
    press("x");
    expect(picked()).toEqual(["cell-1-0", "cell-1-1"]);
    press("Escape");
    expect([picked(), location.hash]).toEqual([[], "#/overview"]);
  });
  it("is made by a click with Ctrl or Command, to there by one with Shift, and a plain click opens", async () => {
    await opened(1);
    const at = (name: string) => document.getElementById(name)!;
    at("cell-1-1").dispatchEvent(new MouseEvent("click", { bubbles: true, ctrlKey: true }));
    at("cell-2-1").dispatchEvent(new MouseEvent("click", { bubbles: true, metaKey: true }));
    at("cell-3-2").dispatchEvent(new MouseEvent("click", { bubbles: true, shiftKey: true }));
    await until(() => picked().join() === "cell-2-1,cell-2-2,cell-3-1,cell-3-2");
    at("cell-1-0").click();
    expect(location.hash).toMatch(/^#\/run\//);
  });
  it("of two to four cells is compared by their worst runs; of others it says why not", async () => {
    await opened(1, "#/overview", (one, at) =>
      at === 2
        ? cell({ runs: 0, run: null, missing: 1 })
        : cell({ runs: one.kind === "task" ? 9 : 3 }),
    );
    press("c");
    await until(() => text().includes("Two to four runs can be compared. List the runs"));
    press("x", "j", "l", "l", "x", "c");
    await until(() => text().includes("No run to compare: task000 · last 20 · tool_calling · o1."));
    press("x", "h", "x", "c");
    expect(location.hash).toBe("#/compare?run=task000%2F-%2F0&run=task000%2F0%2F1&first=passing");
  });
  it("of one cell is compared by its repeats", async () => {
    const fixture = await opened(1);
    fixture.replies.list_runs = () => ({
      total: 3,
      generation: 1,
      rows: [runRow(4), runRow(5), runRow(6)],
      misread: [],
    });
    press("j", "c");
    await until(() => location.hash === "#/compare?run=r4&run=r5&run=r6");
    const asked = fixture.calls.find(
      (call) => call.name === "list_runs" && JSON.stringify(call.args).includes("variation:0"),
    );
    expect(JSON.stringify(asked?.args)).toContain(
      "task:task000 variation:0 system:promptql model:claude",
    );
  });
  it("of one cell, or none, is taken to the evaluators by its filter; of more it says why not", async () => {
    await opened(1, "#/overview?q=model%3Ao1,claude");
    const evaluate = () => {
      (document.activeElement ?? document.body).dispatchEvent(
        new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }),
      );
      flushSync();
      const field = id("palette")?.querySelector("input") as HTMLInputElement;
      field.value = "Evaluate the runs of the selected cell";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      flushSync();
      field.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }),
      );
      flushSync();
    };
    const rows = () => new URLSearchParams(location.hash.split("?")[1]).get("rows");
    press("x", "j", "x");
    evaluate();
    await until(() => text().includes("Select one cell, or none for all runs."));
    expect(location.hash).toMatch(/^#\/overview/);
    press("x");
    const filter = "model:o1,claude task:task000 system:promptql model:claude";
    evaluate();
    await until(() => location.hash.startsWith("#/evaluate?"));
    expect(rows()).toBe(filter);
    history.back();
    await until(() => location.hash.startsWith("#/overview") && cursor() !== "");
    press("Escape");
    evaluate();
    await until(() => rows() === "model:o1,claude");
    history.back();
    await until(() => location.hash.startsWith("#/overview") && cursor() !== "");
    press("m");
    all("[role=menuitem]")
      .find((one) => one.textContent.includes("Evaluate its runs…"))
      ?.click();
    await until(
      () =>
        location.hash.startsWith("#/evaluate?") &&
        rows()?.startsWith("model:o1,claude task:task000") === true,
    );
  });
  it("goes onto the launch sheet, what is missing too", async () => {
    await opened(1, "#/overview", () => cell({ runs: 0, run: null, missing: 1 }));
    press("x", "j", "l", "x", "r");
    await until(() => text().includes("Launch 2 cells of the overview"));
    expect(new URLSearchParams(location.hash.split("?")[1]).getAll("cell")).toEqual([
      "promptql|claude||task000",
      "tool_calling|claude|0|task000",
    ]);
    expect(text()).toContain("Runs of 2 cells");
  });
  it("that says nothing of where its runs stand is sent to the list", async () => {
    const loose = row("", {
      kind: "loose",
      task: null,
      variations: 0,
      filter: "-task:*",
      cells: [cell()],
    });
    await open(
      answers((request) => ({
        ...matrix(0, [column("s", "m")])(request),
        total_rows: 1,
        rows: [loose],
      })),
    );
    await until(() => text().includes("Runs without a task"));
    press("r");
    await until(() => text().includes("Launch them from Runs."));
    press("h", "Enter");
    expect(location.hash).toContain("q=-task%3A*");
  });
});

describe("the filter and the scorer", () => {
  it("narrow the matrix, and what was misread is explained", async () => {
    const fixture = await opened();
    press("/");
    const field = id("filter") as HTMLInputElement;
    expect(document.activeElement).toBe(field);
    field.value = "model:o1 bad:x";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await until(
      () =>
        requests(fixture).some((request) => request.filter === "model:o1 bad:x") &&
        text().includes("bad is not a key."),
    );
    expect(location.hash).toBe("#/overview?q=model%3Ao1+bad%3Ax");
    const misread = { token: "bad:x", message: "`bad` is not a key." };
    fixture.replies.overview = ({ request }) => ({
      ...matrix(3)(request),
      misread: [misread, misread],
    });
    field.value = "bad:x model:o1 bad:x";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await until(() => document.querySelectorAll("#filter-misread li").length === 2);
  });
  it("of which there are several is chosen, and the address says it", async () => {
    const two = (request: OverviewRequest) => ({
      ...matrix(1)(request),
      scorers: ["fields", "text: f1"],
    });
    const fixture = await open(answers(two));
    await until(() => id("overview-scorer") !== undefined);
    const choice = id("overview-scorer") as HTMLSelectElement;
    choice.value = "text: f1";
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    await until(
      () =>
        location.hash === "#/overview?scorer=text%3A+f1" &&
        requests(fixture).at(-1)?.scorer === "text: f1",
    );
  });
});

describe("runs that have no score", () => {
  it("are linked to the list only where it knows of them: by the first scorer of each task", async () => {
    await open(answers((request) => ({ ...matrix(1)(request), unscored: 2 })));
    const link = () =>
      all("[data-testid=overview-sums] a").find((one) => one.textContent === "2 not scored");
    await until(() => link()?.getAttribute("href")?.includes("scoring%3Afailed") === true);
    location.hash = "#/overview?scorer=fields";
    await until(() => link() === undefined && text().includes("2 not scored"));
  });
});

describe("where there is no matrix", () => {
  const empty = (change: Partial<Overview>) =>
    answers((request) => ({
      ...matrix(0, [])(request),
      runs: 0,
      scored: 0,
      errors: 0,
      missing: 0,
      ...change,
    }));
  it("suites with problems are named above the numbers", async () => {
    const fixture = empty({});
    fixture.status = { ...STATUS, counts: { ...STATUS.counts, suite_problems: 2 } };
    await open(fixture);
    await until(() => text().includes("2 suites have problems: tasks may be missing"));
    fixture.status = { ...STATUS, counts: { ...STATUS.counts, suite_problems: 0 } };
    fixture.tell({ kind: "status" });
    await until(() => !text().includes("tasks may be missing"));
  });
  it("it says why, and what to do next", async () => {
    const fixture = empty({});
    fixture.status = { ...STATUS, counts: { ...STATUS.counts, tasks: 0 } };
    await open(fixture);
    await until(() => text().includes("No tasks and no runs yet"));
    await until(() => text().includes("What is {a} times 7?"));
    expect(text()).toContain("Save this as suites/first.yaml");
    expect(text()).not.toContain("`");
    fixture.status = STATUS;
    fixture.tell({ kind: "status" });
    await until(
      () =>
        text().includes("4 tasks have no runs yet") &&
        all("main a").some((link) => link.getAttribute("href") === "#/launch"),
    );
    // If nothing could be read, it is unknown what was run.
    fixture.status = {
      ...STATUS,
      phase: {
        kind: "failed",
        reason: "Folder not found: /a could not be listed.",
        hint: "Put it back.",
      },
    };
    fixture.tell({ kind: "status" });
    await until(() => text().includes("Nothing could be read"));
    expect([
      text().includes("No runs yet"),
      all("main a").some((link) => link.getAttribute("href") === "#/launch"),
    ]).toEqual([false, false]);
  });
  it("nothing passes the filter, and clearing it is offered", async () => {
    await open(empty({}), "#/overview?q=nothing");
    await until(() => text().includes("No matching runs"));
    button("Clear the filter")?.click();
    await until(() => location.hash === "#/overview");
  });
  it("runs name no task: it says so and lists their systems, with advice for own names only", async () => {
    const loose = async (missing: readonly string[]) => {
      const fixture = empty({ runs: 7, total_rows: 1, scored: 7 });
      fixture.replies.list_runs = ({ request: { filter } }) => ({
        rows: [],
        generation: 1,
        misread: [],
        total: missing.some((name) => filter.includes(`-${name}:*`)) ? 7 : 0,
      });
      fixture.replies.leaderboard = () => leaderboard([leader("a", "x", 1, 2)]);
      await open(fixture);
      await until(() => text().includes("These runs name no"));
      return text().replace(/\s+/g, " ");
    };
    expect(await loose(["task"])).toContain(
      "These runs name no task, so they are listed by system below. All runs",
    );
    expect(text()).not.toContain("A complete name");
    await until(() => all("[data-testid=leaderboard-row]").length === 1);
    if (app) await unmount(app);
    const own = await loose(["task", "system", "model", "format"]);
    expect(own).toContain("These runs name no task, system or model. All runs");
    expect(own).toContain("A complete name looks like task-tool_calling-o1-variation0.yaml");
  });
  it("or no scores, it says what is missing for one", async () => {
    const fixture = answers((request) => ({
      ...matrix(1, COLUMNS, () =>
        cell({ scored: 0, passed: null, score: null, low: null, high: null, unscored: 3 }),
      )(request),
      scored: 0,
      errors: 0,
      waiting: 0,
      running: 0,
      no_expected: 12,
    }));
    await open(fixture);
    await until(() =>
      text().includes(
        "No run has a score: there is no expected output, or no suite for their task.",
      ),
    );
    expect(document.getElementById("cell-1-0")?.textContent).toContain("3 not scored");
  });
});

describe("the list of runs", () => {
  it("compares two to four that are selected, and says so when there are more or fewer", async () => {
    const fixture = await open(new Fixture(), "#/runs");
    await until(() => all("[data-testid=run-row]").length > 6);
    press("x", "c");
    await until(() => text().includes("Two to four runs can be compared. Select them with x."));
    press("j", "x", "c");
    expect(location.hash).toBe("#/compare?run=r0&run=r1&first=passing");
    expect(fixture.rows.length).toBe(120);
  });
});

describe("the leaderboard", () => {
  const plot: Leaderboard["cost_plot"] = {
    width: 440,
    height: 300,
    left: 44,
    right: 426,
    top: 12,
    bottom: 256,
    title: "Mean cost of a run",
    x_ticks: [{ at: 44, label: "$0" }],
    y_ticks: [{ at: 256, label: "0.0" }],
    points: [0, 1].map((row) => ({
      row,
      x: 100 + 40 * row,
      y: 80,
      x_range: [90, 110],
      x_cut: row === 0,
      y_range: null,
      shape: row,
      on_front: row === 0,
      label: { text: "<b>s</b>", x: 110, y: 84, line: null },
    })),
    numbered: false,
    left_out: 1,
  };
  const board = leaderboard(
    [
      leader("tool_calling", "claude", 0.9, 2, {
        standing: "best",
        why: "All others are worse.",
        on_front: true,
      }),
      leader("promptql", "o1", 0.5, 1, { standing: "behind", errors: 4 }),
      leader("promptql", null, null, null),
    ],
    { front_by: "cost", front_rows: [4, 4], cost_plot: plot },
  );
  const names = () =>
    all("[data-testid=leaderboard-row] th").map((one) =>
      one.textContent.trim().replace(/\s+/g, " "),
    );
  const opened = async (hash = "#/overview") => {
    const fixture = answers(matrix(2));
    fixture.replies.leaderboard = () => board;
    await open(fixture, hash);
    await until(() => names().length === 3);
    return fixture;
  };
  it("tells each system with its figures, and a dash for what is unknown", async () => {
    await opened();
    expect(names()).toEqual(["tool_calling · claude", "promptql · o1", "promptql"]);
    const cells = all("[data-testid=leaderboard-row]").map((row) =>
      [...row.querySelectorAll("td")].map((one) => one.textContent.trim().replace(/\s+/g, " ")),
    );
    expect(cells[0]?.[0]).toContain("★best");
    expect(cells[0]?.[0]).toContain("on the Pareto front");
    expect(cells[0]?.[1]).toBe("0.900.81–0.99, unknown for 2 runs");
    expect(cells[1]?.at(-1)).toBe("◇ 4");
    expect(cells[2]?.slice(1, 3)).toEqual(["–", "–"]);
    const heads = all("[data-testid=leaderboard] thead th").map((one) => one.textContent.trim());
    expect(heads).not.toContain("Tokens");
    expect(text()).toContain(
      "no other has a mean score at least as high for at most the same mean cost",
    );
  });
  it("shows the first twelve rows, and all of them on demand", async () => {
    const fixture = answers(matrix(2));
    const rows = Array.from({ length: 14 }, (_, at) => leader(`s${at}`, "m", 0.5, 1));
    fixture.replies.leaderboard = () => leaderboard(rows);
    await open(fixture);
    await until(() => names().length === 12);
    const more = all("button").find((one) => one.textContent.includes("Show all 14"));
    expect(more?.getAttribute("aria-expanded")).toBe("false");
    more?.click();
    await until(() => names().length === 14);
  });
  it("is sorted by its heads, which say the direction", async () => {
    await opened();
    const head = (title: string) =>
      all("[data-testid=leaderboard] thead th").find((one) => one.textContent.includes(title));
    expect(head("Score")?.getAttribute("aria-sort")).toBe("descending");
    head("Cost")?.querySelector("button")?.click();
    await until(() => names()[0] === "promptql · o1");
    expect([
      head("Score")?.getAttribute("aria-sort"),
      head("Cost")?.getAttribute("aria-sort"),
    ]).toEqual([null, "ascending"]);
    head("Cost")?.querySelector("button")?.click();
    await until(() => names()[0] === "tool_calling · claude");
  });
  it("asks with the filter and scorer of the matrix, and leads to the runs of a row", async () => {
    const fixture = await opened("#/overview?q=model%3Ao1&scorer=fields");
    expect(
      fixture.calls.filter((call) => call.name === "leaderboard").map((call) => call.args),
    ).toEqual([{ request: { filter: "model:o1", scorer: "fields" } }]);
    expect(all("[data-testid=leaderboard-row] a")[0]?.getAttribute("href")).toBe(
      "#/runs?q=model%3Ao1+system%3Atool_calling+model%3Aclaude",
    );
  });
  it("and its plots fold away, and stay so", async () => {
    await opened();
    expect(id("plot-cost")).toBeUndefined();
    id("toggle-plots")?.click();
    await until(() => id("plot-cost") !== undefined);
    expect(id("plot-cost")?.querySelector("svg")?.getAttribute("aria-label")).toContain(
      "The leaderboard has the same numbers",
    );
    expect(id("plot-cost")?.textContent).toContain("tool_calling · claude");
    expect(id("plot-scores")?.querySelectorAll("svg").length).toBe(2);
    id("toggle-leaderboard")?.click();
    id("toggle-plots")?.click();
    await until(() => id("leaderboard") === undefined && id("plot-cost") === undefined);
    expect(JSON.parse(localStorage.getItem("touchstone.look") ?? "{}")).toMatchObject({
      leaderboard: false,
      plots: false,
    });
  });
});

describe("rows without runs", () => {
  it("are one line that opens by a click and by f, and the address says so", async () => {
    const fixture = answers((request) => {
      const base = matrix(1)({ ...request, folded: true });
      const line = row("", {
        kind: "missing",
        task: null,
        label: "3 tasks without runs",
        variations: 0,
        folded: !request.view.missing,
        filter: "",
        runs: 0,
        cells: [cell({ runs: 0, run: null, score: null, passed: null, missing: 9 }), null, null],
      });
      return { ...base, rows: [...base.rows, line], total_rows: base.total_rows + 1 };
    });
    await open(fixture);
    await until(() => text().includes("3 tasks without runs"));
    const line = () => all("[role=rowheader]").find((one) => one.textContent.includes("3 tasks"));
    expect(line()?.getAttribute("aria-expanded")).toBe("false");
    line()?.click();
    await until(
      () =>
        location.hash === "#/overview?missing=" && line()?.getAttribute("aria-expanded") === "true",
    );
    press("j", "f");
    await until(() => location.hash === "#/overview");
  });
});

describe("the heads of columns", () => {
  it("are cut in the middle where they are equal, and tell the whole name", async () => {
    const long = (end: string) =>
      column(`agent-with-a-rather-long-name-${end}`, "a-model-with-a-long-name-2025");
    await open(answers(matrix(1, [long("one"), long("two")])));
    await until(() => id("overview-row") !== undefined);
    const heads = all("[role=columnheader]").slice(1);
    const systems = heads.map((one) => one.querySelector(".system")?.textContent);
    expect(new Set(systems).size).toBe(2);
    expect(systems.every((one) => one?.includes("…"))).toBe(true);
    expect(heads[0]?.getAttribute("aria-label")).toContain(
      "agent-with-a-rather-long-name-one · a-model-with-a-long-name-2025",
    );
  });
  it("are grouped by model, and rows by tag, when it is chosen", async () => {
    const fixture = answers((request) => ({ ...matrix(1)(request), tags: true }));
    await open(fixture);
    await until(() => id("overview-columns") !== undefined);
    const choose = (testid: string, value: string) => {
      const box = id(testid) as HTMLSelectElement;
      box.value = value;
      box.dispatchEvent(new Event("change", { bubbles: true }));
    };
    choose("overview-columns", "model");
    await until(() => location.hash === "#/overview?columns=model");
    choose("overview-rows", "tag");
    await until(() => location.hash === "#/overview?columns=model&rows=tag");
    await until(() => requests(fixture).at(-1)?.view.by_tag === true);
    expect(requests(fixture).at(-1)?.view).toEqual({
      missing: false,
      by_model: true,
      by_tag: true,
    });
    await until(() => all("[role=columnheader] .system")[0]?.textContent === "claude");
  });
});
