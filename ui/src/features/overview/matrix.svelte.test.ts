import { flushSync } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Fixture } from "../../testing/fakeBackend";
import type { OverviewRequest } from "../../generated";
import { Live } from "../../backend/live";
import { matrix } from "../../testing/overview";
import { Matrix, PART } from "./matrix";

const ASK = {
  q: "",
  scorer: "",
  folded: false,
  except: [],
  missing: false,
  byModel: false,
  byTag: false,
};
const asked = (fixture: Fixture) =>
  fixture.calls
    .filter((call) => call.name === "overview")
    .map((call) => (call.args as { request: OverviewRequest }).request);
let fixture: Fixture;
let rows: Matrix;
let stop: () => void;
const look = () => {
  stop = $effect.root(() => {
    $effect(() => void rows.total);
  });
  flushSync();
};
let takes = 0;
let generation = 1;
const settle = async (ms = 400) => {
  await vi.advanceTimersByTimeAsync(ms);
  flushSync();
};
const change = () =>
  fixture.tell({ kind: "runs", generation: ++generation, ids: ["r1"], all: false });

beforeEach(() => {
  vi.useFakeTimers();
  [takes, generation] = [0, 1];
  fixture = new Fixture();
  fixture.replies.overview = async ({ request }) => {
    const reply = { ...matrix(250)(request), generation };
    if (takes > 0) await new Promise((later) => setTimeout(later, takes));
    return reply;
  };
  const live = new Live(fixture);
  rows = new Matrix(live);
  look();
  return () => {
    stop();
    live.close();
    vi.useRealTimers();
  };
});

describe("the rows of the matrix", () => {
  it("are asked for where one looks, one question before any other, then beside it", async () => {
    takes = 50;
    rows.show(ASK, 300);
    rows.want(300, 340);
    await settle(40);
    expect(asked(fixture).map((request) => request.span.offset)).toEqual([300]);
    await settle();
    expect(rows.row(300)).toMatchObject({ task: "task075", kind: "task" });
    expect(new Set(asked(fixture).map((request) => request.span.offset))).toEqual(
      new Set([240, 300, 360, 420]),
    );
    expect(asked(fixture).every((request) => request.span.limit === PART)).toBe(true);
  });
  it("keep the names of their columns when only the sums change", async () => {
    rows.show(ASK, 0);
    await settle();
    const { names, head } = rows;
    expect(names.map(({ name }) => name)).toEqual(
      head?.columns.map(({ system, model }) => `${system} · ${model}`),
    );
    change();
    await settle();
    expect(rows.head).not.toBe(head);
    expect(rows.names).toBe(names);
  });
  it("are not asked for while nobody looks, and are when somebody does", async () => {
    rows.show(ASK, 0);
    await settle();
    stop();
    await settle();
    const before = asked(fixture).length;
    change();
    await settle(5_000);
    expect(asked(fixture).length).toBe(before);
    look();
    await settle();
    expect(asked(fixture).length).toBeGreaterThan(before);
  });
  it("stay in sight until those of another filter are there, and those of before are there at once", async () => {
    rows.show(ASK, 0);
    await settle();
    takes = 50;
    const switched = vi.fn();
    rows.onswitch = switched;
    rows.show({ ...ASK, folded: true }, 0, "task009");
    await settle(20);
    expect([rows.behind, rows.row(1)?.kind]).toEqual([true, "variation"]);
    await settle();
    expect([rows.behind, rows.row(1)?.kind]).toEqual([false, "task"]);
    expect(switched.mock.calls).toEqual([[9]]);
    rows.show(ASK, 0);
    expect([rows.behind, rows.row(1)?.kind]).toEqual([false, "variation"]);
  });
  it("are asked for again when runs changed, all that is in sight, and the rest when it comes into sight", async () => {
    rows.show(ASK, 0);
    rows.want(50, 70);
    await settle();
    const before = asked(fixture).length;
    change();
    await settle();
    expect(
      asked(fixture)
        .slice(before)
        .map((request) => request.span.offset)
        .sort(),
    ).toEqual([0, 60]);
  });
  it("rest after an answer that took its time, however often runs change, and the last change is seen", async () => {
    takes = 200;
    rows.show(ASK, 0);
    await settle(2_000);
    const before = asked(fixture).length;
    for (let n = 0; n < 40; n++) {
      change();
      await settle(50);
    }
    expect(asked(fixture).length - before).toBeLessThanOrEqual(4);
    await settle(2_000);
    expect(rows.head?.generation).toBe(generation);
    const last = asked(fixture).length;
    await settle(5_000);
    expect(asked(fixture).length).toBe(last);
  });
  it("are read in a range, also those that were never in sight", async () => {
    rows.show(ASK, 0);
    await settle();
    takes = 10;
    const range = rows.range(55, 900);
    await settle();
    const found = await range;
    expect([found.length, found[0]?.task, found.at(-1)?.task]).toEqual([846, "task013", "task225"]);
    expect(Math.max(...asked(fixture).map((request) => request.span.limit))).toBe(500);
  });
  it("stay in sight when events were missed, and give way to those of a program that began to count anew", async () => {
    const base = matrix(1);
    fixture.replies.overview = ({ request }) => ({ ...base(request), generation: 70 });
    rows.show(ASK, 0);
    await settle();
    const before = rows.total;
    fixture.replies.overview = async ({ request }) => {
      await new Promise((later) => setTimeout(later, 300));
      return { ...matrix(2)(request), generation: 2 };
    };
    const first = asked(fixture).length;
    fixture.tell({ kind: "missed" });
    await settle(100);
    expect([rows.total, asked(fixture).length > first]).toEqual([before, true]);
    await settle(3_000);
    expect(rows.total).toBe(8);
    const last = asked(fixture).length;
    await settle(5_000);
    expect(asked(fixture).length).toBe(last);
  });
  it("of another folder begin anew", async () => {
    rows.show(ASK, 0);
    await settle();
    fixture.replies.overview = ({ request }) => matrix(1)(request);
    fixture.tell({ kind: "folder" });
    await settle();
    expect(rows.total).toBe(4);
  });
});
