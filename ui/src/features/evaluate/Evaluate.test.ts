import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { CHOICES, evaluatePlan, evaluation, look } from "../../testing/evaluate";
import { Fixture, STATUS } from "../../testing/fakeBackend";
import type { EvaluateRequest } from "../../generated";

let app: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const id = (testid: string) => all(`[data-testid="${testid}"]`)[0];
const text = () => document.body.textContent.replace(/\s+/g, " ");
const button = (label: string) =>
  all("button").find((one) => one.textContent.includes(label)) as HTMLButtonElement | undefined;
const until = (holds: () => boolean) =>
  vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${location.hash}\n${text()}`);
  }, 8_000);
const asked = (fixture: Fixture, name: string) =>
  fixture.calls.filter((call) => call.name === name).map((call) => call.args);
async function open(fixture: Fixture, hash: string) {
  history.replaceState(null, "", hash);
  app = mount(App, { target: document.body, props: { backend: fixture } });
  await until(() => document.querySelector("main") !== null);
  return fixture;
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
});

describe("evaluating a data file", () => {
  it("shows what it comes to and sends nothing before it is begun", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_evaluating = () =>
      evaluatePlan({ lacks: ["f1_score: 1 of 8 rows have no response."] });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(() => text().includes("8 rows · No API calls"));
    expect(text()).toContain("1 of 8 rows have no response.");
    expect(asked(fixture, "start_evaluating")).toEqual([]);
    fixture.evaluations = [evaluation("e1")];
    id("evaluate-start")?.click();
    await until(() => location.hash === "#/evaluate/e1" && text().includes("Done"));
    expect(asked(fixture, "start_evaluating")).toEqual([
      { request: (asked(fixture, "plan_evaluating").at(-1) as { request: unknown }).request },
    ]);
    for (const words of [
      "2 without a result, not counted",
      "0.5000",
      "0.2000 to 0.8000",
      "The row has no response.",
      "results/answers.json",
    ])
      expect(text()).toContain(words);
    expect(id("result-rows")?.getAttribute("href")).toBe("#/runs?q=path%3A%22answers.json%22");
  });
  it("is not begun where no evaluator has the columns that it needs, and says so", async () => {
    const fixture = new Fixture();
    fixture.replies.look_at_data = () => look("d1", { columns: ["category", "tickets"] });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(() => text().includes("Choose columns for f1_score: the file has no response"));
    expect((id("evaluate-start") as HTMLButtonElement).disabled).toBe(true);
    expect(asked(fixture, "plan_evaluating")).toEqual([]);
  });
  it("replaces no file of results before somebody says so", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_evaluating = () => evaluatePlan({ exists: true });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(() => text().includes("Replace the existing file"));
    expect((id("evaluate-start") as HTMLButtonElement).disabled).toBe(true);
    all('[data-testid="evaluate-estimate"] input')[0]?.click();
    await until(() => !(id("evaluate-start") as HTMLButtonElement).disabled);
  });
  it("asks once more what could not be read only where somebody says so, and forgets it once it is begun or another file is meant", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_evaluating = () => evaluatePlan({ kept: 6, unread: 2 });
    fixture.evaluations = [evaluation("e1", { missing: 1, unread: 2 })];
    await open(fixture, "#/evaluate?data=d1&by=violence");
    const again = () => id("evaluate-again") as HTMLSelectElement | undefined;
    const sent = (name: string) =>
      (asked(fixture, name).at(-1) as { request: { again: string } }).request.again;
    const choose = async (value: string) => {
      await until(() => again() !== undefined);
      const select = again() as HTMLSelectElement;
      select.value = value;
      select.dispatchEvent(new Event("change", { bubbles: true }));
      await until(
        () =>
          sent("plan_evaluating") === value &&
          !(id("evaluate-start") as HTMLButtonElement).disabled,
      );
    };
    await until(() => again()?.options.length === 3);
    expect(sent("plan_evaluating")).toBe("nothing");
    await choose("all");
    const out = all('input[id$="-out"]')[0] as HTMLInputElement;
    out.value = "other";
    out.dispatchEvent(new Event("input", { bubbles: true }));
    await until(() => sent("plan_evaluating") === "nothing" && again()?.value === "nothing");
    await choose("unread");
    id("evaluate-start")?.click();
    await until(
      () => location.hash === "#/evaluate/e1" && all('[data-testid="mendable"]').length === 2,
    );
    expect(sent("start_evaluating")).toBe("unread");
    history.replaceState(null, "", "#/evaluate");
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    await until(() => again()?.value === "nothing");
  });
  it("says when the folder may hold data files that are not listed", async () => {
    const fixture = new Fixture();
    fixture.replies.evaluate_options = () => ({
      ...CHOICES,
      unlisted: "The folder holds too many files.",
    });
    await open(fixture, "#/evaluate");
    await until(() => id("unlisted") !== undefined);
    expect(text()).toContain("The folder holds too many files.");
  });
  it("asks again before it replaces another file of results", async () => {
    const fixture = new Fixture();
    fixture.replies.evaluate_options = () => ({
      ...CHOICES,
      files: [...CHOICES.files, { id: "d7", path: "tasks/other.jsonl", size: 10 }],
    });
    fixture.replies.plan_evaluating = () => evaluatePlan({ exists: true });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    const tick = () =>
      all('[data-testid="evaluate-estimate"] input')[0] as HTMLInputElement | undefined;
    const say = async () => {
      await until(() => tick() !== undefined);
      if (!tick()?.checked) tick()?.click();
      await until(
        () => tick()?.checked === true && !(id("evaluate-start") as HTMLButtonElement).disabled,
      );
    };
    const isAskedAgain = async () => {
      await until(
        () => tick()?.checked === false && (id("evaluate-start") as HTMLButtonElement).disabled,
      );
      await until(
        () =>
          (asked(fixture, "plan_evaluating").at(-1) as { request: { replace: boolean } }).request
            .replace === false,
      );
    };
    await say();
    const out = all('input[id$="-out"]')[0] as HTMLInputElement;
    out.value = "elsewhere";
    out.dispatchEvent(new Event("input", { bubbles: true }));
    await isAskedAgain();
    await say();
    const file = all('select[id$="-file"]')[0] as HTMLSelectElement;
    file.value = "d7";
    file.dispatchEvent(new Event("change", { bubbles: true }));
    await isAskedAgain();
    await say();
    history.replaceState(null, "", "#/evaluate?data=d1&by=f1_score");
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    await isAskedAgain();
    expect(asked(fixture, "start_evaluating")).toEqual([]);
  });
  it("takes a path into a column letter by letter, though its beginning is the name of a column", async () => {
    const fixture = new Fixture();
    fixture.replies.look_at_data = ({ id: file }) =>
      look(file, { columns: ["item", "ground_truth"] });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(
      () => id("evaluator") !== undefined && all('select[id$="-response"] option').length > 2,
    );
    const from = all('select[id$="-response"]')[0] as HTMLSelectElement;
    from.value = "\u0000";
    from.dispatchEvent(new Event("change", { bubbles: true }));
    const path = () =>
      all('input[aria-label="Path of response"]')[0] as HTMLInputElement | undefined;
    await until(() => path() !== undefined);
    for (const letter of "item.answer") {
      const field = path() as HTMLInputElement;
      field.value += letter;
      field.dispatchEvent(new Event("input", { bubbles: true }));
      flushSync();
    }
    expect(path()?.value).toBe("item.answer");
    const mapping = () =>
      (asked(fixture, "plan_evaluating").at(-1) as { request: EvaluateRequest }).request
        .evaluators[0]?.mapping;
    await until(
      () => JSON.stringify(mapping()) === JSON.stringify([["response", "${data.item.answer}"]]),
    );
  });
  it("loses nothing but the evaluators when all of them are taken away", async () => {
    const fixture = new Fixture();
    await open(fixture, "#/evaluate?data=d1&by=f1_score&by=rouge_score");
    await until(() => button("Remove all evaluators") !== undefined);
    const out = () => all('input[id$="-out"]')[0] as HTMLInputElement;
    out().value = "mine";
    out().dispatchEvent(new Event("input", { bubbles: true }));
    all('[data-testid="switches"] input')[0]?.click();
    flushSync();
    button("Remove all evaluators")?.click();
    await until(() => id("evaluator") === undefined);
    expect(out().value).toBe("mine");
    expect((all('[data-testid="switches"] input')[0] as HTMLInputElement).checked).toBe(true);
  });
  it("begins with the sheet of the folder that is open, and not with what was filled in in another", async () => {
    const fixture = new Fixture();
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    const out = () => all('input[id$="-out"]')[0] as HTMLInputElement | undefined;
    const turn = (folder: string) => {
      fixture.status = {
        ...STATUS,
        folder: STATUS.folder && { ...STATUS.folder, id: folder, name: folder },
      };
      fixture.tell({ kind: "folder" });
      return until(() => document.title.includes(` – ${folder} – `) && out() !== undefined);
    };
    await turn("A");
    const field = out() as HTMLInputElement;
    field.value = "mine";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
    await turn("B");
    expect(out()?.value).toBe("");
  });
  it("says of what is refused nothing but why, and nothing of a plan of before", async () => {
    const fixture = new Fixture();
    const message = "`cosine` needs an embeddings model, and touchstone.yaml has none.";
    fixture.replies.plan_evaluating = ({ request }) =>
      request.evaluators.length > 1
        ? Promise.reject({ code: "bad_request", message, hint: null })
        : evaluatePlan();
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(() => text().includes("No API calls"));
    history.replaceState(null, "", "#/evaluate?data=d1&by=f1_score&by=rouge_score");
    window.dispatchEvent(new HashChangeEvent("hashchange"));
    await until(() => text().includes(message.replaceAll("`", "")));
    expect(text()).not.toContain("No API calls");
    expect(text()).not.toContain("Evaluate 8 rows");
    expect((id("evaluate-start") as HTMLButtonElement).disabled).toBe(true);
  });
  it("offers nothing that the start would refuse, and says why", async () => {
    const fixture = new Fixture();
    fixture.replies.plan_evaluating = () =>
      evaluatePlan({
        rows: 2,
        why_not: {
          message: "data/answers.jsonl cannot be read completely. Line 2 is not JSON.",
          fix: "Fix the line, or remove it.",
        },
      });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(() => id("evaluate-refused") !== undefined);
    expect(id("evaluate-refused")?.textContent.trim()).toBe(
      "data/answers.jsonl cannot be read completely. Line 2 is not JSON. Fix the line, or remove it.",
    );
    expect((id("evaluate-start") as HTMLButtonElement).disabled).toBe(true);
    expect(text()).not.toContain("Evaluate 2 rows");
  });
  it("puts what is not finished onto the sheet, and sends nothing before what is left is in sight", async () => {
    const fixture = new Fixture();
    const request = {
      data: "d1",
      evaluators: [
        {
          kind: "relevance",
          name: "",
          threshold: 4,
          mapping: [["query", "${data.question}"] as [string, string]],
          options: "",
        },
      ],
      model: "local",
      rounds: 2,
      switches: [],
      out: "mine",
      replace: false,
      again: "nothing" as const,
      max_cost: null,
    };
    fixture.replies.unfinished_evaluations = () => [
      {
        data: "data/answers.jsonl",
        out: "results/mine.json",
        began_ms: Date.UTC(2025, 0, 20, 12),
        request,
      },
    ];
    fixture.replies.plan_evaluating = () =>
      evaluatePlan({ kept: 3, calls_least: 5, calls_most: 5 });
    await open(fixture, "#/evaluate");
    await until(() => id("unfinished") !== undefined);
    expect(id("unfinished")?.textContent).toContain("by relevance → mine.json");
    button("Resume…")?.click();
    const planned = () =>
      (asked(fixture, "plan_evaluating").at(-1) as { request: EvaluateRequest } | undefined)
        ?.request;
    await until(
      () =>
        location.hash === "#/evaluate?data=d1&by=relevance" &&
        planned()?.model === "local" &&
        planned()?.rounds === 2 &&
        text().includes("3 existing replies"),
    );
    expect(asked(fixture, "plan_evaluating").at(-1)).toEqual({ request });
    expect(asked(fixture, "start_evaluating")).toEqual([]);
  });
  it("makes rows of the runs that are asked for, and chooses them", async () => {
    const fixture = new Fixture();
    fixture.replies.make_rows = ({ filter }) =>
      filter === ""
        ? Promise.reject({
            code: "bad_request",
            message: "None of these runs makes a row.",
            hint: "Change the filter.",
          })
        : {
            file: { id: "d7", path: "results/evaluations/runs.jsonl", size: 90 },
            rows: 1,
            notes: ["Left out: a.yaml."],
          };
    await open(fixture, "#/evaluate?by=f1_score");
    await until(() => id("rows-of-runs") !== undefined);
    button("Make rows")?.click();
    await until(() => text().includes("None of these runs makes a row. Change the filter."));
    const filter = all('[data-testid="rows-of-runs"] input')[0] as HTMLInputElement;
    filter.value = " model:o1 ";
    filter.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
    button("Make rows")?.click();
    await until(
      () =>
        location.hash === "#/evaluate?data=d7&by=f1_score" &&
        text().includes("1 row in results/evaluations/runs.jsonl, now selected."),
    );
    expect(text()).toContain("Left out: a.yaml.");
    expect(asked(fixture, "make_rows")).toEqual([
      { filter: "", include_sensitive: false },
      { filter: "model:o1", include_sensitive: false },
    ]);
    expect(asked(fixture, "look_at_data").at(-1)).toEqual({ id: "d7" });
  });
  it("takes the filter of a list over, and makes rows of nothing else", async () => {
    const fixture = new Fixture();
    fixture.replies.make_rows = () => ({
      file: { id: "d7", path: "results/evaluations/runs.jsonl", size: 90 },
      rows: 1,
      notes: [],
    });
    await open(fixture, "#/evaluate?rows=model%3Ao1");
    const field = () =>
      all('[data-testid="rows-of-runs"] input')[0] as HTMLInputElement | undefined;
    await until(
      () => field()?.value === "model:o1" && (id("rows-of-runs") as HTMLDetailsElement).open,
    );
    expect(asked(fixture, "make_rows")).toEqual([]);
    button("Make rows")?.click();
    await until(
      () =>
        new URLSearchParams(location.hash.split("?")[1]).get("data") === "d7" &&
        text().includes("1 row in results/evaluations/runs.jsonl, now selected."),
    );
    expect(asked(fixture, "make_rows")).toEqual([{ filter: "model:o1", include_sensitive: false }]);
    // A new list, even of all runs, replaces the first.
    location.hash = "#/evaluate?rows=";
    await until(() => field()?.value === "" && !text().includes("now selected."));
    expect((id("rows-of-runs") as HTMLDetailsElement).open).toBe(true);
  });
  it("shows each row with what every evaluator said of it, and opens it as a run", async () => {
    const fixture = new Fixture();
    fixture.evaluations = [evaluation("e1")];
    fixture.replies.evaluation_rows = () => ({
      total: 2,
      evaluators: ["f1_score", "relevance"],
      totals: [
        { mean: 0.36363636, scored: 2, passed: 1, decided: 2 },
        { mean: null, scored: 0, passed: 0, decided: 1 },
      ],
      rows: [
        {
          row: 1,
          run: "r1",
          inputs: [["question", "How many?"]],
          results: [
            { score: "0.36363636363636365", passed: true, reason: null },
            { score: "2", passed: false, reason: "It names no number." },
          ],
        },
        {
          row: 2,
          run: null,
          inputs: [["question", "Where?"]],
          results: [null, { score: null, passed: null, reason: "No reply was received." }],
        },
      ],
    });
    await open(fixture, "#/evaluate/e1");
    await until(() => id("evaluated-rows") !== undefined);
    const [first, second] = all('[data-testid="evaluated-row"]').map((row) =>
      row.textContent.replace(/\s+/g, " "),
    );
    expect(all('[data-testid="evaluator-total"]').map((one) => one.textContent)).toEqual([
      "mean 0.364, 1 of 2 pass",
      "0 of 1 pass",
    ]);
    for (const words of ["1", "How many?", "0.364", "✓ pass", "2", "✗ fail", "It names no number."])
      expect(first).toContain(words);
    expect(second).toContain("no result");
    expect(second).toContain("No reply was received.");
    id("evaluated-row")?.querySelector("a")?.click();
    await until(() => location.hash.startsWith("#/run/r1"));
  });

  it("keeps the chosen data file when the list is refreshed and another file is there", async () => {
    const fixture = new Fixture();
    let files = [{ id: "d1", path: "data/answers.jsonl", size: 2_048 }];
    fixture.replies.evaluate_options = () => ({ ...CHOICES, files });
    await open(fixture, "#/evaluate");
    const chosen = () => document.querySelector<HTMLSelectElement>("form select")?.value;
    await until(() => chosen() === "d1");
    files = [{ id: "d0", path: "data/another.jsonl", size: 10 }, ...files];
    button("Refresh")?.click();
    await until(() => text().includes("data/another.jsonl"));
    expect(chosen()).toBe("d1");
  });

  it("leads from a row without a result to its run, where it is one", async () => {
    const fixture = new Fixture();
    const trouble = { row: 2, evaluator: "f1_score", why: "The row has no response.", run: "r2" };
    fixture.evaluations = [
      evaluation("e1", { troubles: [trouble] }),
      evaluation("e2", { filter: null, troubles: [trouble] }),
      evaluation("e3", {
        state: "running",
        file: null,
        filter: null,
        troubles: [{ ...trouble, run: null }],
      }),
    ];
    await open(fixture, "#/evaluate/e1");
    const link = () => all('[data-testid="troubles"] a')[0];
    await until(() => link()?.textContent === "2");
    expect(link()?.getAttribute("href")).toBe("#/run/r2?q=path%3A%22answers.json%22");
    for (const other of ["e2", "e3"]) {
      location.hash = `#/evaluate/${other}`;
      await until(() => text().includes("The row has no response.") && link() === undefined);
    }
  });
  it("says that a budget of the workspace file binds nothing, and takes one where only vectors are paid for", async () => {
    const fixture = new Fixture();
    const unbound = "`embed` has no known price, so the budget of $5 has no effect there.";
    fixture.replies.plan_evaluating = () =>
      evaluatePlan({
        calls_least: 7,
        calls_most: 7,
        tokens_least: 9,
        tokens_most: 9,
        cost_least: null,
        cost_most: null,
        unbound,
      });
    await open(fixture, "#/evaluate?data=d1&by=text_similarity");
    await until(() => id("evaluator") !== undefined);
    expect(id("asked-vectors")).toBeUndefined();
    const measure = all('[data-testid="evaluator"] select').find((one) =>
      one.textContent.includes("cosine"),
    ) as HTMLSelectElement;
    measure.value = "cosine";
    measure.dispatchEvent(new Event("change", { bubbles: true }));
    await until(
      () =>
        id("asked-vectors")?.textContent.includes("Spend limit ($)") === true &&
        id("evaluate-unbound") !== undefined,
    );
    expect(id("evaluate-unbound")?.textContent.trim()).toBe(unbound);
    expect(text()).toContain("8 rows · 7 requests · about 9 tokens · cost unknown");
    expect(id("asked-model")).toBeUndefined();
  });
  it("asks the system for a file in the window alone", async () => {
    const fixture = new Fixture([], STATUS, "window");
    const file = { id: "d9", path: "/home/me/rows.csv", size: 10 };
    let offered = CHOICES.files;
    fixture.replies.evaluate_options = () => ({ ...CHOICES, files: offered });
    fixture.replies.pick_file = () => {
      offered = [file, ...offered];
      return file;
    };
    await open(fixture, "#/evaluate");
    await until(() => button("Choose a file…") !== undefined);
    button("Choose a file…")?.click();
    await until(
      () => location.hash.startsWith("#/evaluate?data=d9") && text().includes("/home/me/rows.csv"),
    );
    expect(asked(fixture, "look_at_data").at(-1)).toEqual({ id: "d9" });
  });
  it("asks for no plan where nothing may be evaluated, and says why", async () => {
    const fixture = new Fixture();
    fixture.replies.evaluate_options = () => ({
      ...CHOICES,
      why_not: { message: "This page is read-only.", fix: "Start it with --allow-run." },
    });
    await open(fixture, "#/evaluate?data=d1&by=f1_score");
    await until(() => id("look") !== undefined);
    expect(text()).toContain("This page is read-only. Start it with --allow-run.");
    expect(asked(fixture, "plan_evaluating")).toEqual([]);
    expect(button("Choose a file…")).toBeUndefined();
  });
  it("says what was mapped and is passed over", async () => {
    const fixture = new Fixture();
    fixture.evaluations = [evaluation("e1", { notes: ["`respons` is mapped. It is ignored."] })];
    await open(fixture, "#/evaluate/e1");
    await until(() => text().includes("respons is mapped. It is ignored."));
  });
  it("is stopped, and stopped now by the second press", async () => {
    const fixture = new Fixture();
    fixture.evaluations = [evaluation("e1", { state: "running", metrics: [], file: null })];
    await open(fixture, "#/evaluate/e1");
    await until(() => button("Stop") !== undefined);
    fixture.evaluations = [evaluation("e1", { state: "stopping", metrics: [], file: null })];
    button("Stop")?.click();
    await until(() => button("Stop now") !== undefined);
    button("Stop now")?.click();
    await until(() => asked(fixture, "stop_evaluating").length === 2);
    expect(asked(fixture, "stop_evaluating")).toEqual([
      { id: "e1", now: false },
      { id: "e1", now: true },
    ]);
  });
});
