import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { BLANK_DRAFT, draftForRuns } from "../domain/launchDraft";
import {
  HOME,
  format,
  LAST_STEP,
  listOf,
  NEWEST_FIRST,
  parse,
  parseSort,
  Router,
  RUNS,
  runRoute,
  type Route,
  type RunsRoute,
} from "./route";

const sort = fc
  .constantFrom("path", "task", "model", "turns", "modified", "cost")
  .chain((column) =>
    fc.boolean().map((descending) => ({ column, descending }) as RunsRoute["sort"]),
  );
const text = fc.string({ unit: "binary" });
const nat = fc.nat(999_999_999);
const route: fc.Arbitrary<Route> = fc.oneof(
  fc.constantFrom<Route>({ place: "start" }, { place: "settings" }, { place: "guide" }),
  fc.record({
    place: fc.constant("runs" as const),
    q: text,
    sort,
    top: nat,
    single: fc.boolean(),
  }),
  fc.record({
    place: fc.constant("run" as const),
    id: fc.string({ minLength: 1 }),
    q: text,
    sort,
    top: nat,
    step: fc.option(fc.oneof(fc.nat(999_999_998), fc.constant(LAST_STEP))),
    find: text,
    view: fc.constantFrom("steps" as const, "tree" as const, "answer" as const),
    queue: fc.option(
      fc.oneof(
        fc.constant({ kind: "list" as const }),
        fc.constant({ kind: "unreviewed" as const }),
        fc.nat(999_999_999).map((seed) => ({ kind: "random" as const, seed })),
      ),
    ),
  }),
  fc.string().map((from) => ({ ...runRoute("a"), from })),
  fc.record({
    place: fc.constant("overview" as const),
    q: text,
    scorer: text,
    folded: fc.boolean(),
    except: fc.array(text, { maxLength: 3 }),
    missing: fc.boolean(),
    byModel: fc.boolean(),
    byTag: fc.boolean(),
    top: nat,
  }),
  fc.record({
    place: fc.constant("compare" as const),
    ids: fc.array(text, { maxLength: 4 }),
    row: fc.option(nat),
  }),
  fc.record({
    place: fc.constant("report" as const),
    q: text,
    format: fc.constantFrom("html" as const, "csv" as const, "junit" as const),
    scorer: text,
    baseline: text,
    title: text,
    runs: fc.boolean(),
    published: fc.boolean(),
    sets: fc.constantFrom("day" as const, "commit" as const, "tag" as const),
    redact: fc.constantFrom(null, true, false),
  }),
  fc.record({
    place: fc.constant("tasks" as const),
    q: text,
    set: text,
    category: text,
    task: text,
    top: nat,
  }),
  fc.constant(HOME),
  fc.record({ place: fc.constant("trust" as const), q: text, first: text, second: text }),
  fc.record({ place: fc.constant("problems" as const), top: nat }),
  fc.record({
    place: fc.constant("evaluate" as const),
    data: text,
    by: fc.array(text, { maxLength: 3 }),
    rows: fc.option(text),
  }),
  fc.record({ place: fc.constant("evaluation" as const), id: fc.string({ minLength: 1 }) }),
  fc.record({ place: fc.constant("progress" as const), id: fc.string({ minLength: 1 }), top: nat }),
  fc.record({
    place: fc.constant("launch" as const),
    draft: fc
      .record({ tasks: fc.uniqueArray(text, { maxLength: 3 }), find: text })
      .map((some) => ({ ...BLANK_DRAFT, ...some })),
  }),
);

