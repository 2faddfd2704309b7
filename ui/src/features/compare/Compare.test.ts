import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { beside, comparedRun, line } from "../../testing/compare";
import { Fixture, runRow } from "../../testing/fakeBackend";
import type { StoredResult } from "../../generated";
import { layOut, step, table, text } from "../../testing/runs";

let app: ReturnType<typeof mount> | undefined;
let away: () => void;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const id = (testid: string) => all(`[data-testid="${testid}"]`);
const said = () => document.body.textContent.replace(/\s+/g, " ");
const until = (fn: () => void) =>
  vi.waitFor(() => (flushSync(), fn()), { timeout: 5_000, interval: 10 });
const rowAt = (at: number) => all(`[data-row='${at}']`)[0];
const row = () => /row=(\d+)/.exec(location.hash)?.[1];
async function press(key: string) {
  (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
  );
  await tick();
  flushSync();
}
const call = (index: number) =>
  step(
    index,
    1 + index,
    "tool_call",
    [
      text(`s${index}`, "sql", `SELECT id FROM tickets_${index}`, "sql"),
      table(`r${index}`, "result", 3),
    ],
    { title: "query_tickets", failed: index === 9 },
  );

/** All its runs have the same twelve calls. */
function backend(): Fixture {
  const fixture = new Fixture();
  fixture.replies.read_steps = ({ version, span }) => ({
    version,
    total_steps: 12,
    steps: Array.from({ length: Math.min(span.limit, 12 - span.offset) }, (_, at) =>
      call(span.offset + at),
    ),
  });
  fixture.replies.read_rows = () => ({ rows: [], total: 3 });
  return fixture;
}
async function open(fixture: Fixture, hash = "#/compare?run=r0&run=r1") {
  history.replaceState(null, "", hash);
  app = mount(App, { target: document.body, props: { backend: fixture } });
  await until(() => expect(all("main.compare").length).toBe(1));
  return fixture;
}

beforeEach(() => {
  away = layOut();
});
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
  away();
});

