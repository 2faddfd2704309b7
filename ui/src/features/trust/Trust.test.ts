import { flushSync, mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import type { Agreement, JudgeRequest, Rater } from "../../generated";
import { layOut } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((found) => flat(found).startsWith(name));

const rater = (name: string, change: Partial<Rater> = {}): Rater => ({
  id: name,
  name,
  runs: 12,
  reviewed: 12,
  stale: 0,
  unread: 0,
  ...change,
});
const JUDGE = rater("sopr:ours:m", { name: "sopr by m", stale: 2, unread: 1 });
const PAIR: Agreement = {
  first: rater("people"),
  second: JUDGE,
  n: 12,
  same: 10,
  kappa: 9 / 13,
  interval: [0.34, 1],
  weighted: null,
  words: "good",
  few: false,
  said: ["right", "wrong"],
  table: [
    [7, 1],
    [1, 3],
  ],
  disagreements: [],
  disagreements_total: 2,
};

async function open(change: (backend: Fixture) => void, hash = "#/trust") {
  const backend = new Fixture();
  change(backend);
  location.hash = hash;
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(id("trust")).not.toBeNull());
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

it("says how to begin where nothing was reviewed, and begins no judging", async () => {
  await open(() => undefined);
  await until(() => expect(flat(id("trust"))).toContain("No reviewed runs yet"));
  expect(button("Calibrate a judge")?.disabled).toBe(true);
});

it("judges exactly the reviewed runs that pass the filter", async () => {
  const backend = await open(
    (backend) =>
      (backend.replies.trust = () => ({
        raters: [rater("people")],
        pairs: [],
        reviewed: 12,
        notes: [],
        unreadable: 0,
      })),
    "#/trust?q=model%3Ao1",
  );
  await until(() => expect(flat(id("trust"))).toContain("No judgements of these runs yet."));
  button("Calibrate a judge")?.click();
  await tick();
  flushSync();
  const requests = () =>
    backend.calls
      .filter((call) => call.name === "plan_judging")
      .map((call) => (call.args as { request: JudgeRequest }).request);
  await until(() =>
    expect(requests().at(-1)).toMatchObject({ runs: [], filter: "review:yes model:o1" }),
  );
});

it("shows a pair closer, names what does not count, and fills in as verdicts come", async () => {
  const backend = await open((backend) => {
    backend.replies.trust = () => ({
      raters: [rater("people"), JUDGE],
      pairs: [PAIR],
      reviewed: 12,
      notes: ["`sowr` is left out."],
      unreadable: 0,
    });
    backend.replies.agreement = () => ({
      ...PAIR,
      disagreements: [
        {
          run: "r7",
          path: "<b>x</b>.yaml",
          task: "t",
          first: "right",
          first_why: "I <i>say</i>",
          second: "wrong",
          second_why: null,
        },
      ],
    });
  });
  await until(() =>
    expect(flat(id("trust-pairs"))).toContain("people and sopr by m10 of 120.690.34 to 1.00–good"),
  );
  expect(flat(id("trust-raters"))).toContain("2 stale, 1 without a verdict");
  expect(flat(id("trust"))).toContain("sowr is left out.");
  await until(() =>
    expect(flat(id("disagreements"))).toContain(
      "<b>x</b>.yaml people right I <i>say</i> sopr by m wrong",
    ),
  );
  expect(id("disagreements")?.querySelector("a")?.getAttribute("href")).toMatch(
    /^#\/run\/r7\?q=file/,
  );
  expect(flat(id("trust-pair"))).toContain("And 1 run more");
  backend.replies.trust = () => ({
    raters: [rater("people"), JUDGE],
    pairs: [{ ...PAIR, same: 11 }],
    reviewed: 12,
    notes: [],
    unreadable: 0,
  });
  backend.tell({ kind: "runs", generation: 2, ids: ["r7"], all: false });
  await until(() => expect(flat(id("trust-pairs"))).toContain("11 of 12"));
});

describe("the disagreements of a pair", () => {
  const run = (name: string, first: string, second: string) => ({
    run: name,
    path: `${name}.yaml`,
    task: "t",
    first,
    first_why: null,
    second,
    second_why: null,
  });
  const opened = async () => {
    await open((backend) => {
      backend.replies.trust = () => ({
        raters: [rater("people"), JUDGE],
        pairs: [PAIR],
        reviewed: 12,
        notes: [],
        unreadable: 0,
      });
      backend.replies.agreement = () => ({
        ...PAIR,
        said: ["right", "in between", "wrong"],
        table: [
          [7, 0, 1],
          [1, 0, 0],
          [0, 0, 3],
        ],
        disagreements: [run("a", "right", "wrong"), run("b", "partly right", "right")],
      });
    });
    await until(() => expect(listed()).toEqual(["a.yaml", "b.yaml"]));
  };
  const listed = () => [...(id("disagreements")?.querySelectorAll("a") ?? [])].map(flat);

  it("are narrowed to a cell of the table, until its chip is removed", async () => {
    await opened();
    const cells = [...(id("confusion")?.querySelectorAll("button") ?? [])];
    expect(cells.map((one) => one.getAttribute("aria-label"))).toEqual([
      "1 run, people: right · sopr by m: wrong",
      "1 run, people: in between · sopr by m: right",
    ]);
    cells[1]?.click();
    flushSync();
    expect(listed()).toEqual(["b.yaml"]);
    expect(cells[1]?.getAttribute("aria-pressed")).toBe("true");
    expect(flat(id("trust-cell"))).toContain("people: in between · sopr by m: right");
    id("trust-cell")?.click();
    flushSync();
    expect([listed().length, id("trust-cell")]).toEqual([2, null]);
  });
  it("are walked by j and k, which open no dialog", async () => {
    await opened();
    const press = (key: string) => {
      (document.activeElement ?? document.body).dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
      );
      flushSync();
      return flat(document.activeElement);
    };
    expect(["j", "j", "j", "k"].map(press)).toEqual(["a.yaml", "b.yaml", "b.yaml", "a.yaml"]);
    expect(document.querySelector("dialog[open]")).toBeNull();
  });
});

