import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture, runRow } from "../../testing/fakeBackend";
import type { RunsAround, Verdict } from "../../generated";
import { layOut, SMALL, view } from "../../testing/runs";
import { WorkList } from "../../app/worklist.svelte";

let page: ReturnType<typeof mount> | undefined;
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

const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const text = (testid: string) =>
  document.querySelector(`[data-testid='${testid}']`)?.textContent.replace(/\s+/g, " ").trim() ??
  "";
const footer = () => document.querySelector("footer [role='status']")?.textContent ?? "";
async function press(key: string, more: KeyboardEventInit = {}) {
  document.body.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }),
  );
  await tick();
  flushSync();
}

/** Runs that leave the list when reviewed, and their verdicts. */
class Queue extends Fixture {
  readonly said = new Map<string, { verdict: Verdict | null; at: number }>();
  /** The verdicts before each change. */
  readonly former: [string, Verdict | null][] = [];
  #clock = 0;

  /** All runs, reviewed or not. */
  readonly order: string[];

  constructor(
    runs: number,
    /** True for a filter that reviewed runs no longer pass. */
    readonly drops = true,
  ) {
    super(Array.from({ length: runs }, (_, at) => runRow(at)));
    this.replies.open_run = ({ id }) => view(SMALL, { id, task: `task of ${id}` });
    this.replies.read_steps = ({ span }) => ({
      version: "v1",
      total_steps: SMALL.length,
      steps: SMALL.slice(span.offset, span.offset + span.limit),
    });
    this.order = this.rows.map((row) => row.id);
    this.replies.runs_around = ({ id }) => {
      const ids = this.rows.map((row) => row.id);
      const before = this.order
        .slice(0, Math.max(0, this.order.indexOf(id)))
        .filter((other) => ids.includes(other)).length;
      return { offset: 0, before, total: ids.length, ids };
    };
    const scores = this.replies.run_scores;
    this.replies.run_scores = async ({ id, author }) => {
      const said = this.said.get(id);
      const review = said
        ? {
            verdict: said.verdict,
            score: null,
            note: "",
            at_ms: said.at,
            stale: false,
            answer: "mark1",
            author: null,
            steps: [],
            labels: {},
          }
        : null;
      return { ...(await scores({ id, author })), review };
    };
    this.replies.review_run = ({ id, review }) => {
      const change = this.former.push([id, this.said.get(id)?.verdict ?? null]);
      this.put(id, review?.verdict ?? null);
      return change;
    };
    this.replies.undo_review = ({ id: wanted, change }) => {
      const [id, verdict] = this.former[change - 1] ?? ["", null];
      expect(id).toBe(wanted);
      this.put(id, verdict);
      return null;
    };
    this.replies.queue_progress = () => {
      const passing = this.rows.map((row) => row.id);
      const said = [...this.said].filter(([id]) => passing.includes(id));
      const count = (wanted: Verdict) =>
        said.filter(([, { verdict }]) => verdict === wanted).length;
      return {
        total: passing.length,
        reviewed: said.length,
        right: count("right"),
        partly: count("partly"),
        wrong: count("wrong"),
      };
    };
  }