describe("runs beside each other", () => {
  it("say which they are, how they ended, and where they part", async () => {
    await open(backend());
    await until(() => expect(id("compared-run").length).toBe(2));
    expect(id("compared-run")[0]?.textContent).toContain("baseline");
    expect(id("compared-run")[1]?.textContent).toMatch(
      /against .*: 8 of 10 rows right.*differs for good from step 7/s,
    );
    expect(said()).toContain("Differs for good from here");
  });

  it.each(["wheel", "pointerdown", "touchmove", "keydown"])(
    "open where they part, unless a %s says that the person goes elsewhere",
    async (kind) => {
      const rect = Element.prototype.getBoundingClientRect;
      // A row that is never wholly in sight, so that it is sought on and on.
      Element.prototype.getBoundingClientRect = function () {
        const box = rect.call(this);
        return this.matches("[data-row='6']")
          ? { ...box, top: 100, bottom: 200, height: 100 }
          : box;
      };
      await open(backend());
      const scroller = () => id("compare-scroll")[0]!;
      const scrolled = () => Math.abs(id("compare-scroll")[0]?.scrollTop ?? 0);
      await until(() => expect(scrolled()).toBeGreaterThan(200));
      const target = kind === "keydown" ? document.body : scroller();
      target.dispatchEvent(new KeyboardEvent(kind, { key: "Shift", bubbles: true }));
      await new Promise(requestAnimationFrame);
      const at = scrolled();
      for (let frames = 0; frames < 5; frames++) await new Promise(requestAnimationFrame);
      expect(scrolled()).toBe(at);
    },
  );

  it("have a line for each evaluator of which something is stored, with what is missing told apart", async () => {
    const said = (result: StoredResult, score: string | null) => ({
      evaluator: "relevance",
      result,
      score,
      word: null,
      threshold: null,
      reason: null,
    });
    const fixture = backend();
    fixture.replies.compare_runs = () =>
      beside([runRow(0), runRow(1)], {
        stored: [
          { evaluator: "relevance", said: [said("fail", "1.0"), null] },
          { evaluator: "tone", said: [said("error", null), said("none", null)] },
        ],
      });
    await open(fixture);
    await until(() => expect(id("compared-stored").length).toBe(1));
    const lines = [...(id("compared-stored")[0]?.querySelectorAll("tbody tr") ?? [])].map((line) =>
      [...line.children].map((cell) => cell.textContent.replace(/\s+/g, " ").trim()).join(" "),
    );
    expect(lines).toEqual([
      "relevance 1.0 does not pass – no verdict",
      "tone evaluator failed no result",
    ]);
  });

  it("fold equal steps into one line, which opens and folds again", async () => {
    await open(backend());
    await until(() => expect(id("compare-fold").map((fold) => fold.textContent)).toHaveLength(2));
    expect(id("compare-fold")[0]?.textContent).toContain("3 steps, 1 reworded");
    id("compare-fold")[0]?.querySelector("button")?.click();
    await until(() => expect(document.activeElement).toBe(rowAt(0)));
    expect(id("compare-fold")).toHaveLength(1);
    await press("f");
    await until(() => expect(id("compare-fold")).toHaveLength(2));
  });

  it("show the step that was edited in a fork by itself, with a link in its header", async () => {
    const fixture = backend();
    const compared = beside([runRow(0), runRow(1, { lineage: "fork" })]);
    const runs = compared.runs.map((run, at) => ({ ...run, edited: at === 1 ? 1 : null }));
    fixture.replies.compare_runs = () => ({ ...compared, runs });
    await open(fixture);
    await until(() => expect(rowAt(1)?.querySelector(".edited")?.textContent).toBe("edited"));
    expect(rowAt(1)?.querySelectorAll(".edited")).toHaveLength(1);
    expect(
      id("compare-fold")
        .map((fold) => fold.textContent)
        .join(),
    ).not.toContain("reworded");
    const link = id("compared-run")[1]?.querySelector<HTMLElement>(".relation .link");
    expect(link?.textContent).toBe("edited step 2");
    link?.click();
    await until(() => expect(document.activeElement).toBe(rowAt(1)));
  });

  it("show in place what differs from the first, and each other step as it is", async () => {
    const fixture = await open(backend());
    await until(() => expect(rowAt(6)?.textContent).toContain("tickets_6"));
    await until(() => expect(rowAt(6)?.querySelector("ins")?.textContent).toBe("tickets_6"));
    expect(rowAt(6)?.querySelector("del")?.textContent).toBe("ticket");
    expect(rowAt(7)?.textContent).toContain("no step here");
    const asked = fixture.calls.filter(({ name }) => name === "diff_steps").map(({ args }) => args);
    expect(asked).toContainEqual({
      left: { id: "r0", version: "v1", step: 6 },
      right: { id: "r1", version: "v1", step: 6 },
    });
    expect(JSON.stringify(asked)).not.toContain('"step":0');
  });

  it("show an open step in the same form in both columns, which one switch changes", async () => {
    await open(backend());
    await until(() => expect(rowAt(6)?.querySelector("ins")).not.toBeNull());
    await press("d");
    await press("Enter");
    const boxes = () =>
      [...(rowAt(6)?.querySelectorAll(".body .pieces") ?? [])].map((box) => box.textContent.trim());
    await until(() =>
      expect(boxes()).toEqual(["SELECT id FROM ticket", "SELECT id FROM tickets_6"]),
    );
    const [off] = [...(rowAt(6)?.querySelectorAll<HTMLElement>(".switch") ?? [])];
    off?.click();
    await until(() => expect(boxes()).toEqual([]));
    expect(rowAt(6)?.querySelectorAll("[data-part^='s6']")).toHaveLength(2);
  });

  it("walk from difference to difference with d and D, and keep the row in the address", async () => {
    await open(backend());
    await until(() => expect(rowAt(6)).toBeDefined());
    for (const [key, at] of [
      ["d", 6],
      ["d", 7],
      ["d", 9],
      ["d", 3],
      ["D", 9],
    ] as const) {
      await press(key);
      await until(() => expect(document.activeElement).toBe(rowAt(at)));
    }
    await until(() => expect(row()).toBe("9"));
  });

  it("move with j and k, and show a row whole with Enter", async () => {
    await open(backend());
    await until(() => expect(rowAt(3)?.textContent).toContain("tickets_3"));
    await press("j");
    await press("j");
    await until(() => expect(document.activeElement).toBe(rowAt(3)));
    expect(rowAt(3)?.querySelectorAll("[data-part]")).toHaveLength(0);
    await press("Enter");
    await until(() => expect(rowAt(3)?.querySelectorAll("[data-part]").length).toBeGreaterThan(0));
    await press("Enter");
    await until(() => expect(rowAt(3)?.querySelectorAll("[data-part]")).toHaveLength(0));
  });

  it("lead to the row of the address, also into a fold", async () => {
    await open(backend(), "#/compare?run=r0&run=r1&row=1");
    await until(() => expect(document.activeElement).toBe(rowAt(1)));
    expect(id("compare-row").length).toBeGreaterThan(0);
  });

  it("change places, come to the front and go, by key", async () => {
    await open(backend(), "#/compare?run=r0&run=r1&run=r2");
    await until(() => expect(id("compared-run").length).toBe(3));
    await press("d");
    await until(() => expect(document.activeElement).toBe(rowAt(6)));
    await press("l");
    await press("p");
    await until(() => expect(location.hash).toContain("run=r1&run=r0&run=r2"));
    await until(() => expect(document.activeElement).toBe(rowAt(6)));
    await press("L");
    await until(() => expect(location.hash).toContain("run=r0&run=r1&run=r2"));
    await until(() => expect(id("compared-run")[0]?.textContent).toContain("baseline"));
    await until(() => expect(document.activeElement).toBe(rowAt(6)));
    await press("x");
    await until(() => expect(location.hash).toContain("run=r0&run=r2"));
  });

  it("show their answers beside each other, and beside what was expected", async () => {
    const fixture = await open(backend());
    await until(() => expect(id("answers")[0]?.textContent).toContain("they differ"));
    expect(fixture.calls.some(({ name }) => name === "diff_answer")).toBe(false);
    await press("a");
    await until(() =>
      expect(
        fixture.calls.filter(({ name }) => name === "diff_answer").map(({ args }) => args),
      ).toContainEqual({ request: expect.objectContaining({ id: "r1", against: "r0" }) }),
    );
    const verdict = () => all("[data-testid='answers'] .summary svg").length;
    await until(() => expect(id("answers")[0]?.textContent).toContain("≠"));
    expect(verdict()).toBe(0);
    all("[aria-label='Compared with'] button")
      .find((one) => one.textContent === "expected")
      ?.click();
    await until(() =>
      expect(fixture.calls.map(({ args }) => args)).toContainEqual({
        request: expect.objectContaining({ id: "r1", against: null }),
      }),
    );
    await until(() => expect(verdict()).toBe(1));
  });

  it("say from which run a step differs where the baseline has none", async () => {
    const fixture = backend();
    fixture.replies.compare_runs = () =>
      beside([runRow(0), runRow(1), runRow(2)], { rows: [line("alone", [null, 3, 3])] });
    await open(fixture, "#/compare?run=r0&run=r1&run=r2");
    const name = (at: number) =>
      id("compared-run")[at]?.querySelector("h2")?.textContent.trim() ?? "";
    await until(() => expect(rowAt(0)?.textContent).toContain(`differs from ${name(1)}`));
  });

  it("say so where the baseline has no answer", async () => {
    const fixture = backend();
    fixture.replies.compare_runs = () =>
      beside([], {
        runs: [
          comparedRun(runRow(0)),
          comparedRun(runRow(1), {
            answer: "extra",
            answer_summary: "the first run has no answer",
          }),
        ],
      });
    await open(fixture);
    await until(() =>
      expect(id("compared-run")[1]?.textContent).toContain("+ the baseline has no answer"),
    );
    expect(said()).not.toContain("the first run");
  });

  it("are compared again when one of the files changed meanwhile", async () => {
    const fixture = backend();
    let version = "v1";
    fixture.replies.compare_runs = () =>
      beside([], {
        runs: [comparedRun(runRow(0), { version }), comparedRun(runRow(1), { version })],
        rows: beside([runRow(0), runRow(1)]).rows,
      });
    fixture.replies.read_steps = ({ span }) => ({
      version: "v2",
      total_steps: 12,
      steps: [call(span.offset)],
    });
    version = "v1";
    const read = fixture.replies.compare_runs;
    fixture.replies.compare_runs = (args) => {
      const reply = read(args);
      version = "v2";
      return reply;
    };
    await open(fixture);
    await until(() =>
      expect(fixture.calls.filter(({ name }) => name === "compare_runs")).toHaveLength(2),
    );
    await until(() => expect(rowAt(3)?.textContent).toContain("tickets_3"));
  });

  it("are told of when one cannot be read, and the others are compared", async () => {
    const fixture = backend();
    fixture.replies.compare_runs = () =>
      beside([], {
        runs: [
          comparedRun(runRow(18), { trouble: "line 14: a key is missing", steps: 0 }),
          comparedRun(runRow(0)),
          comparedRun(runRow(1)),
        ],
        rows: [
          { steps: [null, 0, 0], depth: 0, relation: "same", diverges: false, title: "prompt" },
        ],
        notes: ["The runs are too long to compare every step with every other."],
        coarse: true,
      });
    await open(fixture, "#/compare?run=r18&run=r0&run=r1");
    await until(() => expect(id("compared-run").length).toBe(3));
    expect(id("compared-run")[0]?.textContent).toContain("Not compared: line 14: a key is missing");
    expect(id("compared-run")[1]?.textContent).toContain("baseline");
    expect(said()).toContain("too long to compare");
  });
});