describe("an address", () => {
  it("says every route so that it reads back the same", () => {
    fc.assert(fc.property(route, (one) => void expect(parse(format(one))).toEqual(one)));
  });
  it("survives the browser's own writing of it", () => {
    fc.assert(
      fc.property(
        route,
        (one) => void expect(parse(new URL(format(one), "http://127.0.0.1/").hash)).toEqual(one),
      ),
    );
  });
  it("of any other shape is some route and never a crash", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (hash) => void expect(format(parse(hash))).toMatch(/^#\//),
      ),
    );
  });
  it("without a place is no place, and with a filter it is the list, as in older links", () => {
    for (const hash of ["", "#", "#/"]) expect(parse(hash)).toEqual(HOME);
    expect(parse("#/?q=model%3Ao1&sort=-turns")).toEqual({
      ...RUNS,
      q: "model:o1",
      sort: { column: "turns", descending: true },
    });
  });
  it("leaves out what is as usual", () => {
    expect(format(RUNS)).toBe("#/runs");
    expect(
      format({
        place: "run",
        id: "a/b",
        q: "",
        sort: NEWEST_FIRST,
        top: 0,
        step: 0,
        find: "",
        view: "steps",
        queue: null,
      }),
    ).toBe("#/run/a%2Fb?step=1");
  });
  it("of a review queue keeps its filter and order", () => {
    const address = "#/run/a?q=state%3Aerror&queue=random.7";
    const route = parse(address);
    expect(route).toMatchObject({ q: "state:error", queue: { kind: "random", seed: 7 } });
    expect(format(route)).toBe(address);
    expect(parse("#/run/a?queue=odd")).toMatchObject({ queue: null });
  });
  it("of a review queue leads back to the list that its runs were chosen from", () => {
    const list = (address: string) => {
      const route = parse(address);
      return route.place === "run" ? format(listOf(route)) : undefined;
    };
    expect(list("#/run/a?q=file:a.yaml&sort=cost&queue=list&from=model:o1&top=7")).toBe(
      "#/runs?q=model%3Ao1&sort=cost&top=7",
    );
    expect(list("#/run/a?q=file:a.yaml&queue=list&from=")).toBe("#/runs");
    expect(list("#/run/a?q=model:o1+state:answered,no_answer&queue=list")).toBe(
      "#/runs?q=model%3Ao1+state%3Aanswered,no_answer",
    );
  });
  it("of a step has the number that is on the screen, or that of the last step", () => {
    const step = (word: string) => {
      const route = parse(`#/run/a?step=${word}`);
      return route.place === "run" ? route.step : undefined;
    };
    expect([step("1"), step("12"), step("0"), step("x"), step("last")]).toEqual([
      0,
      11,
      null,
      null,
      LAST_STEP,
    ]);
  });
  it("of a launch of just some runs is short, and one of a launch is another place", () => {
    expect(format({ place: "launch", draft: draftForRuns(["r1", "r2"]) })).toBe(
      "#/launch?runs=r1,r2",
    );
    expect([parse("#/launch").place, parse("#/launch/").place, parse("#/launch/l1")]).toEqual([
      "launch",
      "launch",
      { place: "progress", id: "l1", top: 0 },
    ]);
  });
  it("with a sort nobody knows is sorted as usual", () => {
    for (const word of [null, "", "-", "nothing", "toString", "-__proto__"])
      expect(parseSort(word)).toEqual(NEWEST_FIRST);
  });
});

describe("the router", () => {
  it("goes forward with a step in the history and says more exactly without one", () => {
    const router = new Router();
    router.replace(RUNS);
    const before = history.length;
    router.replace({ ...RUNS, top: 40 });
    expect(history.length).toBe(before);
    router.go({ place: "settings" });
    expect(history.length).toBe(before + 1);
    expect(router.current).toEqual({ place: "settings" });
    router.go({ place: "settings" });
    expect(history.length).toBe(before + 1);
  });
  it("says the last place later when the browser refuses so many changes", () => {
    vi.useFakeTimers();
    const router = new Router();
    const replace = vi.spyOn(history, "replaceState").mockImplementation(() => {
      throw new DOMException("too many", "SecurityError");
    });
    router.replace({ ...RUNS, q: "a" });
    router.replace({ ...RUNS, q: "ab" });
    replace.mockRestore();
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    expect(router.current).toEqual({ ...RUNS, q: "ab" });
  });
});
