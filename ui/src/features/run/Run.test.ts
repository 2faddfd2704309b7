import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { Backend } from "../../backend/backend";
import type { LabelView } from "../../generated";
import { runRow, STATUS } from "../../testing/fakeBackend";
import { group, layOut, OneRun, SMALL, step, table, text, view } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const one = (selector: string) => all(selector)[0];
const id = (testid: string) => one(`[data-testid='${testid}']`);
const said = (testid: string) => id(testid)?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const at = (index: number) => one(`[data-index='${index}']`);
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
async function press(key: string, more: KeyboardEventInit = {}) {
  (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  await tick();
  flushSync();
}
async function open(backend: Backend, hash = "#/run/r0") {
  location.hash = hash;
  page = mount(App, { target: document.body, props: { backend } });
  await until(() =>
    expect(id("step") ?? id("raw") ?? one(".empty") ?? id("run-reading")).toBeDefined(),
  );
  // The sidebar is rendered after the transcript.
  await until(() => expect(all(".beside:empty")).toEqual([]));
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

/** A run whose fourth step is a sub-agent with five steps, the last of which is a sub-agent too. */
const nested = () => {
  const inside = [4, 5, 6].map((index) =>
    step(index, 2, "tool_call", [text(`n${index}`, "sql", `SELECT ${index}`, "sql")], {
      title: `inner_${index}`,
      failed: false,
      depth: 1,
    }),
  );
  const steps = [
    ...SMALL.slice(0, 3),
    step(3, 2, "sub_agent", [text("g3", "contains", "5 events")], { title: "scout" }),
    ...inside,
    step(7, 2, "sub_agent", [text("g7", "contains", "1 event")], { title: "nose", depth: 1 }),
    step(8, 2, "assistant", [text("n8", "message", "deep inside")], { depth: 2 }),
    step(9, 3, "assistant", [text("n9", "message", "after it")]),
  ];
  const groups = [
    group(3, 5, { prompt: "find the tickets", failed: 1, seconds: 2, end: "error" }),
    group(7, 1),
  ];
  return view(steps, {}, { groups });
};

describe("a label in the review of a run", () => {
  const label = (name: string): LabelView => ({
    name,
    question: null,
    schema: { kind: "category", values: ["kind", "rude"] },
    uses: [],
    error: null,
    count: null,
    values: [],
  });
  const fields = () => all("[data-testid=labels] select") as HTMLSelectElement[];
  async function opened(...labels: LabelView[]) {
    const backend = new OneRun(view(SMALL));
    backend.replies.labels = () => labels;
    await open(backend);
    return backend;
  }
  const change = (field: HTMLSelectElement | undefined, value: string) => {
    field!.value = value;
    field!.dispatchEvent(new Event("change", { bubbles: true }));
    flushSync();
  };

  const picker = () => one("[data-testid=label-picker] input") as HTMLInputElement | undefined;
  async function pick(typed: string, ...keys: string[]) {
    await press("l");
    await until(() => expect(picker()).toBeDefined());
    picker()!.focus();
    picker()!.value = typed;
    picker()!.dispatchEvent(new InputEvent("input", { bubbles: true }));
    flushSync();
    for (const key of [...keys, "Enter"]) await press(key);
    await until(() => expect(picker()).toBeUndefined());
  }

  it("gives the keys back to the run once it is chosen in its list", async () => {
    await opened(label("tone"));
    await until(() => expect(fields()).toHaveLength(1));
    fields()[0]!.focus();
    // An arrow goes through the values of a closed list.
    await press("ArrowDown");
    change(fields()[0], "kind");
    expect(document.activeElement).toBe(fields()[0]);
    await new Promise((resolve) => setTimeout(resolve));
    change(fields()[0], "rude");
    await until(() => expect(document.activeElement).not.toBe(fields()[0]));
    fields()[0]!.focus();
    await press("1");
    await until(() => expect(document.activeElement).not.toBe(fields()[0]));
    expect(fields()[0]!.value).toBe("kind");
  });

  it("is given and taken away with l and Enter, and the next key is a verdict", async () => {
    const backend = await opened(label("tone"));
    await pick("rude");
    await until(() => expect(fields().map(({ value }) => value)).toEqual(["rude"]));
    await press("1");
    await until(() =>
      expect(backend.calls.findLast(({ name }) => name === "review_run")?.args).toMatchObject({
        review: { verdict: "right", labels: { tone: "rude" } },
      }),
    );
    await pick("rude");
    await until(() => expect(fields().map(({ value }) => value)).toEqual([""]));
    expect(document.activeElement?.closest("dialog")).toBeNull();
  });

  it("is given by a click, not by a press that is drawn off", async () => {
    await opened(label("tone"));
    await press("l");
    await until(() => expect(picker()).toBeDefined());
    const choice = all("[data-testid=label-picker] [role=option]").find((one) =>
      one.textContent.includes("rude"),
    );
    const down = new MouseEvent("pointerdown", { bubbles: true, cancelable: true });
    choice?.dispatchEvent(down);
    await tick();
    expect([down.defaultPrevented, picker() === undefined]).toEqual([true, false]);
    choice?.click();
    await until(() => expect(fields().map(({ value }) => value)).toEqual(["rude"]));
  });

  it("that is new is made and given in one step", async () => {
    const labels = [label("tone")];
    const backend = await opened(...labels);
    backend.replies.labels = () => [...labels];
    backend.replies.add_label = ({ name, schema }) => {
      labels.push({ ...label(name), schema });
      return null;
    };
    await pick("flaky");
    await until(() => expect(fields().map(({ value }) => value)).toEqual(["", "yes"]));
    expect(backend.calls.find(({ name }) => name === "add_label")?.args).toMatchObject({
      name: "flaky",
      schema: { kind: "category", values: ["yes", "no"] },
    });
  });

  it("with values is made in a form, and given next", async () => {
    const labels = [label("tone")];
    const backend = await opened(...labels);
    backend.replies.labels = () => labels;
    backend.replies.add_label = ({ name }) => {
      labels.push(label(name));
      return null;
    };
    await until(() => expect(fields()).toHaveLength(1));
    await pick("", "ArrowUp");
    await until(() => expect(one("[data-testid=new-label] textarea")).toBeDefined());
    const write = (selector: string, text: string) => {
      const field = one(`[data-testid=new-label] ${selector}`) as HTMLInputElement;
      field.value = text;
      field.dispatchEvent(new InputEvent("input", { bubbles: true }));
      flushSync();
    };
    write("input", "sql");
    write("textarea", "fine");
    one("[data-testid=new-label] [type=submit]")?.click();
    await until(() => {
      expect(id("new-label")).toBeUndefined();
      expect(document.activeElement).toBe(fields()[1]);
    });
  });
});

it("the head of a run has its cost, time and tokens", async () => {
  const paid = view(SMALL, { cost: 0.0123, seconds: 14, tokens: 3214, prompt: "How many?" });
  await open(new OneRun(paid));
  await until(() => expect(said("run-figures")).toBe("$0.0123 · 14.0 s · 3.2k tokens"));
  expect(id("run-figures")?.title).toBe("$0.0123 cost · 14.0 s active time · 3,214 tokens");
});

describe("a failed run", () => {
  it("says its cause with a link to the runs of that cause, and a passing run beside it", async () => {
    const failed = view(SMALL);
    const backend = new OneRun({ ...failed, row: { ...failed.row, passed: false, score: 0 } });
    backend.replies.run_cause = () => ({
      mode: "tool_failed",
      subject: "sql",
      detail: "no such column",
      title: "`sql` failed: no such column",
      step: 2,
      quote: "no such column: x",
      decisive: {
        step: 2,
        baseline: "r9",
        baseline_path: "r9.yaml",
        baseline_name: "agent/o1",
        baseline_of: "same_system",
        instead: 2,
      },
    });
    await open(backend);
    await until(() => expect(said("run-cause")).toContain("Cause: sql failed: no such column"));
    expect(said("run-cause")).toContain("step 3");
    expect(said("run-cause")).toContain(
      "Compare with a passing run of the same system, another model: agent/o1",
    );
    const link = id("run-cause")?.querySelector("a")?.getAttribute("href") ?? "";
    expect(decodeURIComponent(link)).toContain('["tool_failed","sql","no');
  });

  it("that passed asks for no cause", async () => {
    const passed = view(SMALL);
    const backend = new OneRun({ ...passed, row: { ...passed.row, passed: true, score: 1 } });
    await open(backend);
    await until(() => expect(id("step")).toBeDefined());
    expect(backend.calls.some((call) => call.name === "run_cause")).toBe(false);
  });
});

describe("a sub-agent", () => {
  const header = () => at(3)?.querySelector<HTMLElement>(".title");
  it("is one line with its prompt, size and end, and opens in place with its steps", async () => {
    await open(new OneRun(nested()));
    await until(() => expect(at(9)?.textContent).toContain("after it"));
    expect(at(3)?.textContent?.replace(/\s+/g, " ")).toContain(
      "Sub-agent scout ✕ ended in an error find the tickets 5 steps · 1 failed call · 2.0 s",
    );
    expect(at(4)).toBeUndefined();
    header()?.click();
    await until(() => expect(at(8)).toBeDefined());
    expect(at(3)?.textContent).not.toContain("5 events");
    header()?.click();
    await until(() => expect(at(4)).toBeUndefined());
    expect(at(9)).toBeDefined();
  });

  it("is passed by j and k while folded, and folds with f", async () => {
    await open(new OneRun(nested()));
    await until(() => expect(at(9)).toBeDefined());
    at(2)?.focus();
    await press("j");
    await until(() => expect(document.activeElement).toBe(at(3)));
    await press("j");
    await until(() => expect(document.activeElement).toBe(at(9)));
    await press("k");
    await until(() => expect(document.activeElement).toBe(at(3)));
    await press("f");
    await until(() => expect(at(4)).toBeDefined());
    await press("j");
    await until(() => expect(document.activeElement).toBe(at(4)));
    await press("h");
    await until(() => expect(document.activeElement).toBe(at(3)));
  });

  it("stays open while it grows, with the focus on its step", async () => {
    const steps = [
      ...SMALL.slice(0, 2),
      ...[2, 3, 4].flatMap((from, number) => [
        step(2 * from - 2, 2, "sub_agent", [], { title: `agent ${number}` }),
        step(2 * from - 1, 2, "assistant", [text(`a${number}`, "message", `says ${number}`)], {
          depth: 1,
        }),
      ]),
    ];
    const groups = [2, 4, 6].map((at, number) => group(at, 1, { name: `agent ${number}` }));
    const backend = new OneRun(view(steps, {}, { groups }));
    await open(backend);
    await until(() => expect(at(7)?.textContent).toContain("says 2"));
    at(7)?.focus();
    // The first agent says four things more.
    const more = [4, 5, 6, 7].map((index) =>
      step(index, 2, "assistant", [text(`m${index}`, "message", "more")], { depth: 1 }),
    );
    const moved = steps.slice(4).map((one) => ({ ...one, index: one.index + 4 }));
    const grown = [2, 8, 10].map((at, number) =>
      group(at, number === 0 ? 5 : 1, { name: `agent ${number}` }),
    );
    backend.run = view(
      [...steps.slice(0, 4), ...more, ...moved],
      {},
      { groups: grown, version: "v2" },
    );
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => expect(at(11)?.textContent).toContain("says 2"));
    expect(at(5)?.textContent).toContain("more");
    expect(at(11)?.tabIndex).toBe(0);
  });

  it("folded with every other step, keeps the focus on its line", async () => {
    await open(new OneRun(nested()));
    await until(() => expect(at(9)).toBeDefined());
    at(2)?.focus();
    await press("F");
    await until(() => expect(at(8)).toBeDefined());
    at(8)?.focus();
    await press("F");
    await until(() => expect(document.activeElement).toBe(at(3)));
    expect(at(4)).toBeUndefined();
  });

  it("opens for a link to a step in it, with the groups around that step", async () => {
    await open(new OneRun(nested()), "#/run/r0?step=9");
    await until(() => expect(document.activeElement).toBe(at(8)));
    expect(at(8)?.textContent).toContain("deep inside");
  });

  it("opens for a hit of find in it", async () => {
    const backend = new OneRun(nested());
    const pieces = [{ text: "deep inside", hit: true }];
    backend.replies.find_in_run = () => ({
      total: 1,
      matches: [{ step: 8, part: "n8", offset: 0, row: null, pieces }],
    });
    await open(backend);
    await until(() => expect(at(9)).toBeDefined());
    expect(at(8)).toBeUndefined();
    await press("f", { ctrlKey: true });
    const field = one("input[type='search']") as HTMLInputElement;
    field.value = "deep";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await until(() => expect(at(8)?.textContent).toContain("deep inside"));
  });

  it("of ten thousand steps folds to one line, and draws only what is in sight when it opens", async () => {
    const backend = new OneRun(
      view(
        [SMALL[0]!, step(1, 1, "sub_agent", [], { title: "scout" })],
        {},
        {
          total_steps: 10_003,
          groups: [group(1, 10_000)],
        },
      ),
    );
    backend.replies.read_steps = ({ span }) => ({
      version: "v1",
      total_steps: 10_003,
      steps: Array.from({ length: span.limit }, (_, i) =>
        step(span.offset + i, 1, "user", [text(`m${span.offset + i}`, "message", "hello")], {
          depth: 1,
        }),
      ).map((one) => (one.index === 1 ? step(1, 1, "sub_agent", [], { title: "scout" }) : one)),
    });
    await open(backend);
    await until(() => expect(at(10_002)?.textContent).toContain("hello"));
    expect(all("[data-testid='step']").length).toBe(3);
    at(1)?.querySelector<HTMLElement>(".title")?.click();
    await until(() => expect(at(4)?.textContent).toContain("hello"));
    expect(all("[data-testid='step']").length).toBeLessThan(100);
  });
});

describe("the failures of a run", () => {
  it("are gone through with x and X, and go on at the other end", async () => {
    await open(new OneRun(view(SMALL, { passed: null })));
    await until(() => expect(at(6)).toBeDefined());
    at(0)?.focus();
    await press("x");
    await until(() => expect(document.activeElement).toBe(at(3)));
    await until(() => expect(said("toast")).toBe("Failure 1 of 2, step 4"));
    await press("F8");
    await until(() => expect(document.activeElement).toBe(at(6)));
    await press("x");
    await until(() => expect(document.activeElement).toBe(at(3)));
    await until(() =>
      expect(said("toast")).toBe("Failure 1 of 2, step 4. Continued from the top."),
    );
    await press("X");
    await until(() => expect(document.activeElement).toBe(at(6)));
    await until(() => expect(said("toast")).toContain("Continued from the end."));
    await press("X");
    await until(() => expect(document.activeElement).toBe(at(3)));
  });

  it("inside of a folded sub-agent open it", async () => {
    const run = nested();
    const steps = run.steps.map((one) => (one.index === 5 ? { ...one, failed: true } : one));
    await open(new OneRun({ ...run, steps }));
    await until(() => expect(at(9)).toBeDefined());
    at(0)?.focus();
    await press("x");
    await until(() => expect(document.activeElement).toBe(at(5)));
  });

  it("in other runs of the list are gone to with ] and [", async () => {
    const backend = new OneRun(view(SMALL));
    const asked: unknown[] = [];
    const around = backend.replies.runs_around;
    backend.replies.runs_around = (args) => {
      if (!args.filter.includes("class:")) return around(args);
      asked.push(args.filter);
      return { offset: 0, before: 1, total: 2, ids: ["r5", "r9"] };
    };
    await open(backend, "#/run/r0?q=model:o1");
    await press("]");
    await until(() => expect(location.hash).toContain("#/run/r9"));
    expect(asked).toEqual([
      "model:o1 class:wrong_answer,no_answer,missing_tool_call,tool_error,gave_up,system_error,timeout",
    ]);
    await until(() => expect(at(0)).toBeDefined());
    await press("[");
    await until(() => expect(location.hash).toContain("#/run/r5"));
    await until(() => expect(at(0)).toBeDefined());
    await press("[");
    await until(() => expect(said("toast")).toBe("No earlier failed run in the list."));
  });
});

describe("the minimap", () => {
  it("says where one is, and its arrow keys go from step to step", async () => {
    await open(new OneRun(view(SMALL)));
    const strip = () => one("[data-testid='minimap'] [role='slider']");
    await until(() => expect(strip()).toBeDefined());
    expect(strip()?.getAttribute("aria-valuemax")).toBe("7");
    strip()?.focus();
    await press("End");
    await until(() => expect(strip()?.getAttribute("aria-valuenow")).toBe("7"));
    expect(strip()?.getAttribute("aria-valuetext")).toBe("Step 7 · error · failed");
    expect(document.activeElement).toBe(strip());
    await press("ArrowUp");
    await until(() => expect(strip()?.getAttribute("aria-valuenow")).toBe("6"));
  });

  it("shows tokens, time or steps, whichever are known", async () => {
    await open(new OneRun(view(SMALL)));
    const by = () => one("[data-testid='minimap'] .by");
    await until(() => expect(by()?.textContent).toBe("tok"));
    by()?.click();
    await until(() => expect(by()?.textContent).toBe("all"));
    by()?.click();
    await until(() => expect(by()?.textContent).toBe("sec"));
  });

  it("is left out of a run that is seen whole", async () => {
    await open(new OneRun(view(SMALL.slice(0, 3))));
    await until(() => expect(at(2)).toBeDefined());
    expect(id("minimap")).toBeUndefined();
  });
});

describe("the tree of forks", () => {
  it("shows every relative with its score, and leads to it", async () => {
    const node = (id: string | null, path: string, depth: number, score: number | null) => ({
      id,
      path,
      step: depth === 0 ? null : 2,
      depth,
      state: "answered" as const,
      passed: score === null ? null : score === 1,
      score,
    });
    const tree = [
      node("r3", "a-o1.yaml", 0, 1),
      node("r0", "a-o1-fork1.yaml", 1, 0.3),
      node("r4", "a-o1-fork2.yaml", 2, null),
    ];
    const lineage = { origin: null, edited: null, forks: [], fork_count: 1, tree };
    await open(new OneRun(view(SMALL, {}, { lineage })));
    await until(() => expect(id("lineage-tree")).toBeDefined());
    const lines = all("[data-testid='lineage-tree'] li");
    expect(lines.map((line) => line.textContent?.replace(/\s+/g, " ").trim())).toEqual([
      "a-o1 Right 1.00",
      "level 2: …fork1 this run from step 3 Wrong 0.30",
      "level 3: …fork2 from step 3 Answered",
    ]);
    expect(lines[1]?.getAttribute("aria-current")).toBe("true");
    expect(lines[0]?.querySelector("a")?.getAttribute("href")).toBe("#/run/r3");
  });
});

describe("the export of a run", () => {
  it("is saved in the chosen format, and shows what was redacted", async () => {
    const backend = new OneRun(view(SMALL, { format: "codex" }), "window");
    const asked: unknown[] = [];
    backend.replies.save_export = ({ request }) => {
      asked.push(request);
      return ["2 places were redacted: 2 keys."];
    };
    await open(backend);
    one("button[title='Export the run']")?.click();
    await until(() => expect(id("run-export")).toBeDefined());
    const box = one("[data-testid='run-export'] input[type='checkbox']") as HTMLInputElement;
    expect(box.checked).toBe(true);
    one("[data-testid='run-export'] input[value='inspect_json']")?.click();
    flushSync();
    document.querySelector<HTMLFormElement>("[data-testid='run-export'] form")?.requestSubmit();
    await until(() => expect(said("run-export")).toContain("2 places were redacted"));
    expect(said("run-export")).toContain("Saved.");
    expect(asked).toEqual([
      { id: "r0", format: "inspect_json", redact: null, include_sensitive: false },
    ]);
    box.click();
    flushSync();
    document.querySelector<HTMLFormElement>("[data-testid='run-export'] form")?.requestSubmit();
    await until(() => expect(asked).toHaveLength(2));
    expect(asked[1]).toMatchObject({ redact: false });
  });
});

describe("a transcript", () => {
  it("shows who said what, numbers the steps, and folds only the calls that went well", async () => {
    await open(new OneRun(view(SMALL)));
    await until(() => expect(all("[data-testid='step']").length).toBe(7));
    expect(all("[data-testid='step-number']").map((number) => number.textContent)).toEqual(
      SMALL.map((_, index) => `${index + 1}`),
    );
    expect(at(2)?.getAttribute("aria-label")).toBe("Step 3: query_tickets");
    expect(at(2)?.getAttribute("aria-posinset")).toBe("3");
    expect(at(1)?.textContent).toContain("3.1 s · 412 tokens");
    const [good, bad] = all("[data-testid='tool-call']");
    expect(good?.textContent).toContain("SELECT id FROM ticket");
    expect(good?.textContent).toContain("30 rows · 41 ms");
    expect(good?.querySelector("button")?.getAttribute("aria-expanded")).toBe("false");
    expect(bad?.querySelector("button")?.getAttribute("aria-expanded")).toBe("true");
    expect(bad?.textContent).toContain("no such table: nowhere");
    expect(at(4)?.textContent).toContain("nudge");
    expect(at(5)?.textContent).toContain("12345678901234");
    expect(at(6)?.textContent).toContain("Rerun it");
  });

  it("calls later messages of a person follow-ups", async () => {
    const chat = view(SMALL);
    await open(new OneRun({ ...chat, row: { ...chat.row, nudges: 1, follow_ups: 1 } }));
    await until(() => expect(at(4)?.textContent).toContain("follow-up"));
    expect(at(4)?.textContent).not.toContain("nudge");
  });

  it("moves with j and k, folds with f, and folds everything with F", async () => {
    await open(new OneRun(view(SMALL)));
    await until(() => expect(at(2)).toBeDefined());
    at(2)?.focus();
    await press("f");
    expect(at(2)?.querySelector(".title")?.getAttribute("aria-expanded")).toBe("true");
    await press("F");
    expect(
      all("[data-testid='step'] [aria-expanded='false']").filter((button) =>
        button.matches(".title, .fold"),
      ),
    ).toEqual([]);
    await press("F");
    expect(
      all(
        "[data-testid='step'] .title[aria-expanded='true'], [data-testid='step'] .fold[aria-expanded='true']",
      ),
    ).toEqual([]);
  });

  it("of a hundred thousand steps draws and reads only what is in sight", async () => {
    const backend = new OneRun(view(SMALL.slice(0, 1), {}, { total_steps: 100_000 }));
    backend.replies.read_steps = ({ span }) => ({
      version: "v1",
      total_steps: 100_000,
      steps: Array.from({ length: span.limit }, (_, i) =>
        step(span.offset + i, span.offset + i + 1, "user", [
          text(`m${span.offset + i}`, "message", "hello"),
        ]),
      ),
    });
    await open(backend);
    await until(() => expect(at(3)?.textContent).toContain("hello"));
    expect(all("[data-testid='step']").length).toBeLessThan(100);
    const asked = backend.calls
      .filter((call) => call.name === "read_steps")
      .map((call) => (call.args as { span: { limit: number } }).span.limit);
    expect(asked.length).toBeLessThan(5);
    for (const limit of asked) expect(limit).toBeLessThanOrEqual(50);
  });

  it("that grows keeps what was folded and shows what is new", async () => {
    const backend = new OneRun(view(SMALL.slice(0, 4)));
    await open(backend);
    await until(() => expect(at(3)).toBeDefined());
    at(2)?.querySelector<HTMLElement>(".title")?.click();
    await tick();
    backend.run = view(SMALL, {}, { version: "v2" });
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => expect(at(6)?.textContent).toContain("429"));
    expect(at(2)?.querySelector(".title")?.getAttribute("aria-expanded")).toBe("true");
  });

  it("whose file is gone stays in sight and says so", async () => {
    const backend = new OneRun(view(SMALL));
    await open(backend);
    backend.replies.open_run = () =>
      Promise.reject({ code: "not_found", message: "The run is not in the index.", hint: null });
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => expect(one("[role='alert']")?.textContent).toContain("was moved or deleted"));
    expect(at(0)?.textContent).toContain("Which tickets are open?");
  });

  it("draws a long message whole once its rest was read", async () => {
    const head = "# Top\n\nfirst words";
    const cut = {
      ...text("p0", "message", head, "markdown"),
      bytes: 9000,
      body: { kind: "text" as const, language: "markdown" as const, text: head, whole: false },
    };
    const backend = new OneRun(view([step(0, 1, "assistant", [cut])]));
    backend.replies.read_text = ({ offset }) =>
      offset === 0
        ? { text: `${head} and **then`, offset, next: 30, total: 60 }
        : { text: " some**\n", offset, next: null, total: 60 };
    await open(backend);
    all("button")
      .find((button) => button.textContent === "show all (8.8 KB)")
      ?.click();
    await until(() => expect(one(".markdown strong")?.textContent).toBe("then some"));
  });

  it("shows more steps when the engine answers with fewer than were asked for", async () => {
    const backend = new OneRun(view(SMALL, {}, { steps: [] }));
    backend.replies.read_steps = ({ span }) => ({
      version: "v1",
      total_steps: 7,
      steps: SMALL.slice(span.offset, span.offset + 2),
    });
    await open(backend);
    await until(() => expect(at(6)?.textContent).toContain("429"));
  });
});