it("gives an opened run the compared ones as its list, and is where closing it leads", async () => {
  await open(backend(), "#/compare?run=r2&run=r0");
  await until(() => expect(id("compared-run").length).toBe(2));
  await press("O");
  await until(() => expect(location.hash).toContain("#/run/r2?q=file"));
  await press("J");
  await until(() => expect(location.hash).toContain("#/run/r0?q=file"));
  await press("Escape");
  await until(() => expect(location.hash).toContain("#/compare?run=r2&run=r0"));
  // Beyond it is what was there before, not a list of the compared runs.
  await press("Escape");
  await until(() => expect(location.hash).toBe("#/runs"));
});

it("is closed to the run that it was opened from", async () => {
  await open(backend(), "#/compare?run=r2&run=r0");
  location.hash = "#/run/r1?step=2";
  await until(() => expect(all("main.compare")).toHaveLength(0));
  location.hash = "#/compare?run=r1&run=r0";
  await until(() => expect(id("compared-run").length).toBe(2));
  await press("Escape");
  await until(() => expect(location.hash).toContain("#/run/r1?step=2"));
});

describe("a place with nothing to compare", () => {
  it.each([
    ["#/compare", "Select two to four runs"],
    ["#/compare?run=r0", "Select one to three more"],
    ["#/compare?run=r0&run=r0", "Select one to three more"],
    ["#/compare?run=r0&run=r1&run=r2&run=r3&run=r4", "5 are selected"],
  ])("says for %s what to do next", async (hash, words) => {
    await open(backend(), hash);
    await until(() => expect(said()).toContain(words));
  });

  it("offers the runs that are left when some are gone", async () => {
    await open(backend(), "#/compare?run=r0&run=gone&run=r1");
    await until(() => expect(said()).toContain("Compare the other 2"));
    all("button")
      .find((one) => one.textContent.includes("Compare the other 2"))
      ?.click();
    await until(() => expect(id("compared-run").length).toBe(2));
  });

  it("leads from one run to those of its task, with that one selected", async () => {
    await open(backend(), "#/compare?run=r0&run=r1");
    await until(() => expect(id("compared-run").length).toBe(2));
    await press("c");
    await until(() => expect(location.hash).toContain("#/runs?q=task"));
    await until(() => expect(id("picked")[0]?.textContent).toContain("1 selected"));
  });
});
