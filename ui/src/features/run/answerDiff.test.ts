import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { DiffRequest, DiffRow, Review, RunRow, RunState, RunView } from "../../generated";
import { compared, SCORES, TEN, ticket } from "../../testing/judge";
import { firstDifferences, whyNoDiff } from "./answerDiff";
import { layOut, OneRun, SMALL, table, text, view } from "../../testing/runs";
import { parseScore } from "./review.svelte";

let page: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const one = (selector: string) => all(selector)[0];
const id = (testid: string) => one(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const said = (testid: string) => flat(id(testid));
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const button = (name: string, within: ParentNode = document) =>
  [...within.querySelectorAll("button")].find(
    (found) => flat(found).startsWith(name) || found.getAttribute("aria-label") === name,
  );
async function press(key: string, more: KeyboardEventInit = {}) {
  (document.activeElement ?? document.body).dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  await tick();
  flushSync();
}
async function type(field: HTMLInputElement | HTMLTextAreaElement, value: string) {
  field.focus();
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await tick();
}

const TASK = {
  id: "t",
  file: "suites/t.yaml",
  parameters: [],
  prompt: null,
  expected: table("x", "expected", 2),
  user: null,
  expected_tool_calls: [],
};
const ANSWER = { part: table("a", "answer", 3), source: "answer", lenient: false };
const WRONG: Partial<RunRow> = {
  scoring: "scored",
  score: 0.8,
  passed: false,
  class: "wrong_answer",
  score_reason: "8 of 10 rows right, 1 missing (103)",
};
const wrong = (row: Partial<RunRow> = {}, change: Partial<RunView> = {}) =>
  new OneRun(view(SMALL, { ...WRONG, ...row }, { task: TASK, answer: ANSWER, ...change }));

async function open(backend: OneRun, hash = "#/run/r0") {
  location.hash = hash;
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("step") ?? id("raw")).toBeDefined());
  // The sidebar is rendered after the transcript.
  await until(() => expect(all(".beside:empty")).toEqual([]));
  return backend;
}
const noted = () => one("[data-testid='review'] textarea") as HTMLTextAreaElement;
const asked = (backend: OneRun, name: string) => backend.calls.filter((call) => call.name === name);
const kept = (backend: OneRun) =>
  asked(backend, "review_run").map((call) => (call.args as { review: Review | null }).review);