describe("a hostile transcript", () => {
  const EVIL =
    "<script>alert(1)</script><img src=x onerror=alert(1)><iframe srcdoc=x></iframe>" +
    "<a href='javascript:1'>x</a> [l](javascript:alert(1)) ![i](https://evil.example/p.png) \u202Egpj";
  it("ends in text nodes, loads nothing, and its hidden characters are seen", async () => {
    const parts = (n: number) => [
      text(`e${n}`, EVIL, EVIL, "markdown"),
      text(`f${n}`, "sql", EVIL, "sql"),
      text(`g${n}`, "output", `\u001b[31m${EVIL}`),
      {
        ...table(`h${n}`, "result", 1),
        body: {
          kind: "table" as const,
          columns: [{ name: EVIL, numeric: false }],
          rows: [[{ text: EVIL, kind: "text" as const }]],
          total: 1,
        },
      },
    ];
    const steps = [
      step(0, 1, "user", [text("e", "message", EVIL, "markdown")]),
      step(1, 2, "tool_call", parts(1), { title: EVIL, failed: true }),
      step(
        2,
        2,
        "unknown",
        [
          {
            ...text("k", EVIL, ""),
            body: { kind: "value", text: JSON.stringify({ [EVIL]: [EVIL] }), whole: true },
          },
        ],
        { title: EVIL },
      ),
    ];
    await open(
      new OneRun(
        view(
          steps,
          { task: EVIL, model: EVIL, system: EVIL, variation_name: EVIL, reason: EVIL },
          { notes: [EVIL], facts: [{ key: EVIL, part: text("x", "x", EVIL) }] },
        ),
      ),
    );
    await until(() => expect(at(2)).toBeDefined());
    const main = one("main");
    expect(
      main?.querySelectorAll(
        "script, img, iframe, object, embed, a, link, style, form, base, meta",
      ),
    ).toHaveLength(0);
    for (const element of all("main *"))
      for (const name of element.getAttributeNames())
        expect(name).not.toMatch(/^on|^href$|^src|^style$(?!)/);
    expect(main?.textContent).toContain("<script>alert(1)</script>");
    expect(main?.textContent).not.toContain("\u202E");
    expect(main?.textContent).toContain("U+202E");
  });

  it("offers to open a link only where a page can open another", async () => {
    const steps = [
      step(0, 1, "assistant", [
        text("l", "message", "see [docs](https://example.org/)", "markdown"),
      ]),
    ];
    for (const [door, offered] of [
      ["window", ["copy"]],
      ["served", ["copy", "open"]],
    ] as const) {
      await open(new OneRun(view(steps), door));
      one(".markdown button.link")?.click();
      await tick();
      expect(all(".markdown .target button").map((button) => button.textContent)).toEqual(offered);
      if (page) await unmount(page);
    }
    page = undefined;
  });
  it("shows where a link leads and goes nowhere", async () => {
    await open(
      new OneRun(
        view([
          step(0, 1, "assistant", [
            text("l", "message", "see [docs](https://example.org/a?b=1)", "markdown"),
          ]),
        ]),
      ),
    );
    const before = location.href;
    one(".markdown button.link")?.click();
    await tick();
    expect(one(".markdown")?.textContent).toContain("https://example.org/a?b=1");
    expect(location.href).toBe(before);
  });
});

