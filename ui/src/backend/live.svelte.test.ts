import { flushSync } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Fixture, runRow } from "../testing/fakeBackend";
import { MIN_INTERVAL_MS, makesStale, Live, type Query } from "./live";

const REQUEST = {
  request: {
    filter: "",
    sort: { column: "task", descending: false },
    span: { offset: 0, limit: 5 },
  },
} as const;
let fixture: Fixture;
let live: Live;
const asked = (name: string) => fixture.calls.filter((call) => call.name === name).length;
/** Reads like a template. Returns the last values and a way to stop watching. */
function watch<T>(ask: () => Query<T>) {
  const seen: { data?: T; error?: string; busy?: boolean } = {};
  const stop = $effect.root(() => {
    $effect(() => {
      const query = ask();
      Object.assign(seen, { data: query.data, error: query.error?.message, busy: query.busy });
    });
  });
  flushSync();
  return { seen, stop };
}
const beat = async (ms = MIN_INTERVAL_MS + 1) => {
  await vi.advanceTimersByTimeAsync(ms);
  flushSync();
};

beforeEach(() => {
  vi.useFakeTimers();
  fixture = new Fixture();
  live = new Live(fixture);
  return () => {
    live.close();
    vi.useRealTimers();
  };
});

describe("an answer", () => {
  it("is asked for once, however many look at it, and only when someone looks", async () => {
    live.query("folders", {});
    await beat();
    expect(fixture.calls).toEqual([]);
    const [one, two] = [
      watch(() => live.query("folders", {})),
      watch(() => live.query("folders", {})),
    ];
    await beat();
    expect(asked("folders")).toBe(1);
    expect(one.seen.data).toEqual(two.seen.data);
    one.stop();
    two.stop();
  });
  it("stays in sight while it is asked again, and beside the error when that fails", async () => {
    const { seen, stop } = watch(() => live.query("status", {}));
    await beat();
    expect(seen).toMatchObject({ data: { generation: 1 }, busy: false });
    fixture.replies.status = () =>
      Promise.reject({ code: "failed", message: "The index is locked.", hint: null });
    fixture.tell({ kind: "status" });
    await beat();
    expect(seen).toMatchObject({ data: { generation: 1 }, error: "The index is locked." });
    fixture.replies.status = () => fixture.status;
    live.query("status", {}).refetch();
    await beat();
    expect(seen.error).toBeUndefined();
    stop();
  });
  it("that went stale unseen is asked for again when it is next looked at", async () => {
    const first = watch(() => live.query("list_runs", REQUEST));
    await beat();
    first.stop();
    await beat();
    fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
    await beat();
    expect(asked("list_runs")).toBe(1);
    const second = watch(() => live.query("list_runs", REQUEST));
    expect(second.seen.data).toBeDefined();
    await beat();
    expect(asked("list_runs")).toBe(2);
    second.stop();
  });
  it("that goes stale on its way is asked again, and none is lost in a flood", async () => {
    let generation = 1;
    fixture.replies.list_runs = async () => {
      const answered = generation;
      await new Promise((later) => setTimeout(later, 250));
      return { total: 1, generation: answered, rows: [runRow(1)], misread: [] };
    };
    const { seen, stop } = watch(() => live.query("list_runs", REQUEST));
    for (let told = 0; told < 100; told++) {
      fixture.tell({ kind: "runs", generation: ++generation, ids: [], all: true });
      await beat(20);
    }
    expect(seen.data?.generation).toBeGreaterThan(1);
    await beat(2_000);
    expect(seen.data?.generation).toBe(101);
    expect(asked("list_runs")).toBeLessThan(12);
    stop();
  });
  it("that goes stale on its way is asked again a beat after it was asked, and at once when it took longer", async () => {
    for (const [took, again] of [
      [30, MIN_INTERVAL_MS],
      [180, 180],
    ] as const) {
      const times: number[] = [];
      fixture.replies.list_runs = async () => {
        times.push(performance.now());
        await new Promise((later) => setTimeout(later, took));
        return { total: 0, generation: 1, rows: [], misread: [] };
      };
      const { stop } = watch(() => live.query("list_runs", REQUEST));
      live.query("list_runs", REQUEST).refetch();
      await beat(20);
      fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
      await beat(1_000);
      expect(times.length).toBeGreaterThanOrEqual(2);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(again);
      expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThan(again + 5);
      stop();
    }
  });
  it("that counts all runs is made anew at most once a second, and the last change is in it", async () => {
    const { seen, stop } = watch(() => live.query("facets", {}));
    await beat();
    let counted = 0;
    fixture.replies.facets = async () => ({ keys: [], counted: ++counted }) as never;
    for (let told = 0; told < 100; told++) {
      fixture.tell({ kind: "runs", generation: told, ids: [], all: true });
      await beat(20);
    }
    expect(asked("facets")).toBeLessThanOrEqual(4);
    await beat(2_000);
    const last = counted;
    await beat(5_000);
    expect(counted).toBe(last);
    expect(seen.data).toMatchObject({ counted: last });
    stop();
  });
  it("that nobody looks at any more is asked no further, however much goes stale", async () => {
    for (const [name, took] of [
      ["facets", 0],
      ["list_runs", 300],
    ] as const) {
      const base = fixture.replies[name] as (args: never) => unknown;
      fixture.replies[name] = (async (args: never): Promise<unknown> => {
        await new Promise((later) => setTimeout(later, took));
        return base(args);
      }) as never;
      const ask = () =>
        live.query(name, (name === "facets" ? {} : REQUEST) as never) as Query<unknown>;
      const { stop } = watch(ask);
      await beat(20);
      fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
      stop();
      const before = asked(name);
      for (let told = 0; told < 50; told++) {
        fixture.tell({ kind: "runs", generation: told, ids: [], all: true });
        await beat(100);
      }
      expect(asked(name) - before).toBeLessThanOrEqual(1);
      const now = asked(name);
      const again = watch(ask);
      await beat(1_500);
      expect(asked(name)).toBe(now + 1);
      expect(again.seen).toMatchObject({ busy: false });
      again.stop();
    }
  });
  it.each(["make_report", "trust", "agreement"] as const)(
    "of %s goes through all runs, and is made anew at most once a second",
    async (name) => {
      let made = 0;
      fixture.replies[name] = () => ({ text: String(++made) }) as never;
      const { seen, stop } = watch(
        () => live.query(name, { request: {}, whole: true } as never) as Query<unknown>,
      );
      for (let told = 0; told < 30; told++) {
        fixture.tell({ kind: "runs", generation: told, ids: [], all: true });
        await beat(100);
      }
      expect(made).toBeGreaterThan(1);
      expect(made).toBeLessThanOrEqual(4);
      await beat(2_000);
      // Finished and not waiting in sight.
      expect(seen).toMatchObject({ data: { text: String(made) }, busy: false });
      stop();
    },
  );
  it("of a whole report is not kept for a question that nobody asks any more", async () => {
    let slow = 0;
    fixture.replies.make_report = async () => {
      await new Promise((later) => setTimeout(later, slow));
      return { text: "all of it" } as never;
    };
    const ask = () => live.query("make_report", { request: {}, whole: true } as never);
    const first = watch(ask);
    await beat();
    expect(first.seen.data).toBeDefined();
    first.stop();
    await beat(2_000);
    expect(ask().data).toBeUndefined();
    slow = 500;
    const second = watch(ask);
    await beat(100);
    second.stop();
    await beat(2_000);
    expect(ask().data).toBeUndefined();
    expect(asked("make_report")).toBe(2);
    const third = watch(ask);
    await beat(600);
    expect(third.seen.data).toBeDefined();
    third.stop();
  });
  it("is told at most ten times a second", async () => {
    const ear = vi.fn();
    live.onStale(ear);
    for (let told = 0; told < 1_000; told++) {
      fixture.tell({ kind: "status" });
      await beat(1);
    }
    await beat();
    expect(ear.mock.calls.length).toBeGreaterThan(5);
    expect(ear.mock.calls.length).toBeLessThanOrEqual(12);
    expect(ear.mock.calls.flat(2).length).toBe(1_000);
  });
});

