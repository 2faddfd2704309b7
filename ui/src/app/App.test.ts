import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "./App.svelte";
import { parse, type RunsRoute } from "./route";
import { Fixture, runRow, STATUS } from "../testing/fakeBackend";
import { EMPTY_OVERVIEW, matrix } from "../testing/overview";
import type { Folder, Problem, Status } from "../generated";

let app: ReturnType<typeof mount> | undefined;
const open = async (fixture: Fixture, hash = "#/runs") => {
  history.replaceState(null, "", hash);
  app = mount(App, { target: document.body, props: { backend: fixture } });
  flushSync();
  await until(() => document.querySelector("[data-testid=status]") !== null);
  return fixture;
};
/** Waits for a condition, with a deadline. */
async function until(holds: () => boolean) {
  await vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${document.body.textContent}`);
  }, 3_000);
}
const find = (testid: string) => document.querySelector<HTMLElement>(`[data-testid="${testid}"]`);
const rows = () => [...document.querySelectorAll<HTMLElement>("[data-testid=run-row]")];
const text = () => document.body.textContent.replace(/\s+/g, " ");
const press = (
  key: string,
  more: KeyboardEventInit = {},
  target: Element = document.activeElement ?? document.body,
) => {
  target.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  flushSync();
};
const button = (label: string) =>
  [...document.querySelectorAll("button")].find((one) => one.textContent.includes(label));
const type = (value: string) => {
  const field = find("filter") as HTMLInputElement;
  field.focus();
  field.value = value;
  field.setSelectionRange(value.length, value.length);
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  flushSync();
};
const status = (change: Partial<Status>) => ({ ...STATUS, ...change });

beforeEach(() => localStorage.clear());
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
});

describe("the frame", () => {
  it("says what failed though nobody asked for it on the page, until it is closed or another folder opens", async () => {
    const fixture = await open(new Fixture());
    await until(() => rows().length > 0);
    const trouble = () => document.querySelector("[role=alert]");
    const message = "The folder `/locked` cannot be read.";
    for (const end of ["close", "folder"]) {
      fixture.fail({ code: "failed", message, hint: "Check that you may read it." });
      await until(
        () =>
          trouble()?.textContent?.includes(
            "The folder /locked cannot be read.\u00a0Check that you may read it.",
          ) === true,
      );
      expect(trouble()?.querySelector("code")?.textContent).toBe("/locked");
      if (end === "close") button("Close")?.click();
      else {
        fixture.status = status({ folder: STATUS.folder && { ...STATUS.folder, id: "other" } });
        fixture.tell({ kind: "folder" });
      }
      await until(() => trouble() === null);
    }
  });
});

describe("what is dropped on the page", () => {
  const folder = { ...STATUS.folder, id: "other", name: "logs" } as Folder;
  /** Opens a folder like the host does: the status follows. */
  const drop = (fixture: Fixture, filter: string) => {
    fixture.status = status({ folder });
    fixture.drag({ kind: "left" });
    fixture.drag({ kind: "opened", opened: { folder, filter } });
    fixture.tell({ kind: "folder" });
  };
  it("shows where to drop while it is dragged, and what was wrong with it", async () => {
    const fixture = await open(new Fixture(undefined, STATUS, "window"));
    fixture.drag({ kind: "over" });
    await until(() => find("drop-target")?.textContent.includes("Drop to open") === true);
    fixture.drag({ kind: "left" });
    await until(() => find("drop-target") === null);
    const message = "A page in a browser cannot see where a dropped file lies.";
    fixture.drag({ kind: "refused", error: { code: "not_allowed", message, hint: null } });
    await until(() => text().includes(message));
  });
  it("opens the only run of a file, and going back leads to the list", async () => {
    const fixture = await open(new Fixture([runRow(1), runRow(2)], STATUS, "window"));
    drop(fixture, "path:run2.yaml");
    await until(() => location.hash.startsWith("#/run/r2"));
    press("Escape");
    await until(() => rows().length === 1);
    expect(location.hash).toBe("#/runs?q=path%3Arun2.yaml");
  });
  it("lists the runs of a file with several, and all of a folder", async () => {
    const fixture = await open(new Fixture(undefined, STATUS, "window"), "#/settings");
    drop(fixture, "path:prioritize");
    await until(() => rows().length > 1);
    expect(location.hash).toBe("#/runs?q=path%3Aprioritize");
    drop(fixture, "");
    await until(() => location.hash === "#/runs");
  });
});

describe("an address without a place", () => {
  const indexing = status({ phase: { kind: "indexing", done: 1, total: 9 } });
  const fits = (fixture: Fixture) => {
    fixture.replies.overview = ({ request }) => matrix(2)(request);
  };
  it("opens the overview, and back leaves it", async () => {
    history.replaceState(null, "", "#/settings");
    history.pushState(null, "", "#/");
    const fixture = new Fixture();
    fits(fixture);
    await open(fixture, "");
    await until(() => location.hash === "#/overview" && find("overview-row") !== null);
    history.back();
    await until(() => location.hash === "#/settings");
  });
  it("opens the list when no run fits the matrix", async () => {
    const fixture = new Fixture();
    fixture.replies.overview = () => ({ ...EMPTY_OVERVIEW, runs: 120 });
    await open(fixture, "#/");
    await until(() => location.hash === "#/runs" && rows().length > 0);
  });
  it("turns from the list to the overview when a run fits, unless someone uses the list", async () => {
    for (const isUsed of [false, true]) {
      const fixture = new Fixture(undefined, indexing);
      fixture.replies.overview = () => ({ ...EMPTY_OVERVIEW, runs: 120 });
      await open(fixture, "#/");
      await until(() => rows().length > 0);
      expect(location.hash).toBe("#/");
      if (isUsed) press("j");
      fits(fixture);
      fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
      await until(() => location.hash === (isUsed ? "#/runs" : "#/overview"));
      if (app) await unmount(app);
      app = undefined;
    }
  });
  it("is where the name of the program leads, whatever filter the overview has", async () => {
    const fixture = new Fixture();
    fixture.replies.overview = ({ request }) =>
      request.filter === "" ? matrix(2)(request) : EMPTY_OVERVIEW;
    await open(fixture, "#/overview?q=none");
    await until(() => text().includes("No matching runs"));
    document.querySelector<HTMLElement>("header .brand")?.click();
    await until(() => location.hash === "#/overview" && find("overview-row") !== null);
  });
});

describe("the start screen", () => {
  it("has the focus on the first way to open another folder", async () => {
    await open(new Fixture(), "#/runs");
    await until(() => rows().length > 0);
    press("g");
    press("o");
    await until(() => document.activeElement?.classList.contains("way") === true);
  });
  it("keeps the place that one looks at when events were missed, and makes it anew in another folder", async () => {
    const fixture = await open(new Fixture(), "#/trust");
    await until(() => find("trust") !== null);
    const [place, asked] = [
      find("trust"),
      () => fixture.calls.filter((call) => call.name === "trust").length,
    ];
    const before = asked();
    fixture.tell({ kind: "folder" });
    await until(() => asked() > before);
    expect(find("trust")).toBe(place);
    fixture.status = status({ folder: STATUS.folder && { ...STATUS.folder, id: "other" } });
    fixture.tell({ kind: "folder" });
    await until(() => find("trust") !== null && find("trust") !== place);
  });
  it("stands where no folder is open, offers the demo, and says how a served page gets a folder", async () => {
    const fixture = await open(
      new Fixture([], status({ folder: null, phase: { kind: "closed" } })),
      "",
    );
    await until(() => find("open-demo") !== null);
    expect(text()).toContain("touchstone serve FOLDER");
    fixture.replies.open_demo = () => {
      fixture.status = STATUS;
      fixture.rows = [runRow(1)];
      fixture.tell({ kind: "folder" });
      return null;
    };
    find("open-demo")?.click();
    await until(() => rows().length === 1);
    expect(location.hash).toBe("#/runs");
  });
  it("marks folders that went away, opens others, and forgets", async () => {
    const fixture = new Fixture([], status({ folder: null }), "window");
    const recent = [
      { id: "a", name: "kept", path: "/x/kept", opened_ms: 0, present: true },
      { id: "b", name: "gone", path: "/x/gone", opened_ms: 0, present: false },
    ];
    fixture.replies.folders = () => ({ recent, demo: false, can_pick: true, can_open: true });
    await open(fixture, "#/start");
    await until(() => text().includes("not found"));
    expect(button("gone")?.disabled).toBe(true);
    expect(find("open-demo")).toBeNull();
    document.querySelector<HTMLElement>("[aria-label='Forget /x/gone']")?.click();
    button("kept")?.click();
    await until(() => fixture.calls.some((call) => call.name === "open_recent"));
    expect(
      fixture.calls
        .filter((call) => ["forget_recent", "open_recent"].includes(call.name))
        .map((call) => call.args),
    ).toEqual([{ id: "b" }, { id: "a" }]);
  });
  it("offers the results of other tools, and opens the chosen folder", async () => {
    const fixture = new Fixture(undefined, status({ folder: null }));
    fixture.replies.folders = () => ({ recent: [], demo: false, can_pick: true, can_open: true });
    fixture.replies.found_results = () => [
      {
        id: "f1",
        tool: "Claude Code",
        path: "/home/a/.claude/projects",
        entries: 2,
        more: false,
        unit: "session",
      },
      { id: "f2", tool: "Inspect", path: "/work/logs", entries: 1000, more: true, unit: "log" },
    ];
    await open(fixture, "#/start");
    await until(() => text().includes("Found on this machine"));
    expect(text()).toContain("2 sessions");
    expect(text()).toContain("1,000 or more logs");
    expect(text()).toContain("nothing leaves this machine");
    document.querySelectorAll<HTMLButtonElement>("[data-testid=found] button")[1]?.click();
    await until(() => fixture.calls.some((call) => call.name === "open_found"));
    expect(fixture.calls.find((call) => call.name === "open_found")?.args).toEqual({ id: "f2" });
  });
  it("offers nothing to open or to forget on a page that only looks", async () => {
    const fixture = new Fixture([], status({ folder: null }));
    const recent = [{ id: "a", name: "kept", path: "/x/kept", opened_ms: 0, present: true }];
    fixture.replies.folders = () => ({ recent, demo: true, can_pick: false, can_open: false });
    fixture.replies.found_results = () =>
      Promise.reject(new Error("a read-only page asks for none"));
    await open(fixture, "#/start");
    await until(() => text().includes("touchstone serve FOLDER"));
    expect(find("open-demo")).toBeNull();
    expect(text()).not.toContain("kept");
  });
  it("says what failed beside the choices", async () => {
    const fixture = new Fixture([], status({ folder: null }), "window");
    fixture.replies.pick_folder = () =>
      Promise.reject({
        code: "failed",
        message: "The folder /x cannot be read: permission denied.",
        hint: "Choose another.",
      });
    await open(fixture, "#/start");
    await until(() => button("Open a folder…") !== undefined);
    button("Open a folder…")?.click();
    await until(() => text().includes("permission denied. Choose another."));
  });
});

describe("the runs", () => {
  it("are rows of a grid that tell their number, their state in words, and no nought for what is missing", async () => {
    await open(
      new Fixture([
        runRow(0, { state: "error", reason: "rate limit", tokens: null, cost: null }),
        runRow(1),
      ]),
    );
    await until(() => rows().length === 2);
    const grid = find("runs-table")!;
    expect([
      grid.getAttribute("role"),
      grid.getAttribute("aria-rowcount"),
      rows()[0]?.getAttribute("aria-rowindex"),
      rows()[0]?.dataset["id"],
    ]).toEqual(["grid", "3", "2", "r0"]);
    const cell = (column: string) =>
      rows()[0]?.querySelector(`[data-column=${column}]`)?.textContent.trim();
    expect([cell("state")?.replace(/\s+/g, " "), cell("tokens"), cell("cost")]).toEqual([
      "Error · rate limit",
      "–",
      "–",
    ]);
    expect(grid.querySelector("[aria-sort=descending]")?.textContent.trim()).toBe("Changed");
  });
  it("draw only what is in sight of a hundred thousand", async () => {
    await open(new Fixture(Array.from({ length: 100_000 }, (_, index) => runRow(index))));
    await until(() => rows().length > 0);
    expect(document.querySelectorAll("[role=row]").length).toBeLessThan(90);
    expect(find("runs-table")?.getAttribute("aria-rowcount")).toBe("100001");
  });
  it("are walked by keys, opened by Enter, and shown again by back", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    press("j");
    press("j");
    press("k");
    expect(document.querySelector(".cursor")?.getAttribute("data-id")).toBe("r1");
    press("G");
    await until(
      () =>
        document.getElementById("runs-grid")?.getAttribute("aria-activedescendant") === "run-119",
    );
    await until(() => document.querySelector(".cursor")?.getAttribute("data-id") === "r119");
    press("g");
    press("g");
    press("Enter");
    expect(location.hash).toMatch(/^#\/run\/r0/);
    history.back();
    await until(() => location.hash === "#/runs" && rows().length > 10);
  });
  it("are where they were when a run is closed, although others came meanwhile", async () => {
    const fixture = await open(
      new Fixture(Array.from({ length: 1_000 }, (_, index) => runRow(index))),
      "#/runs?top=500",
    );
    await until(() => document.querySelector("[data-id=r500]") !== null);
    const drawn = () =>
      document.querySelector<HTMLElement>(".placed[role=presentation]")?.style.top;
    const before = Number(/\d+/.exec(drawn() ?? "")?.[0]);
    document.querySelector<HTMLElement>("[data-id=r505]")?.click();
    await until(() => location.hash.startsWith("#/run/r505"));
    fixture.rows = [
      ...Array.from({ length: 7 }, (_, index) => runRow(5_000 + index)),
      ...fixture.rows,
    ];
    const asked = fixture.calls.length;
    fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
    await until(() => fixture.calls.slice(asked).some((call) => call.name === "list_runs"));
    history.back();
    await until(() => document.querySelector(".cursor")?.getAttribute("data-id") === "r505");
    await until(() => Number(/\d+/.exec(drawn() ?? "")?.[0]) === before + 7 * 28);
    expect(document.querySelector<HTMLElement>("[data-id=r505]")?.dataset["index"]).toBe("512");
  });
  it("are where they were also when the page was loaded anew on a run, with the cursor on the run that was walked to", async () => {
    const fixture = await open(
      new Fixture(Array.from({ length: 1_000 }, (_, index) => runRow(index))),
      "#/run/r505?top=500",
    );
    await until(() => text().includes("This run could not be opened"));
    press("J", { shiftKey: true }, document.body);
    await until(
      () =>
        location.hash.startsWith("#/run/r506") &&
        JSON.stringify(fixture.calls.at(-1)).includes("r506"),
    );
    await tick();
    press("Escape", {}, document.body);
    await until(() => document.querySelector(".cursor")?.getAttribute("data-id") === "r506");
    expect(document.querySelector<HTMLElement>(".placed[role=presentation]")?.style.top).toBe(
      `${(500 - 24) * 28}px`,
    );
  });
  it("are selected by x and by Shift with an arrow, counted in the footer, and copied by y", async () => {
    const copied = vi.fn(() => Promise.resolve());
    Object.defineProperty(navigator, "clipboard", {
      value: { writeText: copied },
      configurable: true,
    });
    const fixture = await open(new Fixture());
    await until(() => rows().length > 10);
    press("x");
    press("j");
    press("ArrowDown", { shiftKey: true });
    await until(() => find("picked")?.textContent.includes("2 selected") ?? false);
    press("y");
    expect(copied).toHaveBeenCalledWith(`${fixture.rows[1]!.path}\n${fixture.rows[2]!.path}`);
    press("Escape");
    expect(find("picked")).toBeNull();
  });
  it("are reviewed one after the other, all that are listed or just the selection", async () => {
    const fixture = await open(new Fixture(), "#/runs?q=state%3Aerror");
    await until(() => rows().length > 0);
    press("v");
    await until(() => location.hash.startsWith("#/run/"));
    expect(location.hash).toContain("?q=state%3Aerror&queue=unreviewed&from=state%3Aerror");
    expect(fixture.calls.find(({ name }) => name === "queue_around")?.args).toMatchObject({
      filter: "state:error",
      order: { kind: "unreviewed" },
      id: "",
    });
    await until(() => find("queue")?.textContent.includes("not reviewed first") === true);
    history.back();
    await until(() => rows().length > 0 && find("queue") === null);
    press("x");
    press("j");
    press("x");
    await until(() => find("review-queue")?.textContent.includes("2 selected runs") === true);
    find("review-queue")?.click();
    await until(() => location.hash.startsWith("#/run/"));
    expect(decodeURIComponent(location.hash)).toMatch(
      /\?q=file:[^,]+\.yaml,[^,]+\.yaml[ +]state:answered,no_answer&queue/u,
    );
    // The end of the queue leads back to the list as it was, with its selection.
    await until(() => find("queue") !== null);
    press("Escape");
    await until(() => location.hash === "#/runs?q=state%3Aerror");
    await until(() => find("review-queue")?.textContent.includes("2 selected runs") === true);
  });
  it("take no part in an action while the filter hides them all, and are not lost", async () => {
    const fixture = await open(new Fixture(), "#/runs?q=state%3Aerror");
    await until(() => rows().length > 0);
    press("x");
    press("j");
    press("x");
    await until(() => find("review-queue")?.textContent.includes("2 selected runs") === true);
    location.hash = "#/runs?q=state%3Awaiting";
    await until(() => find("picked")?.textContent.includes("2 selected, not listed") === true);
    expect(find("picked")?.textContent).not.toContain("compare");
    expect(find("review-queue")?.textContent).toContain("Review these runs");
    press("c");
    await until(() => text().includes("Two to four runs can be compared."));
    press("x");
    // A selection that nobody sees does not come back with the next one.
    await until(() => find("picked")?.textContent.includes("1 selected") === true);
    expect(find("picked")?.textContent).not.toContain("not listed");
    press("x");
    press("v");
    await until(() => location.hash.startsWith("#/run/"));
    expect(decodeURIComponent(location.hash)).toContain("?q=state:waiting&queue");
    history.back();
    await until(() => find("review-queue") !== null);
    expect(find("picked")).toBeNull();
    expect(fixture.rows.length).toBeGreaterThan(0);
  });
  it("are kept under a name, with order and columns, and shown again from a menu and the palette", async () => {
    const fixture = new Fixture();
    fixture.replies.views = () => [
      { name: "team", filter: "model:o1", sort: "-cost", columns: ["cost", "score"] },
    ];
    await open(fixture, "#/runs?q=state%3Aerror&sort=cost");
    await until(() => rows().length > 0);
    press("V");
    await until(() => button("Save this view…") !== undefined);
    button("Save this view…")?.click();
    await until(() => find("save-view") !== null);
    const name = find("save-view")?.querySelector("input");
    if (name) name.value = "mine";
    name?.dispatchEvent(new InputEvent("input", { bubbles: true }));
    flushSync();
    find("save-view")?.querySelector("form")?.requestSubmit();
    await until(() => find("save-view") === null);
    press("V");
    await until(() => button("team") !== undefined);
    button("team")?.click();
    await until(() => location.hash === "#/runs?q=model%3Ao1&sort=-cost");
    const heads = () =>
      [...document.querySelectorAll("[role=columnheader]")].map((one) => one.textContent.trim());
    await until(() => !heads().some((head) => head.startsWith("Model")));
    expect(heads().some((head) => head.startsWith("Cost"))).toBe(true);
    press("k", { ctrlKey: true });
    await until(() => find("palette") !== null);
    await until(() => text().includes("View: mine") && text().includes("View: team"));
    const field = find("palette")!.querySelector("input")!;
    field.value = "view: mine";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    flushSync();
    press("Enter", {}, field);
    await until(() => location.hash === "#/runs?q=state%3Aerror&sort=cost");
    await until(() => heads().some((head) => head.startsWith("Model")));
  });
  it("leave the columns that were chosen where they have none of their own", async () => {
    const fixture = new Fixture();
    fixture.replies.views = () => [
      { name: "narrow", filter: "", sort: "cost", columns: ["cost"] },
      { name: "errors", filter: "state:error", sort: "cost", columns: null },
    ];
    await open(fixture, "#/runs");
    await until(() => rows().length > 0);
    const heads = () =>
      [...document.querySelectorAll("[role=columnheader]")].map((one) => one.textContent.trim());
    for (const name of ["narrow", "errors"]) {
      press("V");
      await until(() => button(name) !== undefined);
      button(name)?.click();
      await until(() => !heads().some((head) => head.startsWith("Model")));
    }
    await until(() => decodeURIComponent(location.hash).startsWith("#/runs?q=state:error"));
    expect(heads().some((head) => head.startsWith("Model"))).toBe(false);
  });
  it("may be kept under the name of a view for everybody, and the palette has both", async () => {
    const fixture = new Fixture();
    fixture.replies.views = () => [
      { name: "mine", filter: "model:o1", sort: "-cost", columns: null },
    ];
    await open(fixture, "#/runs?q=state%3Aerror");
    await until(() => rows().length > 0);
    press("V");
    await until(() => button("Save this view…") !== undefined);
    button("Save this view…")?.click();
    await until(() => find("save-view") !== null);
    const name = find("save-view")?.querySelector("input");
    if (name) name.value = "mine";
    name?.dispatchEvent(new InputEvent("input", { bubbles: true }));
    flushSync();
    find("save-view")?.querySelector("form")?.requestSubmit();
    await until(() => find("save-view") === null);
    press("k", { ctrlKey: true });
    await until(() => find("palette") !== null);
    const options = () =>
      [...(find("palette")?.querySelectorAll("[role=option]") ?? [])].filter((one) =>
        one.textContent.includes("View: mine"),
      );
    await until(() => options().length === 2);
  });
  it("are sorted by a click on a head, the other way by the next, and the address says so", async () => {
    const fixture = await open(new Fixture());
    await until(() => rows().length > 10);
    button("Turns")?.click();
    await until(() => location.hash === "#/runs?sort=-turns");
    button("Turns")?.click();
    await until(() => location.hash === "#/runs?sort=turns");
    await until(() =>
      fixture.calls.some(
        (call) =>
          call.name === "list_runs" &&
          JSON.stringify(call.args).includes('"turns","descending":false'),
      ),
    );
  });
  it("are narrowed as one types; what was misread is explained; nothing found offers to clear", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    press("f", { ctrlKey: true });
    expect(document.activeElement).toBe(find("filter"));
    type("state:error");
    await until(
      () => rows().length > 0 && rows().every((row) => row.textContent.includes("Error")),
    );
    expect(find("total")?.textContent).toMatch(/^\d+ runs match the filter/);
    expect(document.querySelector(".drawn .chip")?.textContent).toBe("state:error");
    type("state:error bad:x");
    await until(() => text().includes("is not a key"));
    // The rows of before stay while somebody types.
    expect([
      rows().length > 0,
      text().includes("No matching runs"),
      find("filter")?.getAttribute("aria-invalid"),
      find("runs-table")?.getAttribute("aria-busy"),
    ]).toEqual([true, false, "true", "true"]);
    type("bad:x state:error bad:x");
    await until(() => document.querySelectorAll("#filter-misread li").length === 2);
    type("nothing-is-called-so no_key:x");
    await until(() => find("filter-hint")?.textContent.includes("No filter key no_key") ?? false);
    type("nothing-is-called-so");
    await until(() => text().includes("No matching runs"));
    expect(text()).not.toContain("Invalid filter");
    expect([...document.querySelectorAll("h1")].map((heading) => heading.textContent)).toEqual([
      "Runs",
    ]);
    // Without a list to go to, Escape still leaves the field, so that keys reach the page.
    const field = find("filter") as HTMLInputElement;
    field.focus();
    for (const key of ["Escape", "Escape"])
      field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    expect(document.activeElement).not.toBe(field);
    button("Clear the filter")?.click();
    await until(() => rows().length > 10 && (find("filter") as HTMLInputElement).value === "");
  });
  it("begin at the first run of a new filter that leaves out the run at the cursor", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    const cursor = () =>
      document.getElementById("runs-grid")?.getAttribute("aria-activedescendant") ?? "";
    const under = () => document.getElementById(cursor())?.textContent ?? "Error";
    press("G");
    await until(() => cursor() === "run-119");
    for (let up = 0; up < 9 && under().includes("Error"); up++) press("k");
    expect(under()).not.toContain("Error");
    type("state:error");
    await until(
      () => rows().length > 0 && rows().every((row) => row.textContent.includes("Error")),
    );
    await until(() => cursor() === "run-0");
  });
  it("stay while a value is chosen for a key, until the values are closed", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    type("model:");
    await until(() => document.querySelectorAll("#filter-options [role=option]").length > 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(location.hash).toBe("#/runs");
    press("Escape");
    await until(() => location.hash === "#/runs?q=model%3A");
    type("");
    await until(() => location.hash === "#/runs");
    expect(document.activeElement).toBe(find("filter"));
    press("Escape");
    expect(document.activeElement).not.toBe(find("filter"));
  });
  it("complete what is typed", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    type("mod");
    await until(() => document.querySelectorAll("#filter-options [role=option]").length > 0);
    press("Tab");
    await until(() => document.querySelectorAll("#filter-options [role=option]").length === 3);
    press("ArrowDown");
    press("Enter");
    await until(() => location.hash === "#/runs?q=model%3Aclaude+");
  });
  it("take the model that is named by a word, on Enter", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    type("claude");
    await until(
      () =>
        document
          .querySelector('#filter-options [aria-selected="true"]')
          ?.textContent.includes("model:claude") === true,
    );
    press("Enter");
    await until(() => location.hash === "#/runs?q=model%3Aclaude+");
  });
  it("show where free text was found, as text and never as markup", async () => {
    const fixture = new Fixture([
      runRow(0, {
        path: "invoice.yaml",
        snippet: {
          step: 3,
          pieces: [
            { text: "<img src=x onerror=alert(1)> the ", hit: false },
            { text: "invoice", hit: true },
          ],
        },
      }),
    ]);
    await open(fixture, "#/runs?q=invoice");
    await until(() => document.querySelector(".found mark")?.textContent === "invoice");
    expect(document.querySelector(".found")?.textContent).toContain("<img src=x onerror=alert(1)>");
    expect(document.querySelector(".found img")).toBeNull();
  });
  it("say what to do when there are none, and what failed with a way to try again", async () => {
    const fixture = new Fixture([]);
    const base = fixture.replies.list_runs;
    fixture.replies.list_runs = () =>
      Promise.reject({ code: "failed", message: "The index is locked.", hint: null });
    await open(fixture);
    await until(() => text().includes("The index is locked."));
    fixture.replies.list_runs = base;
    button("Try again")?.click();
    await until(() => text().includes("No runs yet"));
  });
  it("toggle a token by Alt and a click on a cell", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    const cell = () => rows()[0]!.querySelector<HTMLElement>("[data-column=model]")!;
    cell().dispatchEvent(new MouseEvent("click", { bubbles: true, altKey: true }));
    await until(() => location.hash === "#/runs?q=model%3Aclaude");
    await tick();
    cell().dispatchEvent(new MouseEvent("click", { bubbles: true, altKey: true }));
    await until(() => location.hash === "#/runs");
  });
});

describe("the frame", () => {
  it("links its counts to just those runs and shows how far things are", async () => {
    await open(
      new Fixture(
        undefined,
        status({
          phase: { kind: "indexing", done: 812, total: 4_100 },
          watching: { by: "polling", notice: "a network folder" },
        }),
      ),
    );
    const footer = find("status")!;
    await until(() => footer.textContent.includes("reading 812 of 4,100"));
    expect(footer.textContent).toContain("a network folder");
    expect(
      [...footer.querySelectorAll("a")].map(
        (link) => `${link.textContent} ${link.getAttribute("href")}`,
      ),
    ).toEqual([
      "120 runs #/runs",
      "4 paused #/runs?q=state%3Awaiting",
      "9 errors #/runs?q=state%3Aerror",
      "3 damaged #/runs?q=state%3Adamaged",
      "2 other files #/runs?q=state%3Aother",
    ]);
  });
  it("links runs without the rows that evaluators were applied to, which have a link of their own", async () => {
    await open(new Fixture(undefined, status({ search: { indexed: 201, total: 201 } })));
    const links = () =>
      [...(find("status")?.querySelectorAll("a") ?? [])].slice(0, 3).map((link) => {
        const { q } = parse(link.getAttribute("href") ?? "") as RunsRoute;
        return [link.textContent, q];
      });
    await until(() => links().length === 3);
    expect(links()).toEqual([
      ["120 runs", "-format:evaluated"],
      ["81 evaluated rows", "format:evaluated"],
      ["4 paused", "state:waiting -format:evaluated"],
    ]);
  });
  it("has no place that does nothing", async () => {
    await open(
      new Fixture(
        undefined,
        status({ counts: { ...STATUS.counts, suite_problems: 0, damaged: 0, other_files: 0 } }),
      ),
    );
    await until(() => document.querySelector("nav a") !== null);
    expect([...document.querySelectorAll("nav a")].map((link) => link.textContent)).toEqual([
      "Overview",
      "Runs",
      "Tasks",
      "Launch",
      "Evaluate",
      "Report",
      "Failures",
      "History",
      "Trust",
    ]);
  });
  it("finds every action in the palette, and runs by their path, which keep the filter of the list", async () => {
    await open(new Fixture(), "#/runs?q=state%3Aanswered&sort=task");
    await until(() => rows().length > 10);
    press("k", { ctrlKey: true });
    const entries = () =>
      [...(find("palette")?.querySelectorAll("[role=option]") ?? [])].map((one) =>
        one.textContent.trim(),
      );
    await until(() => entries().some((entry) => entry.startsWith("Settings")));
    const groups = [...find("palette")!.querySelectorAll(".group")].map((one) =>
      one.textContent.trim(),
    );
    expect(groups).toEqual(["On this page", "Everywhere"]);
    expect(entries().indexOf("Overviewg then v")).toBeGreaterThan(3);
    const field = find("palette")!.querySelector("input")!;
    field.value = "drk";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    flushSync();
    expect(entries()[0]).toBe("Theme: Dark");
    press("Enter", {}, field);
    await until(() => document.documentElement.dataset["theme"] === "dark");
    press("k", { ctrlKey: true }, document.body);
    const again = find("palette")!.querySelector("input")!;
    again.value = "churn_risk";
    again.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await until(() => entries().some((entry) => entry.startsWith("churn_risk-")));
    press("Enter", {}, again);
    await until(() => location.hash === "#/run/r2?q=state%3Aanswered&sort=task");
  });
  it("sends a dialog with Ctrl Enter from any of its fields, once it may be sent", async () => {
    const backend = await open(new Fixture());
    await until(() => rows().length > 10);
    press("k", { ctrlKey: true });
    const field = find("palette")!.querySelector("input")!;
    field.value = "new label";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    flushSync();
    press("Enter", {}, field);
    await until(() => find("new-label")?.querySelector("textarea") != null);
    const [name, values] = [
      find("new-label")!.querySelector("input")!,
      find("new-label")!.querySelector("textarea")!,
    ];
    const asked = () => backend.calls.filter((call) => call.name === "add_label").length;
    const write = (into: HTMLInputElement | HTMLTextAreaElement, text: string) => {
      into.value = text;
      into.dispatchEvent(new InputEvent("input", { bubbles: true }));
      flushSync();
    };
    write(name, "tone");
    press("Enter", { ctrlKey: true }, name);
    expect(asked()).toBe(0);
    write(values, "kind\nrude");
    press("Enter", { ctrlKey: true }, values);
    await until(() => asked() === 1);
  });
  it("shows a message until its page is left", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    press("y", {}, document.body);
    await until(() => find("toast")?.textContent !== "");
    location.hash = "#/runs?q=state%3Aanswered";
    await until(() => text().includes("match the filter"));
    expect(find("toast")?.textContent).not.toBe("");
    location.hash = "#/failures";
    await until(() => find("toast")?.textContent === "");
  });
  it("says in the palette why a filter is invalid", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    press("k", { ctrlKey: true });
    const field = find("palette")!.querySelector("input")!;
    field.value = "bad:x";
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await until(() => find("palette")?.textContent.includes("Invalid filter: ") ?? false);
  });
  it("takes the filter of the list to the evaluators, and says that a selection is not what it names", async () => {
    await open(new Fixture(), "#/runs?q=model%3Ao1");
    await until(() => rows().length > 3);
    const evaluate = async () => {
      press("k", { ctrlKey: true }, document.body);
      const field = find("palette")!.querySelector("input")!;
      field.value = "Evaluate all listed";
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      flushSync();
      press("Enter", {}, field);
      await until(() => location.hash === "#/evaluate?rows=model%3Ao1");
    };
    await evaluate();
    expect(text()).not.toContain("manual selection");
    history.back();
    await until(() => rows().length > 3);
    press("x", {}, document.body);
    await evaluate();
    await until(() => text().includes("cannot use a manual selection."));
  });
  it("tells its keys from the same table, those of the page first", async () => {
    await open(new Fixture());
    await until(() => rows().length > 10);
    press("?", { shiftKey: true }, document.body);
    await until(() => find("key-sheet")?.textContent.includes("Next run") ?? false);
    expect(find("key-sheet")?.textContent).toContain("Filter runs");
    const groups = [...document.querySelectorAll("[data-testid=key-sheet] h2")].map(
      (one) => one.textContent,
    );
    expect(groups.slice(0, 2)).toEqual(["Runs", "Everywhere"]);
  });
  it("says so when nobody answers, and what it knew stays in sight", async () => {
    const fixture = await open(new Fixture());
    await until(() => rows().length > 10);
    fixture.replies.status = () =>
      Promise.reject({
        code: "failed",
        message: "Touchstone does not respond.",
        hint: null,
      });
    fixture.tell({ kind: "status" });
    await until(() => find("status")?.textContent.includes("not connected") ?? false);
    expect(rows().length).toBeGreaterThan(10);
  });
});

describe("other places", () => {
  it("show problems with a caret under the column, and open the file among those with the same", async () => {
    const problem: Problem = {
      kind: "damaged",
      file: "results/a.yaml",
      run: "r7",
      message: "A key where a value was expected.",
      line: 14,
      column: 3,
      excerpt: "  key",
      advice: "Indent it less.",
    };
    const fixture = new Fixture();
    fixture.replies.problems = () => ({ total: 1, no_runs: 0, problems: [problem] });
    await open(fixture, "#/problems");
    await until(() => text().includes("1 problem"));
    await until(() => find("problems")?.querySelector("pre")?.textContent === "14  key\n  ^");
    expect(text()).toContain("results/a.yaml:14:3");
    press("o");
    expect(location.hash).toBe("#/run/r7?q=state%3Adamaged&sort=path");
  });
  it("keeps files that are no runs apart from problems until they are asked for", async () => {
    const problem = (kind: Problem["kind"], file: string): Problem => ({
      kind,
      file,
      run: null,
      message: "Not read.",
      line: null,
      column: null,
      excerpt: null,
      advice: null,
    });
    const fixture = new Fixture(
      undefined,
      status({ counts: { ...STATUS.counts, suite_problems: 0, damaged: 1, other_files: 2 } }),
    );
    fixture.replies.problems = () => ({
      total: 3,
      no_runs: 2,
      problems: [
        problem("damaged", "a.yaml"),
        problem("not_transcript", "b.json"),
        problem("not_transcript", "c.json"),
      ],
    });
    await open(fixture, "#/problems");
    await until(() => text().includes("1 problem"));
    expect(document.querySelector("nav .count")?.textContent).toBe("1");
    expect(text()).not.toContain("b.json");
    const show = [...document.querySelectorAll("button")].find((one) =>
      one.textContent?.includes("2 files that are no runs"),
    );
    show?.click();
    await until(() => text().includes("b.json") && text().includes("c.json"));
  });
  it("show what the doctor found, with how to mend it, and keep the choices", async () => {
    const fixture = new Fixture();
    fixture.replies.doctor = () => [
      { name: "Watching", ok: false, detail: "The limit is reached.", fix: "Raise it." },
    ];
    await open(fixture, "#/settings");
    await until(() => text().includes("Raise it."));
    expect(text()).toContain("needs attention");
    document.querySelectorAll<HTMLInputElement>("input[name=theme]")[1]?.click();
    expect(document.documentElement.dataset["theme"]).toBe("light");
    (document.activeElement as HTMLElement).blur();
    press("Escape");
    expect(location.hash).toBe("#/runs");
  });
});