describe("beside the transcript", () => {
  it("stand the answer, what was expected, and the calls that never happened", async () => {
    const task = {
      id: "t",
      file: "suites/t.yaml",
      parameters: [],
      prompt: null,
      expected: table("x", "expected", 2),
      user: null,
      expected_tool_calls: ["query_tickets", "query_plans"],
    };
    await open(
      new OneRun(
        view(
          SMALL,
          { missing_calls: ["query_plans"] },
          {
            task,
            answer: { part: table("a", "answer", 3), source: "last json fence", lenient: true },
          },
        ),
      ),
    );
    expect(said("answer")).toContain("from the last json fence");
    expect(said("answer")).toContain("parsed leniently");
    expect(id("expected")?.querySelectorAll("[role='row']")).toHaveLength(3);
    expect(one("aside")?.textContent).toMatch(/query_plans\s*never called/);
    expect(one("aside")?.textContent).not.toMatch(/query_tickets\s*never called/);
  });
  it("stand the goal of a simulated user and who it is; a prompt is called so", async () => {
    const clip = (of: string) => ({ text: of, cut: false });
    const task = {
      id: "t",
      file: "suites/t.yaml",
      parameters: [],
      prompt: text("prompt", "prompt", "Get a refund."),
      expected: null,
      user: {
        persona: clip("Impatient."),
        goal: clip("Get a refund."),
        knows: clip("order 7"),
        satisfied_when: null,
        max_turns: 4,
        model: null,
      },
      expected_tool_calls: [],
    };
    const backend = new OneRun(view(SMALL, {}, { task }));
    await open(backend);
    const heads = () => all("aside h3").map((heading) => heading.textContent.trim());
    await until(() => expect(heads()).toContain("Goal"));
    expect(heads()).not.toContain("Prompt");
    expect(said("run-user").replace(/\s+/g, " ")).toContain("persona Impatient.knows order 7");
    expect(one("aside")?.textContent).toContain("4 messages at most");
  });
  it("no answer is said in words", async () => {
    await open(new OneRun(view(SMALL, { state: "waiting" })));
    expect(said("answer")).toContain("No answer. The run is paused and can be continued.");
  });
});