describe("an event", () => {
  /** Replies that name their folder. */
  function folders() {
    const now = { folder: "A", slow: 0 };
    const answer = (async () => {
      const of = now.folder;
      await new Promise((later) => setTimeout(later, now.slow));
      return { of };
    }) as never;
    Object.assign(fixture.replies, {
      facets: answer,
      trust: answer,
      launches: answer,
      status: () => ({ folder: { id: now.folder } }),
    });
    return now;
  }
  it("of another folder leaves nothing of the former one in sight, and waits for nothing that was begun there", async () => {
    const now = folders();
    const unseen = watch(() => live.query("launches", {}));
    const [facets, trust, status] = [
      watch(() => live.query("facets", {})),
      watch(() => live.query("trust", { filter: "" })),
      watch(() => live.query("status", {})),
    ];
    await beat(1_500);
    unseen.stop();
    now.slow = 3_000;
    live.query("trust", { filter: "" }).refetch();
    await beat(10);
    // Slow queries now rest, and one reply is in flight.
    now.slow = 0;
    live.query("facets", {}).refetch();
    await beat(10);
    [now.folder, now.slow] = ["B", 50];
    fixture.tell({ kind: "folder" });
    await beat(5);
    expect([
      facets.seen,
      trust.seen.data,
      status.seen.data,
      live.query("launches", {}).data,
    ]).toEqual([
      { data: undefined, error: undefined, busy: true },
      undefined,
      { folder: { id: "B" } },
      undefined,
    ]);
    await beat(60);
    expect([facets.seen.data, trust.seen.data]).toEqual([{ of: "B" }, { of: "B" }]);
    await beat(5_000);
    expect([facets.seen.data, trust.seen.data]).toEqual([{ of: "B" }, { of: "B" }]);
    for (const { stop } of [facets, trust, status]) stop();
  });
  it("of another folder takes nothing away that this one answered before its status, nor waits for word when status is first", async () => {
    const now = folders();
    const [facets, status] = [
      watch(() => live.query("facets", {})),
      watch(() => live.query("status", {})),
    ];
    await beat(1_500);
    const quick = fixture.replies.status;
    fixture.replies.status = async (args) => {
      await new Promise((later) => setTimeout(later, 500));
      return quick(args);
    };
    now.folder = "B";
    fixture.tell({ kind: "folder" });
    await beat(10);
    expect([facets.seen.data, status.seen.data]).toEqual([{ of: "B" }, { folder: { id: "A" } }]);
    await beat(2_000);
    expect([facets.seen.data, status.seen.data]).toEqual([{ of: "B" }, { folder: { id: "B" } }]);
    [now.folder, now.slow] = ["C", 50];
    fixture.replies.status = quick;
    live.query("status", {}).refetch();
    await beat(5);
    expect(facets.seen.data).toBeUndefined();
    await beat(60);
    expect(facets.seen.data).toEqual({ of: "C" });
    for (const { stop } of [facets, status]) stop();
  });
  it("of missed events asks for everything and takes nothing out of sight, until status names another folder", async () => {
    const now = folders();
    const ear = vi.fn();
    live.onStale(ear);
    const [facets, status] = [
      watch(() => live.query("facets", {})),
      watch(() => live.query("status", {})),
    ];
    await beat(1_500);
    now.slow = 500;
    const before = asked("facets");
    fixture.tell({ kind: "missed" });
    await beat(200);
    expect([asked("facets") - before, facets.seen.data]).toEqual([1, { of: "A" }]);
    await beat(3_000);
    [now.folder, now.slow] = ["B", 0];
    ear.mockClear();
    fixture.tell({ kind: "missed" });
    await beat(3_000);
    expect([facets.seen.data, ear.mock.calls.flat(2).map((stale) => stale.kind)]).toEqual([
      { of: "B" },
      ["missed", "folder"],
    ]);
    for (const { stop } of [facets, status]) stop();
  });
  it("of a folder that is the same asks for everything and takes nothing out of sight", async () => {
    const now = folders();
    const [facets, status] = [
      watch(() => live.query("facets", {})),
      watch(() => live.query("status", {})),
    ];
    await beat(1_500);
    now.slow = 500;
    const before = asked("facets");
    fixture.tell({ kind: "folder" });
    await beat(200);
    expect([asked("facets") - before, facets.seen]).toEqual([
      1,
      { data: { of: "A" }, error: undefined, busy: true },
    ]);
    for (const { stop } of [facets, status]) stop();
  });
  it("of a changed run is told at once, however lately the frame was told of", async () => {
    const ear = vi.fn();
    live.onStale(ear);
    fixture.tell({ kind: "status" });
    await beat(1);
    fixture.tell({ kind: "status" });
    fixture.tell({ kind: "runs", generation: 2, ids: ["a"], all: false });
    await beat(1);
    expect(ear.mock.calls.flat(2).map((stale) => stale.kind)).toEqual(["status", "runs"]);
    await beat();
    expect(ear.mock.calls.flat(2).map((stale) => stale.kind)).toEqual(["status", "runs", "status"]);
  });
  const runs = { kind: "runs", generation: 2, ids: ["a"], all: false } as const;
  it.each([
    ["status", {}, { kind: "status" } as const, true],
    ["status", {}, runs, true],
    ["facets", {}, runs, true],
    ["facets", {}, { kind: "status" } as const, false],
    ["open_run", { id: "a" }, runs, true],
    ["open_run", { id: "b" }, runs, false],
    ["open_run", { id: "b" }, { ...runs, all: true }, true],
    ["read_task", { id: "b" }, runs, true],
    ["read_task", { id: "b" }, { kind: "launches" } as const, false],
    ["list_tasks", {}, runs, true],
    ["compare_runs", { ids: ["a", "b"] }, runs, true],
    ["compare_runs", { ids: ["b", "c"] }, runs, false],
    [
      "diff_steps",
      { left: { id: "a", version: "1", step: 0 }, right: { id: "b", version: "1", step: 0 } },
      runs,
      false,
    ],
    [
      "diff_steps",
      { left: { id: "a", version: "1", step: 0 }, right: { id: "b", version: "1", step: 0 } },
      { kind: "folder" } as const,
      true,
    ],
    ["locate_run", { filter: "", sort: REQUEST.request.sort, id: "b" }, runs, true],
    ["launches", {}, { kind: "launches" } as const, true],
    ["launch", { id: "l1" }, { kind: "launches" } as const, true],
    ["launch", { id: "a" }, { ...runs, all: true }, false],
    ["launch", { id: "a" }, { kind: "folder" } as const, true],
    ["status", {}, { kind: "launches" } as const, false],
    ["list_runs", REQUEST, { kind: "launches" } as const, false],
    ["launch_options", {}, runs, false],
    ["launch_options", {}, { ...runs, all: true }, true],
    ["folders", {}, runs, false],
    ["doctor", {}, { kind: "folder" } as const, true],
  ] as const)("makes %s %j stale by %j: %s", (name, args, stale, wanted) => {
    expect(makesStale(name, args as never, stale as never)).toBe(wanted);
  });
});
