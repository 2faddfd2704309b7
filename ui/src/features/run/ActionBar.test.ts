import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { RunRow } from "../../generated";
import { launched, launchRun, OPTIONS } from "../../testing/launch";
import { layOut, OneRun, SMALL, view } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const id = (testid: string) => all(`[data-testid='${testid}']`)[0];
const field = () => id("write") as HTMLTextAreaElement;
const button = (label: string) =>
  all("button").find((one) => one.textContent.includes(label)) as HTMLButtonElement | undefined;
const text = () => document.body.textContent.replace(/\s+/g, " ");
const until = (holds: () => boolean) =>
  vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${location.hash}\n${text()}`);
  }, 4_000);
async function press(key: string, more: KeyboardEventInit = {}) {
  (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  await tick();
  flushSync();
}
function write(words: string) {
  field().value = words;
  field().dispatchEvent(new InputEvent("input", { bubbles: true }));
  flushSync();
}
const run = (row: Partial<RunRow> = {}, layout?: string) =>
  new OneRun(
    view(SMALL, { system: "tool_calling", ...row }, layout === undefined ? {} : { layout }),
  );
const asked = (backend: OneRun, name: string) =>
  backend.calls.filter((call) => call.name === name).map((call) => call.args);
async function open(backend: OneRun) {
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(
    () =>
      id("dock") !== undefined &&
      all("[data-testid='step']").length > 0 &&
      backend.calls.some((call) => call.name === "launch_options"),
  );
  return backend;
}

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

describe("a message to a run", () => {
  it("whose model has no key says so before it is written, and offers what can run", async () => {
    const backend = run({ model: "o1", task: "x" });
    const why_not = { message: "Its key K is not set.", fix: "Set K." };
    backend.replies.launch_options = () => ({
      ...OPTIONS,
      tasks: OPTIONS.tasks.slice(0, 1).map((task) => ({ ...task, name: "x" })),
      models: [
        { name: "o1", detail: "", why_not, is_free: false },
        { name: "replay", detail: "", why_not: null, is_free: true },
      ],
    });
    await open(backend);
    await until(() => id("missing-key") !== undefined);
    const said = id("missing-key")?.textContent.replace(/\s+/g, " ").trim();
    expect(said).toContain("The model o1 cannot be asked: Its key K is not set. Settings › Keys");
    expect(said).toContain("Run the task with another model: replay");
    const links = [...(id("missing-key")?.querySelectorAll("a") ?? [])];
    expect(links.map((link) => link.getAttribute("href"))).toEqual([
      "#/settings",
      expect.stringMatching(/^#\/launch\?.*model=replay/) as unknown,
    ]);
    expect(field().disabled).toBe(false);
    write("Go on.");
    const send = () => dock("Send to a fork") as HTMLButtonElement;
    expect([send().disabled, send().title]).toEqual([true, "Its key K is not set."]);
    await forkAt(2);
    const branch = () => dock("Run as a new run") as HTMLButtonElement;
    expect([branch().disabled, branch().title]).toEqual([true, "Its key K is not set."]);
    expect(id("missing-key")).toBeDefined();
    const select = id("fork-model") as HTMLSelectElement;
    select.value = "replay";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    flushSync();
    expect([branch().disabled, id("missing-key")]).toEqual([false, undefined]);
  });
  it("is begun by n, sent by Ctrl Enter, and gone from the field when it was taken", async () => {
    const backend = await open(run());
    await until(() => !field().disabled);
    await press("n");
    expect(document.activeElement).toBe(field());
    await press("Enter", { ctrlKey: true });
    expect(asked(backend, "nudge_run")).toEqual([]);
    write("  actually use the tool\n");
    await press("Enter", { ctrlKey: true });
    await until(() => field().value === "");
    expect(asked(backend, "nudge_run")).toEqual([
      { id: "r0", message: "actually use the tool", in_place: false },
    ]);
  });
  it("to a finished run leads to the fork that it was sent to, and to the end of it", async () => {
    const backend = await open(run());
    backend.replies.nudge_run = () => Promise.resolve({ launch: "l1", run: "r1" });
    await until(() => !field().disabled);
    write("go on");
    button("Send to a fork")?.click();
    await until(() => location.hash.startsWith("#/run/r1"));
    expect(asked(backend, "nudge_run")).toEqual([{ id: "r0", message: "go on", in_place: false }]);
    await until(() => /step=\d+/.test(location.hash));
    expect(location.hash).toContain(`step=${SMALL.length}`);
  });
  it("changes a finished run itself only after it was asked", async () => {
    const backend = await open(run());
    await until(() => !field().disabled);
    expect(button("Continue in place…")?.disabled).toBe(true);
    write("go on");
    button("Continue in place…")?.click();
    await until(() => id("run-in-place") !== undefined);
    expect(asked(backend, "nudge_run")).toEqual([]);
    expect(id("run-in-place")?.textContent).toContain("Statistics then exclude the run");
    all("[data-testid='run-in-place'] button")
      .find((one) => one.textContent === "Continue in place")
      ?.click();
    await until(() => id("run-in-place") === undefined);
    expect(asked(backend, "nudge_run")).toEqual([{ id: "r0", message: "go on", in_place: true }]);
    expect(location.hash.startsWith("#/run/r0")).toBe(true);
  });
  it("is sent to a fork itself, and to a run that is not finished", async () => {
    await open(run({ lineage: "fork" }));
    await until(() => !field().disabled);
    expect([button("Continue in place…"), button("Send")?.textContent]).toEqual([
      undefined,
      "Send",
    ]);
    if (page) await unmount(page);
    page = undefined;
    await open(run({ state: "waiting" }));
    await until(() => !field().disabled);
    expect([button("Continue in place…"), button("Send")?.textContent]).toEqual([
      undefined,
      "Send",
    ]);
  });
  it("stays in the field when it was not taken, with the reason beside it", async () => {
    const backend = await open(run());
    backend.replies.nudge_run = () =>
      Promise.reject({
        code: "failed",
        message: "Another process has this run.",
        hint: "Wait until it is done.",
      });
    await until(() => !field().disabled);
    write("go on");
    button("Send")?.click();
    await until(() =>
      all("[role='alert']").some((one) =>
        one.textContent.includes("Another process has this run."),
      ),
    );
    expect(field().value).toBe("go on");
  });
  it.each<[string, Partial<RunRow>, string | undefined, string, boolean]>([
    [
      "of PromptQL",
      { system: "promptql" },
      "PromptQL transcript",
      "PromptQL runs cannot be continued",
      false,
    ],
    ["of another program", {}, "Benchmark folder", "of another program is read-only", false],
    ["that is damaged", { state: "damaged" }, undefined, "cannot be read", false],
  ])("cannot be written to a run %s, and it says why", async (_, row, layout, words, off) => {
    await open(run(row, layout));
    await until(() => field().disabled && text().includes(words));
    expect(button("Rerun…")?.disabled).toBe(off);
    await press("n");
    expect(document.activeElement).not.toBe(field());
  });
  it("cannot be written where nothing may be launched, and nothing is offered then", async () => {
    const backend = run();
    backend.options = {
      ...OPTIONS,
      why_not: { message: "This server may not launch.", fix: "Start it with --allow-run." },
    };
    await open(backend);
    await until(() => text().includes("This server may not launch. Start it with --allow-run."));
    expect([field().disabled, button("Rerun…")?.disabled, all(".fork").length]).toEqual([
      true,
      true,
      0,
    ]);
  });
});

describe("a damaged run where nothing may be launched", () => {
  it("says beside what keeps it from being continued why it cannot be run again", async () => {
    const backend = run({ state: "damaged" });
    backend.options = {
      ...OPTIONS,
      why_not: { message: "This server may not launch.", fix: "Start it with --allow-run." },
    };
    await open(backend);
    await until(() =>
      text().includes(
        "Fix it in an editor. It cannot be rerun. This server may not launch. Start it with --allow-run.",
      ),
    );
  });
});

describe("a run that owes something", () => {
  it("is continued by one button, and one that does not has none", async () => {
    const backend = await open(run({ state: "waiting" }));
    const continues = () =>
      all("[data-testid='dock'] button").find((one) => one.textContent === "Continue");
    await until(() => continues() !== undefined);
    continues()?.click();
    await until(() => asked(backend, "start_launch").length === 1);
    expect(asked(backend, "start_launch")[0]).toMatchObject({
      request: { runs: ["r0"], start_over: false, anyway: false },
    });
    if (page) await unmount(page);
    page = undefined;
    await open(run());
    await until(() => !field().disabled);
    expect(continues()).toBeUndefined();
  });
});

describe("where a run comes from", () => {
  it("is a line with links in the head of a fork and of its original, and nothing else has one", async () => {
    const link = (id: string, step: number | null) => ({ id, path: `${id}.yaml`, step });
    const lineage = {
      origin: link("r7", 2),
      forks: [link("r8", 0), link("r9", 1)],
      fork_count: 2,
      edited: null,
      tree: [],
    };
    await open(new OneRun(view(SMALL, { lineage: "fork", system: "tool_calling" }, { lineage })));
    const line = () => id("lineage")?.textContent.replace(/\s+/g, " ").trim();
    expect(line()).toBe(
      "Fork of r7 from step 3 · compare with the original · excluded from statistics · 2 forks: r8, r9",
    );
    expect(all("[data-testid='lineage'] a").map((one) => one.getAttribute("href"))).toEqual([
      "#/run/r7?step=3",
      "#/compare?run=r7&run=r0",
      "#/run/r8",
      "#/run/r9",
    ]);
    if (page) await unmount(page);
    page = undefined;
    await open(run());
    expect(line()).toBeUndefined();
  });
});

describe("running again from the start", () => {
  it("asks first and says what becomes of the old file", async () => {
    const backend = await open(run());
    await until(() => !field().disabled);
    await press("r");
    await until(() => id("run-again") !== undefined);
    expect(id("run-again")?.textContent).toContain("The old file is moved");
    expect(asked(backend, "start_launch")).toEqual([]);
    button("Rerun from the start")?.click();
    await until(() => id("run-again") === undefined);
    expect(asked(backend, "start_launch")[0]).toMatchObject({
      request: { runs: ["r0"], start_over: true },
    });
  });
});

describe("a fork that is run again", () => {
  const lineage = {
    origin: { id: "r7", path: "r7.yaml", step: 1 },
    forks: [],
    fork_count: 0,
    edited: null,
    tree: [],
  };
  const fork = (model: string) =>
    new OneRun(view(SMALL, { lineage: "fork", system: "tool_calling", model }, { lineage }));
  const dialog = async () => {
    await until(() => !field().disabled);
    await press("r");
    await until(() => id("run-again") !== undefined);
    return id("run-again")?.textContent.replace(/\s+/g, " ") ?? "";
  };

  it("loses its edit or message, which is said, and can be forked again instead", async () => {
    const backend = fork("o1");
    backend.replies.open_run = (request) => ({
      ...backend.run,
      row: { ...backend.run.row, id: request.id },
    });
    await open(backend);
    const said = await dialog();
    expect(said).toContain("again from its task, from the start, without the edit or message");
    expect(said).toContain("All model calls are paid for again.");
    const link = all("[data-testid='run-again'] a")[0];
    expect(link?.textContent).toBe("Fork again from step 2…");
    link?.click();
    await until(() => location.hash.startsWith("#/run/r7"));
    await until(() => text().includes("Fork from step 2."));
  });
  it("costs nothing where the calls of its model are free", async () => {
    const backend = fork("replay");
    backend.replies.launch_options = () => ({
      ...OPTIONS,
      tasks: OPTIONS.tasks.slice(0, 1).map((task) => ({ ...task, name: "prioritize_tickets" })),
    });
    await open(backend);
    const said = await dialog();
    expect(said).not.toContain("paid for");
    expect(said).toContain("Its model calls cost nothing.");
  });
});

/** Opens the fork editor of a step, when it can be written to. */
async function forkAt(index: number) {
  await until(() => all(".fork").length > index);
  all(".fork")[index]?.click();
  await until(() => text().includes(`Fork from step ${index + 1}.`) && !field().disabled);
}
const modes = () =>
  all("[aria-label='What to change'] button").map(
    (one) => `${one.textContent.trim()}${one.getAttribute("aria-pressed") === "true" ? "!" : ""}`,
  );
const forked = (backend: OneRun) => asked(backend, "fork_run")[0];
const dock = (label: string) =>
  all("[data-testid='dock'] button").find((one) => one.textContent.trim() === label) as
    HTMLButtonElement | undefined;

describe("another branch", () => {
  it("from a user's step begins with what was said there, and leads to the new run", async () => {
    const backend = await open(run());
    await until(() => !field().disabled);
    all("[data-index='0']")[0]?.focus();
    await press("e");
    await until(() => field().value === "Which tickets are open?");
    await until(() => document.activeElement === field());
    expect([field().getAttribute("aria-label"), modes()]).toEqual(["Replacement message", []]);
    write("Which tickets are closed?");
    await press("Enter", { ctrlKey: true });
    await until(() => location.hash.startsWith("#/run/r1"));
    expect(asked(backend, "fork_run")).toEqual([
      {
        id: "r0",
        step: 0,
        message: "Which tickets are closed?",
        edit: null,
        model: null,
        run: true,
      },
    ]);
  });
  it("marks its step as long as it is written", async () => {
    await open(run());
    const marked = () => all(".forked").map((one) => one.getAttribute("data-index"));
    await forkAt(2);
    await until(() => marked().join() === "2");
    expect(all(".forked")[0]?.getAttribute("aria-label")).toContain("fork from here");
    await press("Escape");
    expect(marked()).toEqual([]);
  });
  it("from any other step may be a mere copy, and Escape leaves everything as it was", async () => {
    const backend = await open(run());
    await forkAt(2);
    await press("Escape");
    expect([text().includes("Fork from step 3."), location.hash.startsWith("#/run/r0")]).toEqual([
      false,
      true,
    ]);
    await forkAt(2);
    dock("Next message")?.click();
    await until(() => field().placeholder.includes("ask the model again"));
    dock("Copy")?.click();
    await until(() => asked(backend, "fork_run").length === 1);
    expect(forked(backend)).toEqual({
      id: "r0",
      step: 2,
      message: null,
      edit: null,
      model: null,
      run: false,
    });
  });
  it("may have another argument, result or error of a call, and keeps what was written", async () => {
    const backend = await open(run());
    await forkAt(2);
    expect(modes()).toEqual(["Argument sql!", "Result", "Error", "Next message"]);
    expect(field().value).toBe("SELECT id FROM ticket");
    write('SELECT "a"');
    dock("Result")?.click();
    await until(() => field().value === '[{"id": 1}]');
    expect(field().getAttribute("aria-label")).toBe("Result");
    expect(text()).toContain("as if the tool had returned this");
    dock("Argument sql")?.click();
    await until(() => field().value === 'SELECT "a"');
    dock("Run as a new run")?.click();
    await until(() => asked(backend, "fork_run").length === 1);
    expect(forked(backend)).toMatchObject({
      message: null,
      edit: { part: "arguments", text: JSON.stringify({ sql: 'SELECT "a"' }) },
      run: true,
    });
  });
  it("says under the field what is wrong with arguments, and sends nothing until it is right", async () => {
    const backend = await open(run());
    await forkAt(3);
    expect(field().value).toContain('"limit": 3');
    write('{"sql": ');
    const alert = () => all("[role='alert']")[0];
    await until(() => alert()?.textContent.includes("This is not JSON") ?? false);
    expect(field().getAttribute("aria-invalid")).toBe("true");
    expect(field().getAttribute("aria-describedby")).toBe(alert()?.id);
    await press("Enter", { ctrlKey: true });
    expect([dock("Run as a new run")?.disabled, dock("Copy")?.disabled]).toEqual([true, true]);
    write("[1]");
    await until(() => alert()?.textContent.includes("JSON object") ?? false);
    write('{"limit": 123456789012345678901}');
    await until(() => alert() === undefined);
    field().focus();
    await press("Enter", { ctrlKey: true });
    await until(() => asked(backend, "fork_run").length === 1);
    expect(forked(backend)).toMatchObject({
      edit: { part: "arguments", text: '{"limit": 123456789012345678901}' },
    });
  });
  it("with another answer needs the message that follows it", async () => {
    const backend = run();
    backend.replies.editable_step = () => ({
      fields: [{ part: "message", text: "Seven.", argument: null }],
      needs_message: true,
      why_not: null,
    });
    await open(backend);
    await forkAt(1);
    expect(modes()).toEqual(["Reply!", "Next message"]);
    expect(text()).toContain("The model has nothing to answer yet");
    expect([dock("Run as a new run")?.disabled, dock("Copy")?.disabled]).toEqual([true, false]);
    const next = id("write-next") as HTMLTextAreaElement;
    next.value = "Are you sure?";
    next.dispatchEvent(new InputEvent("input", { bubbles: true }));
    write("Eight.");
    next.focus();
    await press("Enter", { ctrlKey: true });
    await until(() => asked(backend, "fork_run").length === 1);
    expect(forked(backend)).toMatchObject({
      message: "Are you sure?",
      edit: { part: "message", text: "Eight." },
    });
  });
  it("may be continued by another model that can run here, the own one first", async () => {
    const backend = await open(run({ model: "replay" }));
    await forkAt(2);
    const select = id("fork-model") as HTMLSelectElement;
    expect([...select.options].map((option) => option.textContent)).toEqual([
      "replay (of this run)",
      "claude",
      "o1 · The key OPENAI_API_KEY is not set",
    ]);
    dock("Next message")?.click();
    select.value = "claude";
    select.dispatchEvent(new Event("change", { bubbles: true }));
    flushSync();
    dock("Run as a new run")?.click();
    await until(() => asked(backend, "fork_run").length === 1);
    expect(forked(backend)).toMatchObject({
      message: null,
      edit: null,
      model: "claude",
      run: true,
    });
  });
  it("says why a step of a search has only a next message", async () => {
    const backend = run();
    backend.replies.editable_step = () => ({
      fields: [],
      needs_message: false,
      why_not: "This run searched for an answer in several tries.",
    });
    await open(backend);
    await forkAt(1);
    expect([modes(), text().includes("searched for an answer in several tries")]).toEqual([
      [],
      true,
    ]);
    expect(field().getAttribute("aria-label")).toBe("Next message");
  });
  it("that is not taken keeps what was written, with the reason", async () => {
    const backend = await open(run());
    backend.replies.fork_run = () =>
      Promise.reject({ code: "failed", message: "The disk is full.", hint: null });
    await forkAt(0);
    await until(() => field().value !== "");
    button("Run as a new run")?.click();
    await until(() =>
      all("[role='alert']").some((one) => one.textContent.includes("The disk is full.")),
    );
    expect(field().value).toBe("Which tickets are open?");
  });
});

describe("a run at work", () => {
  it("says what it does in place of the field, until it is over", async () => {
    const backend = run();
    backend.launches = [
      launched("l1", { runs: [launchRun(0, { turn: 3, doing: "query_tickets" })] }),
    ];
    await open(backend);
    await until(() => id("run-working")?.textContent.includes("turn 3 · query_tickets") ?? false);
    expect(field()).toBeUndefined();
    backend.launches = [
      launched("l1", { state: "done", runs: [launchRun(0, { state: "answered" })] }),
    ];
    backend.tell({ kind: "launches" });
    await until(() => field() !== undefined);
  });
  it("that has no file yet is about to begin, and is shown when it is there", async () => {
    const backend = run();
    const there = backend.replies.open_run;
    backend.replies.open_run = () =>
      Promise.reject({ code: "not_found", message: "The run is not in the index.", hint: null });
    backend.launches = [launched("l1", { runs: [launchRun(0, { turn: 0, doing: null })] })];
    location.hash = "#/run/r0";
    page = mount(App, { target: document.body, props: { backend } });
    await until(() => text().includes("This run is starting"));
    backend.replies.open_run = there;
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => all("[data-testid='step']").length > 0);
  });
});
