import { flushSync } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Fixture, runRow } from "./fixture";
import { BEAT_MS, concerns, Live, type Query } from "./live";

const REQUEST = { request: { filter: "", sort: { column: "task", descending: false }, span: { offset: 0, limit: 5 } } } as const;
let fixture: Fixture;
let live: Live;
const asked = (name: string) => fixture.calls.filter((call) => call.name === name).length;
/** Reads as a template would; what was seen at last, and how to look away. */
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
const beat = async (ms = BEAT_MS + 1) => {
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
    const [one, two] = [watch(() => live.query("folders", {})), watch(() => live.query("folders", {}))];
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
    fixture.replies.status = () => Promise.reject({ code: "failed", message: "The index is locked.", hint: null });
    fixture.tell({ kind: "status" });
    await beat();
    expect(seen).toMatchObject({ data: { generation: 1 }, error: "The index is locked." });
    fixture.replies.status = () => fixture.status;
    live.query("status", {}).again();
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
      [30, BEAT_MS],
      [180, 180],
    ] as const) {
      const times: number[] = [];
      fixture.replies.list_runs = async () => {
        times.push(performance.now());
        await new Promise((later) => setTimeout(later, took));
        return { total: 0, generation: 1, rows: [], misread: [] };
      };
      const { stop } = watch(() => live.query("list_runs", REQUEST));
      live.query("list_runs", REQUEST).again();
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
    ["compare_runs", { ids: ["a", "b"] }, runs, true],
    ["compare_runs", { ids: ["b", "c"] }, runs, false],
    ["diff_steps", { left: { id: "a", version: "1", step: 0 }, right: { id: "b", version: "1", step: 0 } }, runs, false],
    ["diff_steps", { left: { id: "a", version: "1", step: 0 }, right: { id: "b", version: "1", step: 0 } }, { kind: "folder" } as const, true],
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
    expect(concerns(name, args as never, stale as never)).toBe(wanted);
  });
});