it("folds pairs with too few runs into one line that opens, and never the one that is looked at", async () => {
  const with_ = (name: string): Agreement => ({
    ...PAIR,
    second: rater(`stored:${name}`),
    n: 3,
    same: 3,
    kappa: null,
    interval: null,
    words: "too few to tell",
    few: true,
  });
  await open((backend) => {
    backend.replies.trust = () => ({
      raters: [rater("people"), JUDGE],
      pairs: [with_("a"), PAIR, with_("b"), with_("c")],
      reviewed: 12,
      notes: [],
      unreadable: 0,
    });
    backend.replies.agreement = () => PAIR;
  }, "#/trust?first=people&second=stored%3Ab");
  const lines = () => [...(id("trust-pairs")?.querySelectorAll("tbody th") ?? [])].map(flat);
  await until(() => expect(lines()).toEqual(["people and sopr by m", "people and stored:b"]));
  const fold = () => id("trust-few");
  expect([flat(fold()), fold()?.getAttribute("aria-expanded")]).toEqual([
    "▸ 2 more pairs with too few runs",
    "false",
  ]);
  fold()?.click();
  flushSync();
  expect([lines().length, fold()?.getAttribute("aria-expanded")]).toEqual([4, "true"]);
  fold()?.click();
  flushSync();
  expect(lines()).toHaveLength(2);
});

const STORED = [
  rater("stored:f1_score", { name: "f1_score (stored)", reviewed: 0 }),
  rater("stored:rouge_score", { name: "rouge_score (stored)", reviewed: 0 }),
] as const;
const NO_PEOPLE = { ...PAIR, first: STORED[0], second: STORED[1] };
it.each([
  [
    "only files",
    [...STORED],
    [NO_PEOPLE],
    0,
    "#/trust",
    "No reviewed runs yet, so there is no agreement with people. There are no judgements either; the pairs below are stored verdicts. Open a run",
  ],
  [
    "files and a judge",
    [...STORED, JUDGE],
    [NO_PEOPLE],
    0,
    "#/trust",
    "No reviewed runs yet, so there is no agreement with people. Open a run",
  ],
  [
    "files under a filter",
    [...STORED],
    [NO_PEOPLE],
    0,
    "#/trust?q=model%3Ao1",
    "None of these runs is reviewed, so there is no agreement with people. There are no judgements",
  ],
  [
    "files and people",
    [rater("people"), ...STORED],
    [PAIR],
    12,
    "#/trust",
    "before anything is sent. Stored verdicts are listed below.",
  ],
  ["people alone", [rater("people")], [], 12, "#/trust", "before anything is sent. No run has"],
])("says what is compared where there are %s", async (_, raters, pairs, reviewed, hash, words) => {
  await open((backend) => {
    backend.replies.trust = () => ({ raters, pairs, reviewed, notes: [], unreadable: 0 });
    backend.replies.agreement = () => PAIR;
  }, hash);
  await until(() => expect(flat(id("trust"))).toContain(words));
});
