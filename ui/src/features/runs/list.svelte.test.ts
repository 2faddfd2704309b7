import { flushSync } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Fixture, runRow } from "../../testing/fakeBackend";
import type { RunRow } from "../../generated";
import { Live } from "../../backend/live";
import { NEWEST_FIRST } from "../../app/route";
import { PAGE, RunList } from "./list";

const many = (length: number, from = 0): RunRow[] =>
  Array.from({ length }, (_, index) => runRow(from + index));
const spans = (fixture: Fixture) =>
  fixture.calls
    .filter((call) => call.name === "list_runs")
    .map((call) => (call.args as { request: { span: { offset: number } } }).request.span.offset);
let fixture: Fixture;
let list: RunList;
let stop: () => void;
const settle = async (ms = 400) => {
  await vi.advanceTimersByTimeAsync(ms);
  flushSync();
};

beforeEach(() => {
  vi.useFakeTimers();
  fixture = new Fixture(many(10_000));
  const live = new Live(fixture);
  list = new RunList(live);
  stop = $effect.root(() => {
    $effect(() => void list.total);
  });
  flushSync();
  return () => {
    stop();
    live.close();
    vi.useRealTimers();
  };
});

describe("the list", () => {
  it("asks for what is in sight first, then for its neighbours, and for nothing else", async () => {
    list.show("", NEWEST_FIRST, 5_000);
    await settle();
    expect(list.row(5_000)?.id).toBe("r5000");
    expect(spans(fixture)[0]).toBe(5_000);
    expect(new Set(spans(fixture))).toEqual(new Set([4_800, 5_000, 5_200]));
    list.want(9_000, 9_040);
    await settle();
    expect(spans(fixture)).toContain(9_000);
    expect(spans(fixture).length).toBe(6);
  });
  it("keeps the rows of before while an unfinished filter is invalid", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    fixture.replies.list_runs = ({ request }) =>
      request.filter === "state:"
        ? {
            total: 0,
            generation: 1,
            rows: [],
            misread: [{ token: "state:", message: "A value is missing." }],
          }
        : { total: 1, generation: 1, rows: many(1, 7), misread: [] };
    list.show("state:", NEWEST_FIRST, 0);
    await settle();
    expect([list.total, list.behind, list.misread.length]).toEqual([10_000, true, 1]);
    list.show("state:error", NEWEST_FIRST, 0);
    await settle();
    expect([list.row(0)?.id, list.behind, list.misread.length]).toEqual(["r7", false, 0]);
  });
  it("asks again as soon as a slow reply is there that went stale on its way", async () => {
    const times: number[] = [];
    fixture.replies.list_runs = async () => {
      times.push(performance.now());
      await new Promise((later) => setTimeout(later, 180));
      return { total: 1, generation: 1, rows: many(1), misread: [] };
    };
    list.show("", NEWEST_FIRST, 0);
    await settle(20);
    fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
    await settle(1_000);
    expect(times.length).toBe(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeLessThan(185);
  });
  it("does not ask for every page that flies by", async () => {
    fixture.replies.list_runs = async ({ request }) => {
      await new Promise((later) => setTimeout(later, 50));
      return { total: 10_000, generation: 1, rows: many(PAGE, request.span.offset), misread: [] };
    };
    list.show("", NEWEST_FIRST, 0);
    await settle();
    const before = spans(fixture).length;
    for (let first = 0; first < 9_900; first += 100) {
      list.want(first, first + 40);
      await settle(2);
    }
    await settle();
    expect(list.row(9_900)?.id).toBe("r9900");
    expect(spans(fixture).length - before).toBeLessThan(20);
  });
  it("keeps the old rows in sight until those of another filter are there", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    const base = fixture.replies.list_runs;
    fixture.replies.list_runs = async (args) => {
      await new Promise((later) => setTimeout(later, 100));
      return base(args);
    };
    list.show("state:error", NEWEST_FIRST, 0);
    await settle(50);
    expect([list.behind, list.total, list.row(0)?.id]).toEqual([true, 10_000, "r0"]);
    await settle();
    expect([list.behind, list.row(0)?.state]).toEqual([false, "error"]);
  });
  it("never shows the reply to a filter that is no longer wanted", async () => {
    const base = fixture.replies.list_runs;
    fixture.replies.list_runs = async (args) => {
      await new Promise((later) =>
        setTimeout(later, args.request.filter === "state:error" ? 300 : 10),
      );
      return base(args);
    };
    list.show("state:error", NEWEST_FIRST, 0);
    await settle(20);
    list.show("state:waiting", NEWEST_FIRST, 0);
    await settle(1_000);
    expect(list.row(0)?.state).toBe("waiting");
  });
  it("asks again only for what is in sight when runs change", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    for (const first of [2_000, 4_000, 6_000]) {
      list.want(first, first + 40);
      await settle();
    }
    list.want(0, 40);
    await settle();
    fixture.calls.length = 0;
    fixture.rows = [runRow(0, { state: "writing" }), ...fixture.rows.slice(1)];
    fixture.status = { ...fixture.status, generation: 2 };
    fixture.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await settle();
    expect(list.row(0)?.state).toBe("writing");
    expect(new Set(spans(fixture))).toEqual(new Set([0]));
  });
  it("asks at most once a second while nobody looks, and at once when somebody does", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    stop();
    await settle(2_000);
    fixture.calls.length = 0;
    for (let told = 0; told < 40; told++) {
      fixture.tell({ kind: "runs", generation: 2 + told, ids: [], all: true });
      await settle(50);
    }
    expect(spans(fixture).length).toBeGreaterThan(0);
    expect(spans(fixture).length).toBeLessThanOrEqual(3);
    fixture.rows = [runRow(0, { state: "writing" }), ...fixture.rows.slice(1)];
    fixture.tell({ kind: "runs", generation: 50, ids: [], all: true });
    stop = $effect.root(() => {
      $effect(() => void list.total);
    });
    await settle(150);
    expect(list.row(0)?.state).toBe("writing");
  });
  it("leaves what is in sight where it is when runs come above it", async () => {
    list.show("", NEWEST_FIRST, 1_000);
    await settle();
    const shifts: number[] = [];
    list.onshift = (rows) => shifts.push(rows);
    fixture.rows = [...many(7, 20_000), ...fixture.rows];
    fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
    await settle(1);
    expect(shifts).toEqual([7]);
    expect(list.row(1_007)?.id).toBe("r1000");
    await settle();
    expect([list.total, list.row(1_007)?.id, list.row(1_006)?.id, list.above]).toEqual([
      10_007,
      "r1000",
      "r999",
      7,
    ]);
    list.want(0, 40);
    expect(list.above).toBe(0);
  });
  it("shows new runs at the top when the top is in sight", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    list.onshift = () => expect.unreachable("the top does not move");
    fixture.rows = [runRow(20_000), ...fixture.rows];
    fixture.tell({ kind: "runs", generation: 2, ids: [], all: true });
    await settle();
    expect(list.row(0)?.id).toBe("r20000");
  });
  it.each([
    ["newest first", (old: RunRow[], come: RunRow[]) => [...come, ...old]],
    [
      "in an order that puts them at the end",
      (old: RunRow[], come: RunRow[]) => [...old.slice(0, 320), ...come, ...old.slice(320)],
    ],
  ])(
    "moves nothing, and leaves out no run, when one jumps to rows that were read before others came (%s)",
    async (_, put) => {
      fixture.rows = many(350);
      list.show("", NEWEST_FIRST, 0);
      await settle();
      list.onshift = () => expect.unreachable("what was not in sight does not move");
      const now = put(fixture.rows, many(10, 20_000));
      const come = (rows: RunRow[], generation: number) => {
        fixture.rows = rows;
        fixture.status = { ...fixture.status, generation };
        fixture.tell({ kind: "runs", generation, ids: [], all: true });
      };
      come(now, 2);
      await settle();
      expect(list.total).toBe(360);
      const early = list.range(10, 359);
      list.want(320, 359);
      await settle();
      expect([list.above, list.total, list.row(0)?.id, list.row(9)?.id, list.row(359)?.id]).toEqual(
        [0, 360, now[0]?.id, now[9]?.id, "r349"],
      );
      const ids = now.slice(10).map((row) => row.id);
      expect((await early).map((row) => row.id)).toEqual(ids);
      expect((await list.range(10, 359)).map((row) => row.id)).toEqual(ids);
    },
  );
  it("holds the place of what is in sight although the page after it came later, and moves that one no further", async () => {
    fixture.rows = many(1_000);
    list.show("", NEWEST_FIRST, 300);
    await settle();
    const shifts: number[] = [];
    list.onshift = (rows) => shifts.push(rows);
    fixture.rows = [...many(5, 20_000), ...fixture.rows];
    fixture.status = { ...fixture.status, generation: 2 };
    // Another page becomes visible before the event of the new runs arrives.
    list.want(370, 610);
    await settle();
    expect([shifts, list.row(375)?.id, list.row(605)?.id]).toEqual([[5], "r370", "r600"]);
    expect((await list.range(0, 700)).map((row) => row.id)).toEqual(
      fixture.rows.slice(0, 701).map((row) => row.id),
    );
  });
  it("says what failed, keeps its rows, and tries again when asked or when something changed", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    const base = fixture.replies.list_runs;
    fixture.replies.list_runs = () =>
      Promise.reject({ code: "failed", message: "locked", hint: null });
    list.want(5_000, 5_040);
    await settle();
    expect([list.error?.message, list.total, list.row(5_000)]).toEqual([
      "locked",
      10_000,
      undefined,
    ]);
    fixture.replies.list_runs = base;
    list.refetch();
    await settle();
    expect([list.error, list.row(5_000)?.id]).toEqual([null, "r5000"]);
  });
  it("gives all rows of a range, also those that were never in sight", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    const rows = list.range(150, 1_450);
    await settle();
    expect((await rows).map((row) => row.id)).toEqual(many(1_301, 150).map((row) => row.id));
  });
  it("begins anew with another folder and forgets replies of the old one", async () => {
    list.show("", NEWEST_FIRST, 0);
    await settle();
    const base = fixture.replies.list_runs;
    fixture.replies.list_runs = async (args) => {
      const reply = await base(args);
      await new Promise((later) => setTimeout(later, 300));
      return reply;
    };
    list.want(5_000, 5_040);
    await settle(1);
    fixture.rows = many(3, 50_000);
    fixture.replies.list_runs = async (args) => {
      await new Promise((later) => setTimeout(later, 50));
      return base(args);
    };
    fixture.tell({ kind: "folder" });
    await settle(10);
    expect([list.known, list.total, list.row(0)]).toEqual([false, 0, undefined]);
    await settle(1_000);
    expect([list.total, list.row(0)?.id, list.row(5_000)]).toEqual([3, "r50000", undefined]);
  });
  it("stay in sight when events were missed, and give way to those of a program that began to count anew", async () => {
    const base = fixture.replies.list_runs;
    fixture.replies.list_runs = async (args) => ({ ...(await base(args)), generation: 70 });
    list.show("", NEWEST_FIRST, 0);
    await settle();
    fixture.rows = many(3, 900);
    fixture.replies.list_runs = async (args) => {
      await new Promise((later) => setTimeout(later, 300));
      return { ...(await base(args)), generation: 2 };
    };
    fixture.tell({ kind: "missed" });
    await settle(100);
    expect([list.known, list.row(0)?.id]).toEqual([true, "r0"]);
    await settle(2_000);
    expect([list.total, list.row(0)?.id]).toEqual([3, "r900"]);
    const before = fixture.calls.length;
    await settle(5_000);
    expect(fixture.calls.length).toBe(before);
  });
});