describe("the page of a run", () => {
  it("says where it stands in the list and goes to its neighbours without filling the history", async () => {
    await open(new OneRun(view(SMALL)), "#/run/r5?q=r5");
    await until(() => expect(said("run-position")).toBe("6 of 120"));
    const length = history.length;
    await press("J");
    await until(() => expect(location.hash).toContain("run/r6"));
    expect(location.hash).toContain("q=r5");
    expect(history.length).toBe(length);
  });

  it("has the prompt in its header", async () => {
    await open(new OneRun(view(SMALL, { prompt: "Count the stones." })));
    await until(() => expect(said("run-prompt").trim()).toBe("Prompt: Count the stones."));
  });

  it("is called by its prompt if it has no task, and has its file below", async () => {
    await open(
      new OneRun(view(SMALL, { task: null, prompt: "Count the stones.", path: "a.jsonl#7" })),
    );
    await until(() => expect(said("run-prompt").trim()).toBe("File: a.jsonl#7"));
    expect(all("h1").map((heading) => heading.textContent.trim())).toEqual(["Count the stones."]);
  });

  it("shows the prompt of the task once: in its step, above a transcript without it, or beside the answer", async () => {
    const task = {
      id: "t",
      file: "suites/t.yaml",
      parameters: [],
      prompt: text("prompt", "prompt", "Which tickets\nare open?"),
      expected: null,
      user: null,
      expected_tool_calls: [],
    };
    const shown = () => [
      said("transcript-prompt").includes("are open?"),
      all("aside h3").some((heading) => heading.textContent.trim() === "Prompt"),
    ];
    for (const [prompt, places] of [
      ["Which tickets are…", [false, false]],
      [null, [true, false]],
      ["Something else", [false, true]],
    ] as const) {
      await open(new OneRun(view(SMALL, { prompt }, { task })));
      await until(() => expect(one("aside h2")).toBeDefined());
      expect(shown()).toEqual(places);
      await press("a");
      await until(() => expect(shown()).toEqual([false, true]));
      if (page) await unmount(page);
      page = undefined;
      document.body.replaceChildren();
    }
  });

  it("says no variation where its task has only one", async () => {
    await open(new OneRun(view(SMALL, { variation: 0, variation_name: null, scoring: "scored" })));
    await until(() => expect(one("h1")).not.toBeNull());
    expect(one(".who")?.textContent).not.toContain("variation");
  });

  it("is disabled at the ends of the list", async () => {
    await open(new OneRun(view(SMALL)));
    await until(() => expect(said("run-position")).toBe("1 of 120"));
    expect(one("[aria-label='Previous run']")?.hasAttribute("disabled")).toBe(true);
    expect(one("[aria-label='Next run']")?.hasAttribute("disabled")).toBe(false);
  });

  it("that is large says how much was read, and can be stopped and left", async () => {
    const backend = new OneRun(view(SMALL));
    let fail: (reason: unknown) => void = () => undefined;
    backend.replies.open_run = () => new Promise<never>((_, reject) => (fail = reject));
    backend.replies.run_reading = () => ({ read: 76_250_000, total: 305_000_000 });
    backend.replies.run_beginning = () => ({ steps: view(SMALL).steps.slice(0, 2) });
    await open(backend);
    await until(() =>
      expect(one("[data-testid='run-beginning']")?.querySelectorAll("li")).toHaveLength(2),
    );
    const reading = () => one("[data-testid='run-reading']");
    await until(() => expect(reading()?.textContent).toContain("Reading 291 MB: 25 %"));
    const stops = () => backend.calls.filter((call) => call.name === "stop_reading_run");
    expect(stops()).toHaveLength(0);
    all("button")
      .find((button) => button.textContent === "Stop")
      ?.click();
    await until(() => expect(stops()).toHaveLength(1));
    fail({ code: "failed", message: "Reading this run was stopped.", hint: "Open it again." });
    await until(() =>
      expect(one(".empty")?.textContent).toContain("Reading this run was stopped."),
    );
    expect(stops()).toHaveLength(1);
  });

  it("whose folder is gone says so, and not that it holds nothing", async () => {
    const backend = new OneRun(view([], { format: "messages" }));
    const phase = {
      kind: "failed",
      reason: "Folder not found: /x.",
      hint: "Put it back.",
    } as const;
    backend.replies.status = () => ({ ...STATUS, phase });
    await open(backend);
    await until(() => expect(one(".trouble h2")?.textContent).toContain("cannot be read"));
    expect(one(".trouble:has(h2)")?.textContent).toContain("Folder not found: /x.");
    expect(document.body.textContent).not.toContain("holds no message");
    expect(id("dock")).toBeUndefined();
  });

  it("that cannot be opened says why and tries again", async () => {
    const backend = new OneRun(view(SMALL));
    const good = backend.replies.open_run;
    backend.replies.open_run = () =>
      Promise.reject({
        code: "failed",
        message: "The file could not be read.",
        hint: "Check its permissions.",
      });
    await open(backend);
    expect(all("h1").map((heading) => heading.textContent)).toEqual([
      "This run could not be opened",
    ]);
    expect(one(".empty")?.textContent).toContain(
      "The file could not be read. Check its permissions.",
    );
    backend.replies.open_run = good;
    all("button")
      .find((button) => button.textContent === "Try again")
      ?.click();
    await until(() => expect(at(0)).toBeDefined());
  });

  it("of a run that waits says once that it waits and for what, and nothing of a score", async () => {
    await open(
      new OneRun(
        view(SMALL, {
          state: "waiting",
          reason: "Ends with the result of a tool.",
          scoring: "not_ended",
          score: null,
          passed: null,
          class: null,
          score_reason: "The run has not ended.",
          nudges: 0,
        }),
      ),
    );
    expect(id("score-chip")).toBeUndefined();
    expect(one(".who")?.textContent.replace(/\s+/g, " ")).toMatch(
      / Paused Ends with the result of a tool\. \$0\.00 · 0 ms · 900 tokens$/,
    );
  });

  it("of a damaged file shows the reason, the line and the file", async () => {
    const backend = new OneRun(view([], { state: "damaged", reason: "line 2" }));
    backend.replies.problems = () => ({
      total: 1,
      no_runs: 0,
      problems: [
        {
          kind: "damaged",
          file: "a.yaml",
          run: "r0",
          message: "A key stands where a value was expected.",
          line: 2,
          column: 3,
          excerpt: "  x: : y",
          advice: "Put it in quotes.",
        },
      ],
    });
    await open(backend);
    await until(() =>
      expect(one("[role='alert']")?.textContent).toContain(
        "A key stands where a value was expected.",
      ),
    );
    expect(one("[role='alert']")?.textContent).toContain("line 2, column 3");
    expect(one("[role='alert']")?.textContent).toContain("Put it in quotes.");
    await until(() => expect(id("raw")?.textContent).toContain("second line"));
  });

  it("finds text, opens the folded step it is in, and gives way to Escape", async () => {
    const backend = new OneRun(view(SMALL));
    await open(backend);
    await press("f", { ctrlKey: true });
    const input = one("[data-testid='find'] input") as HTMLInputElement;
    input.value = "select";
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await until(() => expect(id("find")?.textContent).toContain("1 of 1"));
    await until(() =>
      expect(at(2)?.querySelector(".title")?.getAttribute("aria-expanded")).toBe("true"),
    );
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    await tick();
    expect(id("find")).toBeUndefined();
    expect(location.hash).toContain("#/run/r0");
  });

  it("opens at what the list was filtered by, takes it along to the next run, and leaves by one Escape", async () => {
    const backend = new OneRun(view(SMALL));
    const snippet = {
      step: 2,
      pieces: [
        { text: "select id from ", hit: false },
        { text: "Ticket", hit: true },
      ],
    };
    backend.replies.list_runs = () => ({
      total: 2,
      generation: 1,
      rows: [0, 1].map((index) => runRow(index, { snippet })),
      misread: [],
    });
    location.hash = "#/runs?q=state%3Aerror+ticket";
    page = mount(App, { target: document.body, props: { backend } });
    await until(() => expect(all("[data-testid='run-row'] .found mark")).toHaveLength(2));
    one("[data-id='r0']")?.click();
    await until(() => expect(location.hash).toContain("find=ticket"));
    await until(() => expect(id("find")?.textContent).toContain("1 of 1"));
    await until(() =>
      expect(at(2)?.querySelector(".title")?.getAttribute("aria-expanded")).toBe("true"),
    );
    expect(backend.calls.find((call) => call.name === "find_in_run")?.args).toEqual({
      id: "r0",
      text: "ticket",
    });
    expect(document.activeElement?.matches("input")).toBe(false);
    await press("J");
    await until(() =>
      expect(
        backend.calls.some(
          (call) => call.name === "find_in_run" && (call.args as { id: string }).id === "r1",
        ),
      ).toBe(true),
    );
    await press("Escape");
    await until(() => expect(location.hash).toBe("#/runs?q=state%3Aerror+ticket"));
  });

  it("has the focus on its heading when it opens, and leaves its answer for the transcript first", async () => {
    await open(new OneRun(view(SMALL)));
    await until(() => expect(document.activeElement).toBe(one("h1")));
    await press("a");
    await until(() => expect(location.hash).toContain("view=answer"));
    await press("Escape");
    await until(() => expect(location.hash).toMatch(/^#\/run\/r0(?!.*view=answer)/));
    expect(id("transcript")).toBeDefined();
    await press("Escape");
    await until(() => expect(location.hash).toContain("#/runs"));
  });

  it("shows the file as it is on disk", async () => {
    await open(new OneRun(view(SMALL)));
    await press("u");
    await until(() => expect(id("raw")?.textContent).toContain("text of raw:0"));
    expect(id("transcript")).toBeUndefined();
  });

  it("sorts a table by asking for its rows in that order, and shows all of them", async () => {
    const backend = new OneRun(
      view([step(0, 1, "artifact", [table("t", "data", 30)], { title: "rows" })]),
    );
    await open(backend);
    await until(() => expect(one(".grid")).toBeDefined());
    one(".th button")?.click();
    await until(() => expect(one(".grid .td")?.textContent).toBe("999"));
    all(".grid button")
      .find((button) => button.textContent?.includes("20 more rows"))
      ?.click();
    await until(() => expect(all(".grid .td")).toHaveLength(30));
    expect(backend.calls.find((call) => call.name === "read_rows")?.args).toMatchObject({
      part: "t",
      request: { column: 0, descending: true },
    });
  });
});

describe("beside the transcript", () => {
  const PACE = {
    turns: [
      { turn: 2, step: 1, model: 3.1, tools: 0.041 },
      { turn: 4, step: 5, model: null, tools: 2 },
    ],
    more: 0,
  };

  it("a bar for each turn says how long model and tools took, and leads to the turn", async () => {
    await open(new OneRun(view(SMALL, {}, { pace: PACE })));
    await until(() => expect(id("pace")).toBeDefined());
    expect(said("pace")).toContain("model 3.1 s, tools 2.0 s");
    const rows = all("[data-testid='pace'] li button");
    expect(rows.map((row) => row.getAttribute("aria-label"))).toEqual([
      "Step 2, turn 2: model 3.1 s, tools 41 ms",
      "Step 6, turn 4: model unknown, tools 2.0 s",
    ]);
    rows[1]?.click();
    await until(() => expect(document.activeElement).toBe(at(5)));
  });

  it("a run whose files tell no time has no bars", async () => {
    await open(new OneRun(view(SMALL)));
    expect(id("files")).toBeDefined();
    expect(id("pace")).toBeUndefined();
  });

  it("the window shows a file where it lies, says why when it cannot, and a served page offers only its path", async () => {
    const backend = new OneRun(view(SMALL), "window");
    await open(backend);
    const reveal = () => one("[aria-label='Reveal a.yaml']");
    reveal()?.click();
    await until(() =>
      expect(
        backend.calls.filter((call) => call.name === "reveal_file").map((call) => call.args),
      ).toEqual([{ id: "r0", file: 0 }]),
    );
    backend.replies.reveal_file = () =>
      Promise.reject({
        code: "failed",
        message: "No file manager of this desktop answered.",
        hint: "Copy the path instead.",
      });
    reveal()?.click();
    await until(() =>
      expect(
        one("[data-testid='files'] [role='alert']")?.textContent.replace(/\s+/g, " "),
      ).toContain("No file manager of this desktop answered. Copy the path instead."),
    );
    if (page) await unmount(page);
    document.body.replaceChildren();
    await open(new OneRun(view(SMALL)));
    expect(reveal()).toBeUndefined();
    expect(said("files")).toContain("copy path");
  });
});
