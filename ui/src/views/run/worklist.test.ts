import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../App.svelte";
import { Fixture, runRow } from "../../fixture";
import type { Verdict } from "../../generated/Verdict";
import { layOut, SMALL, view } from "../../step/canned.test-env";

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
const text = (testid: string) => document.querySelector(`[data-testid='${testid}']`)?.textContent.replace(/\s+/g, " ").trim() ?? "";
const footer = () => document.querySelector("footer [role='status']")?.textContent ?? "";
async function press(key: string) {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  await tick();
  flushSync();
}

/** Runs that leave the list as soon as they are reviewed, and what was said of each. */
class Queue extends Fixture {
  readonly said = new Map<string, { verdict: Verdict | null; at: number }>();
  #clock = 0;

  constructor(runs: number) {
    super(Array.from({ length: runs }, (_, at) => runRow(at)));
    this.replies.open_run = ({ id }) => view(SMALL, { id, task: `task of ${id}` });
    this.replies.read_steps = ({ span }) => ({ version: "v1", total_steps: SMALL.length, steps: SMALL.slice(span.offset, span.offset + span.limit) });
    const scores = this.replies.run_scores;
    this.replies.run_scores = async ({ id }) => {
      const said = this.said.get(id);
      const review = said ? { verdict: said.verdict, score: null, note: "", at_ms: said.at, stale: false, answer: "mark1" } : null;
      return { ...(await scores({ id })), review };
    };
    this.replies.review_run = ({ id, review }) => {
      this.put(id, review?.verdict ?? null);
      return null;
    };
  }

  put(id: string, verdict: Verdict | null) {
    if (verdict === null) this.said.delete(id);
    else this.said.set(id, { verdict, at: ++this.#clock });
    this.rows = this.rows.filter((row) => row.id !== id);
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
    // The list itself has one run less by now.
    await until(() => expect(text("refresh-list")).toBe("refresh list"));
    await press("J");
  }
  await until(() => expect(footer()).toBe("This is the last run of the list."));
  expect([...queue.said].map(([id, { verdict }]) => [id, verdict])).toEqual([["r0", "right"], ["r1", "partly"], ["r2", "wrong"], ["r3", "right"], ["r4", "partly"], ["r5", "wrong"]]);
  await press("K");
  await at(4, 6);
});

it("a list that is worked through is the one there is now once it is refreshed, and leads on from a run that left it", async () => {
  const queue = new Queue(3);
  await work(queue);
  await press("1");
  await until(() => expect(text("refresh-list")).not.toBe(""));
  document.querySelector<HTMLElement>("[data-testid='refresh-list']")?.click();
  await until(() => expect(text("run-position")).toBe("not in the list of 2"));
  await press("J");
  await until(() => expect(location.hash).toContain("/run/r1"));
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
  // What was marked anew goes back to what stood there.
  await press("3");
  await until(() => expect(queue.said.get("r1")?.verdict).toBe("wrong"));
  await until(() => expect(footer()).toBe("Marked wrong. Undo (0)"));
  await press("0");
  await until(() => expect(queue.said.get("r1")?.verdict).toBe("right"));
  // What somebody else said since then stays.
  await press("3");
  await until(() => expect(queue.said.get("r1")?.verdict).toBe("wrong"));
  await until(() => expect(footer()).toBe("Marked wrong. Undo (0)"));
  queue.put("r1", "partly");
  await press("0");
  await until(() => expect(footer()).toBe("Not undone: the review was changed meanwhile."));
  expect(queue.said.get("r1")?.verdict).toBe("partly");
});