  put(id: string, verdict: Verdict | null) {
    if (verdict === null) this.said.delete(id);
    else this.said.set(id, { verdict, at: ++this.#clock });
    if (this.drops) this.rows = this.rows.filter((row) => row.id !== id);
    this.tell({ kind: "runs", generation: 1 + this.#clock, ids: [id], all: false });
  }
}

async function work(queue: Queue) {
  location.hash = "#/run/r0?q=review:no";
  page = mount(App, { target: document.body, props: { backend: queue } });
  await at(0, queue.rows.length);
}
const at = (n: number, of: number) =>
  until(() => {
    expect(text("run-position")).toBe(`${n + 1} of ${of}`);
    expect(document.querySelector(".who h1")?.textContent).toBe(`task of r${n}`);
    expect(text("review")).not.toBe("");
  });

it("a list that is worked through stays as it was, and each verdict is of the run on screen", async () => {
  const queue = new Queue(6);
  await work(queue);
  for (const [n, key] of ["1", "2", "3", "1", "2", "3"].entries()) {
    await at(n, 6);
    await press(key);
    await until(() => expect(footer()).toContain("Undo (0)"));
    // The list now has one run less.
    await until(() => expect(text("refresh-list")).toBe("refresh list"));
    await press("J");
  }
  await until(() => expect(footer()).toBe("This is the last run of the list."));
  expect([...queue.said].map(([id, { verdict }]) => [id, verdict])).toEqual([
    ["r0", "right"],
    ["r1", "partly"],
    ["r2", "wrong"],
    ["r3", "right"],
    ["r4", "partly"],
    ["r5", "wrong"],
  ]);
  await press("K");
  await at(4, 6);
});

it("a list that was refreshed leads on from a run that left it to the runs that stood beside it", async () => {
  for (const [key, next] of [
    ["J", "r4"],
    ["K", "r2"],
  ] as const) {
    const queue = new Queue(6);
    await work(queue);
    for (const n of [1, 2, 3]) {
      await press("J");
      await at(n, 6);
    }
    await press("1");
    await until(() => expect(text("refresh-list")).not.toBe(""));
    document.querySelector<HTMLElement>("[data-testid='refresh-list']")?.click();
    await until(() => expect(text("run-position")).toBe("not in the list of 5"));
    await press(key);
    await until(() => expect(location.hash).toContain(`/run/${next}`));
    if (page) await unmount(page);
    page = undefined;
  }
});

it("the first run that is opened of a list leads on to its neighbours, also where it is not in the list any more", async () => {
  const queue = new Queue(5);
  queue.put("r2", "right");
  location.hash = "#/run/r2?q=review:no";
  page = mount(App, { target: document.body, props: { backend: queue } });
  await until(() => expect(text("run-position")).toBe("not in the list of 4"));
  await press("K");
  await until(() => expect(location.hash).toContain("/run/r1"));
});

it("a verdict that could not be kept can be taken back, and nothing is kept then", async () => {
  const queue = new Queue(2);
  await work(queue);
  const keep = queue.replies.review_run;
  queue.replies.review_run = () => {
    throw { code: "failed", message: "The disk is full.", hint: null };
  };
  await press("1");
  await until(() => expect(text("review")).toContain("The disk is full."));
  queue.replies.review_run = keep;
  document.querySelector<HTMLElement>("[data-testid='review-undo']")?.click();
  await until(() => expect(text("review-undo")).toBe(""));
  await until(() =>
    expect(document.querySelector("[data-testid='review'] [aria-pressed='true']")).toBeNull(),
  );
  await until(() => expect(text("review")).not.toContain("The disk is full."));
  expect(queue.said.size).toBe(0);
});

it("the button that undoes takes back what was just said, and goes", async () => {
  const queue = new Queue(2);
  await work(queue);
  expect(text("review-undo")).toBe("");
  await press("3");
  await until(() => expect(queue.said.get("r0")?.verdict).toBe("wrong"));
  await until(() => expect(text("review-undo")).toContain("Undo"));
  document.querySelector<HTMLElement>("[data-testid='review-undo']")?.click();
  await until(() => expect(queue.said.has("r0")).toBe(false));
  await until(() => expect(text("review-undo")).toBe(""));
});

it("undo is of the verdict just given: it goes with its run, and never takes an older one", async () => {
  const queue = new Queue(3);
  queue.put("r1", "right");
  queue.rows.splice(1, 0, runRow(1));
  await work(queue);
  await press("2");
  await until(() => expect(footer()).toBe("Marked partly right. Undo (0)"));
  await press("J");
  await at(1, 3);
  expect(footer()).toBe("");
  await press("0");
  await until(() => expect(footer()).toContain("Nothing to undo"));
  expect(queue.said.get("r1")?.verdict).toBe("right");
  // Undo restores the previous verdict.
  await press("3");
  await until(() => expect(queue.said.get("r1")?.verdict).toBe("wrong"));
  await until(() => expect(footer()).toBe("Marked wrong. Undo (0)"));
  await press("0");
  await until(() => expect(queue.said.get("r1")?.verdict).toBe("right"));
  // A later verdict of someone else stays.
  await press("3");
  await until(() => expect(queue.said.get("r1")?.verdict).toBe("wrong"));
  await until(() => expect(footer()).toBe("Marked wrong. Undo (0)"));
  queue.put("r1", "partly");
  await press("0");
  await until(() => expect(footer()).toBe("Not undone: the review has changed since."));
  expect(queue.said.get("r1")?.verdict).toBe("partly");
});

async function reviewing(queue: Queue) {
  location.hash = "#/run/r0?queue=list";
  page = mount(App, { target: document.body, props: { backend: queue } });
  await at(0, queue.rows.length);
  await until(() => expect(text("queue-progress")).toBe("0 of 3 reviewed"));
}
const check = (label: string) =>
  [...document.querySelectorAll<HTMLElement>("[data-testid='queue'] label")].find((one) =>
    one.textContent.includes(label),
  );

it("a verdict in a queue leads to the next run, and the end sums up what was said", async () => {
  const queue = new Queue(3, false);
  await reviewing(queue);
  await press("1");
  await at(1, 3);
  await until(() => expect(footer()).toBe("Marked right: task of r0. Undo (0), note (W)"));
  await until(() => expect(text("queue-progress")).toBe("1 of 3 reviewed"));
  await press("J");
  await at(2, 3);
  expect(text("queue-end")).toBe("");
  await press("3");
  await until(() => expect(text("queue-end")).toContain("2 of 3 reviewed"));
  expect(text("queue-end")).toContain("1 right, 1 wrong.");
  expect(location.hash).toContain("/run/r2?queue=list");
  await press("K");
  await at(1, 3);
  expect(text("queue-end")).toBe("");
});

it("W writes a note on the run of the last verdict, which the message names", async () => {
  const queue = new Queue(3, false);
  await reviewing(queue);
  await press("3");
  await at(1, 3);
  await until(() => expect(footer()).toBe("Marked wrong: task of r0. Undo (0), note (W)"));
  await press("W");
  await at(0, 3);
  await until(() => expect(document.activeElement?.getAttribute("aria-label")).toBe("Note"));
});

it("the keys of a review are the first of all keys in a queue", async () => {
  await reviewing(new Queue(3, false));
  await press("?");
  await until(() =>
    expect(document.querySelector("[data-testid='key-sheet'] h2")?.textContent).toBe("Review"),
  );
});

it("agreeing with a verdict that is there confirms it and leads on, without an undo", async () => {
  const queue = new Queue(3, false);
  queue.put("r0", "right");
  location.hash = "#/run/r0?queue=list";
  page = mount(App, { target: document.body, props: { backend: queue } });
  await at(0, 3);
  await until(() =>
    expect(document.querySelector("[data-testid='review'] .verdicts .said")).not.toBeNull(),
  );
  await press("1");
  await at(1, 3);
  await until(() => expect(footer()).toBe("Confirmed as right: task of r0."));
  expect(queue.former).toEqual([]);
  await press("0");
  await until(() => expect(footer()).toBe("Nothing to undo on this run."));
  expect(queue.said.get("r0")?.verdict).toBe("right");
});

it("a queue hides scores and the reviews by others until they are wanted", async () => {
  const queue = new Queue(3, false);
  const scores = queue.replies.run_scores;
  const opened = queue.replies.open_run;
  queue.replies.open_run = async (request) => {
    const run = await opened(request);
    const stored = { passed: 0, decided: 2, errors: 0 };
    return { ...run, row: { ...run.row, scoring: null, score: null, stored } };
  };
  const other = {
    verdict: "wrong",
    score: null,
    note: "too short",
    at_ms: 1,
    stale: false,
  } as const;
  queue.replies.run_scores = async (request) => ({
    ...(await scores(request)),
    others: [{ ...other, answer: null, author: "Zoë", steps: [], labels: {} }],
  });
  await reviewing(queue);
  await until(() => expect(text("blind")).toContain("are hidden in this queue"));
  for (const hidden of [
    "scores",
    "score-chip",
    "verdicts-chip",
    "run-figures",
    "reviews-of-others",
    "files",
    "dock",
  ])
    expect(text(hidden)).toBe("");
  expect(document.querySelector("main.page")?.textContent).not.toMatch(/\$0\.|\d tokens|\d s\b/u);
  const model = view(SMALL).row.model ?? "";
  const head = () => document.querySelector("main.page .head")?.textContent ?? "";
  expect(head()).toContain("Blind review");
  expect(document.querySelector("main.page")?.textContent).not.toContain(model);
  await until(() => expect(document.title).toMatch(/^Blind review · 1 of 3 – /u));
  document.querySelector<HTMLElement>("[data-testid='queue-blind']")?.click();
  await until(() => expect(text("reviews-of-others")).toContain("Zoë"));
  expect(text("scores")).not.toBe("");
  expect(text("verdicts-chip")).toContain("Fails 2 of 2 evaluators");
  expect(text("run-figures")).not.toBe("");
  expect(text("blind")).toBe("");
  expect(head()).toContain(model);
  expect(document.title).toContain(model);
  document.querySelector<HTMLElement>("[data-testid='queue-blind']")?.click();
  await until(() => expect(text("reviews-of-others")).toBe(""));
});

it("a verdict before the next run is shown is not counted, and it says so", async () => {
  const queue = new Queue(3, false);
  await reviewing(queue);
  const keep = queue.replies.review_run;
  let release: () => void = () => undefined;
  queue.replies.review_run = async (request) => {
    await new Promise<void>((resolve) => (release = resolve));
    return keep(request);
  };
  await press("1");
  await press("3");
  expect(footer()).toBe("Not counted: the next run was not shown yet.");
  release();
  await at(1, 3);
  await until(() =>
    expect(footer()).toBe(
      "Marked right: task of r0. Not counted: the next run was not shown yet. Undo (0), note (W)",
    ),
  );
  expect([...queue.said].map(([id, { verdict }]) => [id, verdict])).toEqual([["r0", "right"]]);
  await press("z", { ctrlKey: true });
  await at(0, 3);
  expect(queue.said.get("r0")?.verdict ?? null).toBeNull();
});

it("undo in a queue goes back to the run of the latest verdict and restores its former review", async () => {
  const queue = new Queue(3, false);
  queue.put("r1", "wrong");
  queue.said.delete("r0");
  location.hash = "#/run/r0?queue=list";
  page = mount(App, { target: document.body, props: { backend: queue } });
  await at(0, 3);
  await press("1");
  await at(1, 3);
  await press("2");
  await at(2, 3);
  await press("0");
  await at(1, 3);
  expect(queue.said.get("r1")?.verdict).toBe("wrong");
  await until(() => expect(footer()).toBe("Undone: task of r1."));
  await press("0");
  await at(0, 3);
  expect(queue.said.has("r0")).toBe(false);
  await press("0");
  await until(() => expect(footer()).toBe("Nothing to undo on this run."));
});

it("a queue over runs without a review counts the verdicts against the runs it began with", async () => {
  const queue = new Queue(3);
  location.hash = "#/run/r0?q=review:no&queue=list";
  page = mount(App, { target: document.body, props: { backend: queue } });
  await at(0, 3);
  await until(() => expect(text("queue-progress")).toBe("0 of 3 reviewed"));
  await press("1");
  await at(1, 3);
  await until(() => expect(text("queue-progress")).toBe("1 of 3 reviewed"));
  await press("2");
  await at(2, 3);
  await press("0");
  await at(1, 3);
  await until(() => expect(text("queue-progress")).toBe("1 of 3 reviewed"));
  await press("2");
  await at(2, 3);
  await press("3");
  await until(() => expect(text("queue-end")).toContain("3 of 3 reviewed"));
  expect(text("queue-end")).toContain("1 right, 1 partly right, 1 wrong.");
  expect(document.activeElement?.textContent).toContain("Back to the list");
  await press("Escape");
  await until(() => expect(location.hash).toBe("#/runs?q=review%3Ano"));
});

const link = (words: string) =>
  [...document.querySelectorAll<HTMLElement>("[data-testid='queue'] button")].find((one) =>
    one.textContent.includes(words),
  );
async function closeQueue() {
  document.querySelector<HTMLElement>("[data-testid='queue'] .close")?.click();
  await until(() => expect(location.hash).toMatch(/^#\/runs/u));
}

it("a queue sums up at last what was said before the rest of it was reviewed", async () => {
  const queue = new Queue(3, false);
  await reviewing(queue);
  await press("1");
  await at(1, 3);
  await press("J");
  await at(2, 3);
  await press("3");
  await until(() => expect(text("queue-end")).toContain("2 of 3 reviewed"));
  queue.replies.queue_around = () => ({ offset: 0, before: 0, total: 3, ids: ["r1", "r0", "r2"] });
  link("Review the rest")?.click();
  await until(() => expect(location.hash).toContain("/run/r1?queue=unreviewed"));
  await until(() => expect(document.querySelector(".who h1")?.textContent).toBe("task of r1"));
  await until(() => expect(text("review")).not.toBe(""));
  await press("2");
  await until(() => expect(footer()).toContain("Marked partly right"));
  await closeQueue();
  await until(() => expect(footer()).toBe("Reviewed 3 runs: 1 right, 1 partly right, 1 wrong."));
});

it("a queue counts and sums up what was said before unfinished runs were included", async () => {
  const queue = new Queue(3);
  location.hash = `#/run/r0?q=${encodeURIComponent("review:no state:answered,no_answer")}&queue=list`;
  page = mount(App, { target: document.body, props: { backend: queue } });
  await at(0, 3);
  await until(() => expect(text("queue-progress")).toBe("0 of 3 reviewed"));
  await press("1");
  await at(1, 3);
  await until(() => expect(text("queue-progress")).toBe("1 of 3 reviewed"));
  link("Include them")?.click();
  await until(() => expect(location.hash).not.toContain("state"));
  await until(() => expect(text("queue-progress")).toBe("1 of 3 reviewed"));
  await closeQueue();
  await until(() => expect(footer()).toBe("Reviewed 1 run: 1 right."));
});

it("the buttons of the review box lead on and are undone like the keys", async () => {
  const queue = new Queue(3, false);
  await reviewing(queue);
  const button = (word: string) =>
    [...document.querySelectorAll<HTMLElement>("[data-testid='review'] .verdicts button")].find(
      (one) => one.textContent.includes(word),
    );
  button("Right")?.click();
  await at(1, 3);
  await until(() => expect(footer()).toBe("Marked right: task of r0. Undo (0), note (W)"));
  await press("0");
  await at(0, 3);
  expect(queue.said.size).toBe(0);
});

it("several notes on one step are shown, though two have the same number", async () => {
  const queue = new Queue(2, false);
  const scores = queue.replies.run_scores;
  const steps = [
    { step: 2, note: "a" },
    { step: 2, note: "b" },
  ];
  queue.replies.run_scores = async (request) => {
    const all = await scores(request);
    return { ...all, review: all.review && { ...all.review, steps } };
  };
  queue.put("r0", "right");
  await work(queue);
  await until(() => expect(text("review")).toContain("Notes on steps: 3"));
});

it("a queue stays on the run after a verdict where that is wanted, and ends in the list", async () => {
  const queue = new Queue(3, false);
  await reviewing(queue);
  check("next run after a verdict")?.querySelector("input")?.click();
  await press("1");
  await until(() => expect(footer()).toBe("Marked right. Undo (0)"));
  await at(0, 3);
  await press("0");
  await until(() => expect(queue.said.has("r0")).toBe(false));
  await until(() => expect(text("queue-progress")).toBe("0 of 3 reviewed"));
  check("next run after a verdict")?.querySelector("input")?.click();
  const select = check("Order")?.querySelector("select");
  if (select) select.value = "random";
  select?.dispatchEvent(new Event("change", { bubbles: true }));
  await until(() => expect(location.hash).toMatch(/queue=random\.\d+/u));
  await press("2");
  await until(() => expect(footer()).toContain("Marked partly right"));
  document.querySelector<HTMLElement>("[data-testid='queue'] .close")?.click();
  await until(() => expect(location.hash).toBe("#/runs"));
  expect(document.querySelector("[data-testid='queue']")).toBeNull();
  await until(() => expect(footer()).toBe("Reviewed 1 run: 1 partly right."));
});

/** A list that returns only a limited number of neighbours per request. */
class Long {
  ids: string[];
  fails = false;
  asked = 0;

  constructor(
    readonly order: readonly string[],
    readonly most: number,
  ) {
    this.ids = [...order];
  }

  readonly call = async (_: "runs_around", { id }: { id: string }): Promise<RunsAround> => {
    this.asked++;
    if (this.fails) throw { code: "failed", message: "no", hint: null };
    const before = this.order
      .slice(0, this.order.indexOf(id))
      .filter((other) => this.ids.includes(other)).length;
    const offset = Math.max(0, before - this.most);
    return {
      offset,
      before,
      total: this.ids.length,
      ids: this.ids.slice(offset, before + 1 + this.most),
    };
  };
}
const LIST = {
  q: "",
  sort: { column: "path", descending: false },
  queue: null,
  author: null,
} as const;

it("a long list is worked through to both of its ends, in its order, whatever leaves it on the way", async () => {
  const order = Array.from({ length: 2_500 }, (_, n) => `r${n}`);
  const long = new Long(order, 300);
  const list = new WorkList(long as unknown as Fixture);
  /** Walks from a run to the end and reviews every third. */
  const walk = async (from: string, to: "next" | "previous") => {
    const seen = [from];
    for (let id: string | null = from; id !== null;) {
      list.open({ ...LIST, q: "review:no" }, id);
      if (list.hasMore(id, to)) await list.awaited;
      if (seen.length % 3 === 0) long.ids = long.ids.filter((other) => other !== id);
      id = list.place(id)?.[to] ?? null;
      if (id !== null) seen.push(id);
    }
    return seen;
  };
  expect(await walk("r1000", "next")).toEqual(order.slice(1000));
  expect(list.place("r2499")).toMatchObject({ position: 2_499, total: 2_500, next: null });
  expect(list.hasMore("r2499", "next")).toBe(false);
  expect(await walk("r2499", "previous")).toEqual([...order].reverse());
  expect(list.place("r0")?.position).toBe(0);
  expect(list.hasMore("r0", "previous")).toBe(false);
  expect(long.asked).toBeLessThan(40);
});

it("the list of another place is worked through in its order, until another list is opened", async () => {
  const order = Array.from({ length: 300 }, (_, n) => `r${n}`);
  const backend = new Long(order, 300);
  const list = new WorkList(backend as unknown as Fixture);
  const few = ["r9", "r2", "r5"].map((id) => ({ id, path: `${id}.yaml` }));
  const route = list.give("r2", few);
  expect(route).toMatchObject({ id: "r2", q: "file:r9.yaml,r2.yaml,r5.yaml" });
  const given = { ...LIST, q: route.q, sort: route.sort };
  list.open(given, "r2");
  expect(list.place("r2")).toEqual({ position: 1, total: 3, previous: "r9", next: "r5" });
  expect([list.hasMore("r5", "next"), backend.asked]).toEqual([false, 0]);
  const around = { offset: 0, before: 0, total: 3, ids: ["r1", "r5", "r9"] };
  expect(list.arranged("r2", around).ids).toEqual(["r9", "r2", "r5"]);
  // No filter holds so many.
  const many = list.give(
    "r7",
    [...order].reverse().map((id) => ({ id, path: `${id}.yaml` })),
  );
  expect(many.q).toBe("");
  list.open({ ...LIST, sort: many.sort }, "r7");
  expect(list.place("r7")).toMatchObject({ position: 292, total: 300, next: "r6" });
  list.open(LIST, "r7");
  await list.awaited;
  expect([list.isGiven, list.place("r7")?.next]).toEqual([false, "r8"]);
});

it("a part of the list that could not be had is asked for again", async () => {
  const long = new Long(
    Array.from({ length: 30 }, (_, n) => `r${n}`),
    5,
  );
  const list = new WorkList(long as unknown as Fixture);
  list.open(LIST, "r0");
  await list.awaited;
  await list.awaited;
  long.fails = true;
  const end = long.order.findLast((id) => list.place(id) !== undefined) ?? "";
  list.open(LIST, end);
  await list.awaited;
  expect([list.place(end)?.next, list.hasMore(end, "next")]).toEqual([null, true]);
  long.fails = false;
  list.open(LIST, end);
  await list.awaited;
  expect(list.place(end)?.next).toBe(`r${Number(end.slice(1)) + 1}`);
});