let away: () => void;
beforeEach(() => {
  localStorage.clear();
  away = layOut();
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

it("a queue that hides scores marks what differs from the expected output, and tells no score of it", async () => {
  const backend = wrong(
    { tool_calls: 1, missing_calls: ["sql"] },
    { task: { ...TASK, expected_tool_calls: ["sql"] } },
  );
  await open(backend, "#/run/r0?queue=list&view=answer");
  await until(() =>
    expect(all("[data-testid='answer-diff'] [role=row]").length).toBeGreaterThan(1),
  );
  expect(flat(one("[data-testid='answer-diff'] h2"))).toBe("Expected output and answer");
  expect(all("[data-testid='answer-diff'] :is(.right, .part, .wrong)")).toEqual([]);
  expect(said("answer-diff")).not.toContain("rows right");
  expect(said("score-chip") + flat(one("#run-side .call .tag"))).toBe("");
  await press("d");
  expect(said("toast")).toBe("");
  await press("]");
  await until(() => expect(said("toast")).toBe("Which runs failed is hidden in this queue."));
  id("queue-blind")?.click();
  await until(() => expect(flat(one("#run-side .call .tag"))).toBe("never called"));
  await until(() => expect(flat(one("[data-testid='answer-diff'] h2"))).toContain("5 of 10 rows"));
});

describe("a queue that hides scores compares as written", () => {
  const header = () => {
    const steps = all("[data-testid='answer-diff'] .steps button");
    return [
      said("answer-diff").replace(flat(one("[data-testid='answer-diff'] .body")), ""),
      ...steps.map((button) => `${button.ariaLabel} ${button.hasAttribute("disabled")}`),
    ];
  };
  async function openBlind(rows: readonly DiffRow[]) {
    const backend = wrong();
    backend.replies.diff_answer = ({ request }) =>
      compared(rows, request, { notes: ["`urgency` does not count"] });
    await open(backend, "#/run/r0?queue=list&view=answer");
    await until(() =>
      expect(all("[data-testid='answer-diff'] [role=row]").length).toBeGreaterThan(5),
    );
    return backend;
  }
  const EQUAL = TEN.map((_, at) => ticket(at));

  it("and shows an equal answer as any other, in full and without a word on it", async () => {
    const backend = await openBlind(EQUAL);
    const requests = asked(backend, "diff_answer").map(({ args }) => args);
    expect(requests).not.toEqual([]);
    for (const { request } of requests as { request: DiffRequest }[])
      expect(request).toMatchObject({ literal: true });
    await press("d");
    expect(said("toast")).toBe("");
    expect(said("answer-diff")).not.toMatch(/differ|equal|same|count|rows/i);
    const equal = header();
    await press("t");
    await until(() => expect(all("[data-testid='answer-diff'] [data-line]")).toHaveLength(10));
    expect(said("answer-diff")).not.toMatch(/differ|equal|same|count|rows/i);
    if (page) await unmount(page);
    document.body.replaceChildren();
    localStorage.clear();
    await openBlind(TEN);
    expect(header()).toEqual(equal);
  });

  it("and marks each cell that differs, also one that the scorer lets pass", async () => {
    const row = ticket(5, "alike");
    const cells = row.cells.map((cell) => ({ ...cell, note: cell.note && "within tolerance" }));
    await openBlind([...EQUAL, { ...row, cells }]);
    expect(all("[data-testid='answer-diff'] .c-changed").map(flat)).toEqual([
      "expected: 84.1→answer: 84.10",
    ]);
    expect(said("answer-diff")).not.toContain("within tolerance");
    expect(all("[data-testid='answer-diff'] [title*='tolerance']")).toEqual([]);
  });
});

describe("a wrong run", () => {
  it("says in its header how wrong it is and why, and beside the transcript what differs first", async () => {
    await open(wrong());
    expect(said("score-chip")).toBe("Partly right 0.808 of 10 rows right, 1 missing (103)");
    await until(() =>
      expect(said("scores")).toContain("0.80 Partly right not passed 8 of 10 rows right"),
    );
    expect(said("scores")).toMatch(/precision\s*0.89\s*recall\s*0.80/);
    expect(said("scores")).toMatch(/kendall_tau.*compatible with/);
    expect(said("scores")).toMatch(/Not scored yet python v1 –/);
    await until(() => expect(all("[data-testid='why'] li")).toHaveLength(4));
    expect(all("[data-testid='why'] li").map(flat)).toEqual([
      "≠differs 101 priority_score expected 84.1→answer 81.9",
      "−missing 103 missing",
      "↕moved 106 place 7 → 9",
      "+extra 108 extra",
    ]);
    expect(said("why")).toContain("expected → answer");
    expect(said("why")).toContain("Show the full answer");
  });

  it("shows the whole comparison in place of the transcript, by one press, and keeps that in the address", async () => {
    await open(wrong());
    id("score-chip")?.click();
    await until(() =>
      expect(all("[data-testid='answer-diff'] [role='row'][data-row]")).toHaveLength(10),
    );
    expect(location.hash).toBe("#/run/r0?view=answer");
    expect(flat(one("[data-testid='answer-diff'] h2"))).toBe("5 of 10 rows right, 1 missing (103)");
    expect(all("[data-testid='answer-diff'] [role='columnheader']").map(flat)).toEqual([
      "comparison",
      "place: expected → answer",
      "ticket_id",
      "priority_score",
      "urgency",
    ]);
    const rows = all("[data-testid='answer-diff'] [data-row]").map(flat);
    expect(rows[1]).toBe("≠differs 2 101 expected: 84.1→answer: 81.9 low");
    expect(rows[3]).toBe("−missing 4 → 103 87.5 low");
    expect(rows[5]).toContain("84.1≈84.10 other notation");
    expect(rows[6]).toMatch(/^↕moved 7 → 9 106/);
    expect(rows[8]).toMatch(/^\+extra → 9 108/);
    expect(id("why")).toBeUndefined();
    await press("a");
    expect(location.hash).toBe("#/run/r0");
    expect(id("answer-diff")).toBeUndefined();
    expect(document.activeElement).toBe(document.body);
  });

  it("leads from difference to difference, round and round, wherever one is", async () => {
    await open(wrong());
    const at = () => one("[data-testid='answer-diff'] .current")?.dataset["row"];
    for (const want of ["1", "3", "6", "8", "1"]) {
      await press("d");
      await until(() => expect(at()).toBe(want));
    }
    await press("D");
    await until(() => expect(at()).toBe("8"));
    await press("j");
    await until(() => expect(at()).toBe("9"));
    await press("k");
    await press("k");
    await until(() => expect(at()).toBe("7"));
    await until(() => expect(document.activeElement?.getAttribute("data-row")).toBe("7"));
  });

  it("shows only what differs when asked, and remembers that and the form", async () => {
    await open(wrong(), "#/run/r0?view=answer");
    await until(() => expect(all("[data-row]").length).toBeGreaterThan(9));
    one("[data-testid='answer-diff'] input[type='checkbox']")?.click();
    await until(() => expect(all("[data-testid='answer-diff'] [data-row]")).toHaveLength(5));
    await press("t");
    await until(() =>
      expect(all("[data-testid='answer-diff'] [data-line]").length).toBeGreaterThan(4),
    );
    expect(JSON.parse(localStorage.getItem("touchstone.look") ?? "{}")).toMatchObject({
      answers: "lines",
      folded: true,
    });
    expect(flat(one("[data-line='1']"))).toBe(
      "2− expected, line 2: - ticket_id: 101 # 84.1 2+ answer, line 2: - ticket_id: 101 # 81.9",
    );
  });

  it("unfolds equal lines where they are", async () => {
    localStorage.setItem("touchstone.look", JSON.stringify({ answers: "lines" }));
    await open(wrong(), "#/run/r0?view=answer");
    await until(() => expect(flat(one("[data-line='0']"))).toBe("⋯ 1 equal line"));
    one("[data-line='2'] button")?.click();
    await until(() => expect(all("[data-testid='answer-diff'] [data-line]")).toHaveLength(10));
    await until(() => expect(one(".pair.current")?.dataset["line"]).toBe("3"));
  });

  it("of very many rows draws and reads only some, shows what differs at first, and finds differences far away", async () => {
    const many = Array.from({ length: 10_000 }, (_, at) =>
      ticket(at, at === 7_777 ? "changed" : "same"),
    );
    const backend = wrong();
    backend.replies.diff_answer = ({ request }) => compared(many, request);
    await open(backend, "#/run/r0?view=answer");
    await until(() => expect(all("[data-testid='answer-diff'] [data-row]")).toHaveLength(1));
    one("[data-testid='answer-diff'] input[type='checkbox']")?.click();
    await until(() =>
      expect(all("[data-testid='answer-diff'] [data-row]").length).toBeGreaterThan(10),
    );
    expect(all("[data-testid='answer-diff'] [data-row]").length).toBeLessThan(150);
    await press("d");
    const reads = () =>
      asked(backend, "diff_answer").map(
        (call) =>
          (call.args as { request: { rows: { offset: number; limit: number } } }).request.rows,
      );
    await until(() => expect(reads().some((rows) => rows.offset === 7_600)).toBe(true));
    for (const rows of reads()) expect(rows.limit).toBeLessThanOrEqual(200);
  });

  it("is compared anew when its answer changes, and not when another's does", async () => {
    const backend = await open(wrong(), "#/run/r0?view=answer");
    await until(() => expect(all("[data-testid='answer-diff'] [data-row]")).toHaveLength(10));
    const before = asked(backend, "diff_answer").length;
    backend.tell({ kind: "runs", generation: 2, ids: ["r7"], all: false });
    backend.replies.diff_answer = ({ request }) => compared([ticket(0), ticket(1)], request);
    backend.tell({ kind: "runs", generation: 3, ids: ["r0"], all: false });
    await until(() => expect(said("answer-diff")).toContain("all 2 rows right"));
    expect(all("[data-testid='answer-diff'] [data-row]")).toHaveLength(2);
    expect(asked(backend, "diff_answer").length).toBe(before + 1);
  });
});

describe("where there is nothing to compare", () => {
  const cases: [string, RunState, Partial<RunView>, string][] = [
    [
      "no answer",
      "no_answer",
      { answer: null, task: TASK },
      "No answer The run ended without an answer. It scores 0.",
    ],
    [
      "an error",
      "error",
      { answer: null, task: TASK },
      "No answer: the run ended in a system error",
    ],
    [
      "a run that waits",
      "waiting",
      { answer: null, task: TASK },
      "No answer yet The run ends without a reply.",
    ],
    [
      "a run that is written",
      "writing",
      { answer: null, task: TASK },
      "No answer yet The run is still being written.",
    ],
    [
      "a damaged file",
      "damaged",
      { answer: null, task: TASK },
      "The answer cannot be read The file of this run is damaged.",
    ],
    [
      "no suite",
      "answered",
      { answer: ANSWER, task: null },
      "Nothing to compare with Unknown task: no suite",
    ],
    [
      "no expected output",
      "answered",
      { answer: ANSWER, task: { ...TASK, expected: null } },
      "No expected output The suite has no expected output for this variation, so the answer is not scored. Add expected_output to suites/t.yaml.",
    ],
  ];
  it.each(cases)(
    "%s has its sentence, and what there is is shown",
    async (_, state, change, sentence) => {
      const backend = await open(
        new OneRun(view(SMALL, { state, reason: null, scoring: null }, change)),
        "#/run/r0?view=answer",
      );
      await until(() => expect(said("answer-diff")).toContain(sentence));
      expect(asked(backend, "diff_answer")).toEqual([]);
      const shown = [
        change.answer ? "Answer" : null,
        change.task?.expected ? "Expected output" : null,
      ].filter(Boolean);
      expect(all("[data-testid='answer-diff'] h3").map(flat)).toEqual(shown);
    },
  );

  it("that it failed is said with the next step, and it is tried again", async () => {
    const backend = wrong();
    const good = backend.replies.diff_answer;
    backend.replies.diff_answer = () =>
      Promise.reject({ code: "failed", message: "The suite could not be read.", hint: "Fix it." });
    await open(backend, "#/run/r0?view=answer");
    await until(() =>
      expect(flat(one("[data-testid='answer-diff'] [role='alert']"))).toContain(
        "The suite could not be read. Fix it.",
      ),
    );
    backend.replies.diff_answer = good;
    button("Try again", id("answer-diff"))?.click();
    await until(() => expect(all("[data-testid='answer-diff'] [data-row]")).toHaveLength(10));
  });

  it("answers that are no lists are shown line by line, with what differs named beside the transcript", async () => {
    const backend = wrong();
    backend.replies.diff_answer = ({ request }) =>
      compared(TEN, request, {
        columns: [],
        rows: [],
        total_rows: 0,
        aligned: null,
        summary: "the text differs: 1 word missing",
        coarse: true,
        notes: ["The answer was cut."],
      });
    await open(backend);
    await until(() =>
      expect(all("[data-testid='why'] li").map(flat)[0]).toBe(
        "≠differs expected - ticket_id: 101 # 84.1→answer - ticket_id: 101 # 81.9",
      ),
    );
    await press("a");
    await until(() =>
      expect(all("[data-testid='answer-diff'] [data-line]").length).toBeGreaterThan(3),
    );
    expect(button("Table")?.hasAttribute("disabled")).toBe(true);
    expect(said("answer-diff")).toContain("compared coarsely");
    expect(said("answer-diff")).toContain("The answer was cut.");
  });

  it("nothing differs is said, and all of it is shown", async () => {
    const backend = wrong({
      score: 1,
      passed: true,
      class: null,
      score_reason: "all 2 rows right",
    });
    backend.replies.diff_answer = ({ request }) => compared([ticket(0), ticket(1)], request);
    await open(backend, "#/run/r0?view=answer");
    await until(() => expect(all("[data-testid='answer-diff'] [data-row]")).toHaveLength(2));
    await press("d");
    await until(() => expect(flat(document.body)).toContain("Nothing differs."));
  });
});

describe("a scorer that has to be asked for", () => {
  it("is run by one press, for this run, and what refuses it is said", async () => {
    const backend = await open(wrong({ path: "a b/x.yaml" }));
    const asks = () => asked(backend, "run_scorers").map((call) => call.args);
    await until(() => expect(button("Run it now")).toBeDefined());
    button("Run it now")?.click();
    // The page asks for this run, be it a fork or not.
    await until(() => expect(asks()).toEqual([{ filter: 'path:"a b/x.yaml" forked:yes,no' }]));
    backend.replies.run_scorers = () =>
      Promise.reject({
        code: "failed",
        message: "There is no sandbox here.",
        hint: "Install bubblewrap.",
      });
    await until(() => expect(button("Run it now")).toBeDefined());
    button("Run it now")?.click();
    await until(() =>
      expect(flat(one("[data-testid='scores'] [role='alert']"))).toContain(
        "There is no sandbox here. Install bubblewrap.",
      ),
    );
  });
});

describe("a system error", () => {
  it("is apart from wrong answers, in its word, shape and sentence", async () => {
    const backend = wrong(
      {
        state: "error",
        scoring: "error",
        score: null,
        passed: null,
        class: "system_error",
        score_reason: "the provider answered with status 529",
      },
      { answer: null },
    );
    backend.replies.run_scores = () => ({
      ...SCORES,
      class: "system_error",
      scores: [
        {
          scorer: "fields",
          version: 1,
          standing: "error",
          score: null,
          passed: null,
          reason: "the provider answered with status 529",
          detail: [],
        },
      ],
    });
    await open(backend);
    expect(said("score-chip")).toContain("System error");
    expect(id("score-chip")?.className).toContain("err");
    await until(() => expect(said("scores")).toContain("Errors do not count as wrong answers."));
  });
});

describe("what a person says", () => {
  it("is said by one key, kept at once, and taken back by another", async () => {
    const backend = await open(wrong());
    await press("2");
    await until(() =>
      expect(kept(backend)).toEqual([
        {
          verdict: "partly",
          score: null,
          note: "",
          at_ms: 0,
          stale: false,
          answer: "mark1",
          author: null,
          steps: [],
          labels: {},
        },
      ]),
    );
    await until(() => expect(said("review")).toContain("✓ saved"));
    expect(button("Partly right", id("review"))?.getAttribute("aria-pressed")).toBe("true");
    await until(() => expect(flat(document.body)).toContain("Marked partly right. Undo (0)"));
    await press("2");
    await until(() => expect(flat(document.body)).toContain("Already marked partly right."));
    await press("0");
    await until(() => expect(kept(backend).slice(1)).toEqual([null]));
    button("Wrong", id("review"))?.click();
    await until(() => expect(said("review")).toContain("✓ saved"));
    button("Wrong", id("review"))?.click();
    await until(() =>
      expect(
        kept(backend)
          .slice(2)
          .map((one) => one?.verdict ?? null),
      ).toEqual(["wrong", null]),
    );
  });

  it("is kept when one has stopped typing, or leaves the field, and never half a number", async () => {
    const backend = await open(wrong());
    await press("w");
    await until(() => expect(document.activeElement?.getAttribute("aria-label")).toBe("Note"));
    const note = document.activeElement as HTMLTextAreaElement;
    await type(note, "Row 2 is off.");
    expect(said("review")).toContain("not saved yet");
    await press("Escape");
    await until(() => expect(kept(backend).map((one) => one?.note)).toEqual(["Row 2 is off."]));
    expect(document.activeElement).toBe(document.body);
    const score = one("[data-testid='review'] input") as HTMLInputElement;
    await type(score, "1.5");
    score.blur();
    await tick();
    expect(said("review")).toContain("A score is a number from 0 to 1");
    expect(kept(backend)).toHaveLength(1);
    await type(score, "50 %");
    await press("Enter", { ctrlKey: true });
    await until(() =>
      expect(kept(backend).at(-1)).toMatchObject({ score: 0.5, note: "Row 2 is off." }),
    );
  });

  it("is also said of a step, beside it, and changed there", async () => {
    const backend = await open(wrong());
    await press("N");
    await until(() => expect(id("step-note-field")).toBeTruthy());
    await until(() => expect(document.activeElement).toBe(id("step-note-field")));
    await type(id("step-note-field") as HTMLTextAreaElement, "Wrong table.");
    await press("Escape");
    const note = { step: 0, note: "Wrong table." };
    await until(() => expect(kept(backend).at(-1)?.steps).toEqual([note]));
    await until(() => expect(said("step-note")).toContain("Wrong table."));
    expect(said("review")).toContain("Notes on steps: 1");
    id("step-note")?.click();
    await until(() => expect(id("step-note-field")).toBeTruthy());
    await type(id("step-note-field") as HTMLTextAreaElement, "");
    await press("Escape");
    await until(() => expect(kept(backend).at(-1)).toBeNull());
    expect(id("step-note")).toBeFalsy();
  });

  it("is shown as it is on disk, also when somebody else changes it, but not over what is being typed", async () => {
    const backend = wrong();
    const on = (review: Partial<Review>) => {
      backend.review = {
        verdict: null,
        score: null,
        note: "",
        at_ms: 1,
        stale: false,
        answer: null,
        author: null,
        steps: [],
        labels: {},
        ...review,
      };
      backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    };
    on({ verdict: "wrong", score: 0.25, note: "mine" });
    await open(backend);
    const note = () => one("[data-testid='review'] textarea") as HTMLTextAreaElement;
    await until(() => expect(note()?.value).toBe("mine"));
    expect((one("[data-testid='review'] input") as HTMLInputElement).value).toBe("0.25");
    on({ verdict: "right", note: "theirs" });
    await until(() => expect(note().value).toBe("theirs"));
    expect(button("Right", id("review"))?.getAttribute("aria-pressed")).toBe("true");
    await type(note(), "theirs and mine");
    on({ verdict: "wrong", note: "theirs again" });
    await new Promise((later) => setTimeout(later, 150));
    expect(note().value).toBe("theirs and mine");
  });

  it("of an earlier answer says so, and saying it again makes it new", async () => {
    const backend = wrong();
    backend.review = {
      verdict: "right",
      score: null,
      note: "",
      at_ms: 1,
      stale: true,
      answer: "mark0",
      author: null,
      steps: [],
      labels: {},
    };
    await open(backend);
    await until(() => expect(said("review")).toContain("The answer has changed since this review"));
    await type(noted(), "a note alone");
    noted().blur();
    await until(() =>
      expect(kept(backend).at(-1)).toMatchObject({
        verdict: "right",
        note: "a note alone",
        answer: "mark0",
      }),
    );
    await until(() => expect(said("review")).toContain("The answer has changed since this review"));
    await press("1");
    await until(() =>
      expect(kept(backend).at(-1)).toMatchObject({ verdict: "right", answer: "mark1" }),
    );
    await until(() =>
      expect(said("review")).not.toContain("The answer has changed since this review"),
    );
  });

  it("loses nothing that is typed while it is being kept, and is sent one after the other", async () => {
    const backend = await open(wrong());
    const good = backend.replies.review_run;
    const waiting: (() => void)[] = [];
    backend.replies.review_run = (args) =>
      new Promise((done) =>
        waiting.push(() => void Promise.resolve(good(args)).then(() => done(null))),
      );
    await type(noted(), "one");
    await press("3");
    await until(() => expect(waiting).toHaveLength(1));
    await type(noted(), "one two");
    noted().blur();
    await tick();
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    await until(() => expect(waiting).toHaveLength(2));
    expect(noted().value).toBe("one two");
    expect(said("review")).not.toContain("✓ saved");
    waiting[1]?.();
    await until(() => expect(said("review")).toContain("✓ saved"));
    expect(noted().value).toBe("one two");
    expect(kept(backend).map((one) => one?.note)).toEqual(["one", "one two"]);
  });

  it("keeps verdict and note while the number beside them is none, with the number that was kept last", async () => {
    const backend = wrong();
    backend.review = {
      verdict: null,
      score: 0.25,
      note: "",
      at_ms: 1,
      stale: false,
      answer: "mark1",
      author: null,
      steps: [],
      labels: {},
    };
    await open(backend);
    const score = () => one("[data-testid='review'] input") as HTMLInputElement;
    await until(() => expect(score()?.value).toBe("0.25"));
    await type(score(), "1.5");
    await type(noted(), "still kept");
    noted().blur();
    await until(() =>
      expect(kept(backend).at(-1)).toMatchObject({ score: 0.25, note: "still kept" }),
    );
    await until(() => expect(said("review")).toContain("not saved"));
    expect(score().value).toBe("1.5");
    await press("3");
    await until(() =>
      expect(kept(backend).at(-1)).toMatchObject({
        verdict: "wrong",
        score: 0.25,
        note: "still kept",
      }),
    );
    await type(score(), "0.5");
    score().blur();
    await until(() => expect(said("review")).toContain("✓ saved"));
    expect(kept(backend).at(-1)).toMatchObject({
      verdict: "wrong",
      score: 0.5,
      note: "still kept",
    });
  });

  it("that could not be kept is there again when the run is opened again", async () => {
    const backend = wrong();
    const good = backend.replies.review_run;
    backend.replies.review_run = () =>
      Promise.reject({ code: "failed", message: "The disk is full.", hint: null });
    await open(backend);
    await type(noted(), "not lost");
    noted().blur();
    await until(() => expect(said("review")).toContain("The disk is full."));
    window.dispatchEvent(new Event("pagehide"));
    await until(() => expect(kept(backend)).toHaveLength(2));
    if (page) await unmount(page);
    page = undefined;
    document.body.replaceChildren();
    backend.replies.review_run = good;
    await open(backend);
    await until(() => expect(noted()?.value).toBe("not lost"));
    noted().focus();
    noted().blur();
    await until(() => expect(said("review")).toContain("✓ saved"));
    expect(kept(backend).at(-1)?.note).toBe("not lost");
  });

  it("of a folder that was left is not kept in the one that is open now, and is there again with its own", async () => {
    const backend = wrong();
    const [first, other] = ["one", "other"].map((id) => ({
      ...backend.status,
      folder: backend.status.folder && { ...backend.status.folder, id },
    }));
    backend.replies.review_run = () =>
      Promise.reject({ code: "gone", message: "Another folder is open.", hint: null });
    backend.status = first!;
    await open(backend);
    await type(noted(), "said of this one");
    Object.assign(backend, { status: other }).tell({ kind: "folder" });
    await until(() =>
      expect(asked(backend, "review_run").map((call) => call.args)).toMatchObject([
        { folder: "one", review: { note: "said of this one" } },
      ]),
    );
    await until(() => expect(noted()?.value).toBe(""));
    Object.assign(backend, { status: first }).tell({ kind: "folder" });
    await until(() => expect(noted()?.value).toBe("said of this one"));
  });

  it("that cannot be kept stays in sight with the sentence and the next step, and is tried again", async () => {
    const backend = wrong();
    const good = backend.replies.review_run;
    const refusal = {
      code: "not_allowed",
      message: "This page is read-only and cannot run or change anything.",
      hint: "To allow it, start: touchstone serve --allow-run FOLDER",
    };
    backend.replies.review_run = () => Promise.reject(refusal);
    await open(backend);
    await press("3");
    await until(() =>
      expect(flat(one("[data-testid='review'] [role='alert']"))).toContain(
        `${refusal.message} ${refusal.hint}`,
      ),
    );
    expect(said("review")).toContain("Review not saved");
    expect(button("Wrong", id("review"))?.getAttribute("aria-pressed")).toBe("true");
    backend.replies.review_run = good;
    button("Try again", id("review"))?.click();
    await until(() => expect(said("review")).toContain("✓ saved"));
  });

  it("is kept when one goes on to the next run in the middle of a word", async () => {
    const backend = await open(wrong());
    await type(one("[data-testid='review'] textarea") as HTMLTextAreaElement, "unfini");
    if (page) await unmount(page);
    page = undefined;
    expect(kept(backend).map((one) => one?.note)).toEqual(["unfini"]);
  });

  it("cannot be said of what is not a run", async () => {
    const backend = new OneRun(view(SMALL, { state: "other", scoring: null }));
    await open(backend);
    await press("1");
    expect(kept(backend)).toEqual([]);
    expect(id("review")).toBeUndefined();
  });
});

describe("pure parts", () => {
  it.each([
    ["", null],
    ["0", 0],
    ["1", 1],
    [".5", 0.5],
    ["0,25", 0.25],
    ["80%", 0.8],
    ["100 %", 1],
    ["1.1", undefined],
    ["-1", undefined],
    ["high", undefined],
    ["101%", undefined],
    ["1e-1", undefined],
  ])("a score typed as %j is %j", (typed, score) => expect(parseScore(typed)).toBe(score));

  it("names no more differences than asked for, and at most three fields of one", () => {
    const cells = Array.from({ length: 6 }, () => ({
      kind: "changed" as const,
      left: "a",
      right: "b",
      note: null,
    }));
    const diff = compared([...TEN, ticket(20, "changed", { cells })], {
      id: "r",
      against: null,
      literal: false,
      changed_only: true,
      rows: { offset: 0, limit: 99 },
      lines: { offset: 0, limit: 99 },
    });
    expect(firstDifferences(diff, 2)).toHaveLength(2);
    expect(firstDifferences(diff, 99).at(-1)?.changes).toHaveLength(3);
  });
});

describe("a hostile answer", () => {
  it("ends in text nodes, and its hidden characters are seen", async () => {
    const EVIL = "<img src=x onerror=alert(1)>\u202Egpj";
    const backend = wrong({ score_reason: EVIL });
    const cells = [{ kind: "changed" as const, left: EVIL, right: `${EVIL}2`, note: EVIL }];
    backend.replies.diff_answer = ({ request }) =>
      compared([ticket(0, "changed", { label: EVIL, cells })], request, {
        columns: [{ name: EVIL, numeric: false }],
        summary: EVIL,
        notes: [EVIL],
      });
    backend.replies.run_scores = () => ({
      scores: [
        {
          scorer: EVIL,
          version: 1,
          standing: "scored",
          score: 0.1,
          passed: false,
          reason: EVIL,
          detail: [{ name: EVIL, value: EVIL }],
        },
      ],
      class: null,
      review: null,
      others: [
        {
          verdict: "wrong",
          score: 0.5,
          note: EVIL,
          at_ms: 1,
          stale: true,
          answer: null,
          author: EVIL,
          steps: [],
          labels: {},
        },
      ],
      judged: [],
      stored: [
        {
          evaluator: EVIL,
          score: EVIL,
          word: EVIL,
          passed: false,
          threshold: EVIL,
          reason: EVIL,
          silent: false,
          result: "fail",
          rounds: [{ round: 1, replies: [EVIL], error: EVIL }],
        },
      ],
      notes: [EVIL],
    });
    backend.run = {
      ...backend.run,
      answer: { part: text("a", EVIL, EVIL), source: EVIL, lenient: false },
    };
    await open(backend);
    await until(() => expect(id("why")).toBeDefined());
    await press("a");
    await until(() => expect(one("[data-testid='answer-diff'] [data-row]")).toBeDefined());
    await press("t");
    await until(() => expect(one("[data-line]")).toBeDefined());
    const main = one("main");
    expect(main?.querySelectorAll("img, script, iframe, a[href^='j']")).toHaveLength(0);
    expect(main?.textContent).not.toContain("\u202E");
    expect(main?.textContent).toContain("U+202E");
  });
});

describe("a run of another tool without a comparison", () => {
  const why = (row: Partial<RunRow>, answered: boolean) => {
    const whole = view(SMALL, { format: "messages", task: null, score: null, ...row });
    const answer = { part: text("answer", "answer", "42"), source: "file", lenient: false };
    const none = whyNoDiff({ ...whole, task: null, answer: answered ? answer : null });
    return none && [none.text, none.next];
  };
  it("is not offered what only a run of this program can do", () => {
    expect(why({ state: "answered" }, true)).toEqual([
      "The file has no expected output.",
      "Review the run, or have a judge look at it.",
    ]);
    expect(why({ state: "waiting" }, false)).toEqual(["The run ends without a reply.", ""]);
    expect(why({ state: "error", reason: "Busy" }, false)).toEqual([
      "Busy.",
      "It does not count as a wrong answer.",
    ]);
  });
  it("scores 0 without an answer only where it has that score", () => {
    expect(why({ state: "no_answer", reason: null }, false)?.[1]).toBe("");
    expect(why({ state: "no_answer", reason: null, score: 0 }, false)?.[1]).toBe("It scores 0.");
  });
});
