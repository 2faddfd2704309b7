import { describe, expect, it } from "vitest";
import { STATUS, runRow } from "../testing/fakeBackend";
import { COLUMNS, EMPTY_OVERVIEW } from "../testing/overview";
import type { Overview, RunPage, Status } from "../generated";
import { homeRoute, openedRoute, singleRoute } from "./opening";
import { HOME, OVERVIEW, RUNS, runRoute } from "./route";

const folder = STATUS.folder as NonNullable<Status["folder"]>;
const route = { ...RUNS, q: "file:a.json", single: true };
const page = (total: number, change: Partial<RunPage> = {}): RunPage => ({
  total,
  generation: 1,
  rows: total === 0 ? [] : [runRow(7)],
  misread: [],
  ...change,
});

describe("the list of what was opened", () => {
  it("looks for a single run only where files were named", () => {
    expect(openedRoute({ folder, filter: "" })).toEqual(HOME);
    expect(openedRoute({ folder, filter: "file:a.json" })).toEqual(route);
  });
});

describe("a folder without an address", () => {
  const head = (runs: number, columns: number, generation = 1): Overview => ({
    ...EMPTY_OVERVIEW,
    runs,
    generation,
    columns: COLUMNS.slice(0, columns),
  });
  const counts = { ...STATUS.counts, runs: 9 };
  const ready: Status = { ...STATUS, generation: 1, counts };
  const indexing: Status = { ...ready, phase: { kind: "indexing", done: 1, total: 9 } };
  it.each([
    [
      "the overview once a run fits there, also while files are read",
      indexing,
      head(1, 1),
      OVERVIEW,
      true,
    ],
    ["the overview for now while nothing is known", ready, null, OVERVIEW, false],
    ["the list for now while no run fits", indexing, head(3, 0), RUNS, false],
    ["the list when no run fits", ready, head(9, 0), RUNS, true],
    [
      "the overview for now until the reply is as new as the index",
      { ...ready, generation: 2 },
      head(0, 0),
      OVERVIEW,
      false,
    ],
    ["the list without any run", { ...ready, counts: { ...counts, runs: 0 } }, null, RUNS, true],
    [
      "the list when the folder failed",
      { ...ready, phase: { kind: "failed", reason: "Gone.", hint: "" } } satisfies Status,
      null,
      RUNS,
      true,
    ],
  ] as const)("shows %s", (_, status, known, shows, final) => {
    expect(homeRoute(status, known)).toEqual({ shows, final });
  });
});

describe("a list that looks for a single run", () => {
  it("leads to the only run", () => {
    expect(singleRoute(route, STATUS, page(1))).toEqual({ ...runRoute("r7"), q: route.q });
  });
  it("stays a list when there are more", () => {
    expect(singleRoute(route, STATUS, page(2))).toEqual({ ...route, single: false });
  });
  it("shows the files that are no runs when there is none, and else the list as it was", () => {
    const second = { ...route, q: "file:a.json state:other" };
    expect(singleRoute(route, STATUS, page(0))).toEqual(second);
    expect(singleRoute(second, STATUS, page(0))).toEqual({ ...route, single: false });
    expect(singleRoute(second, STATUS, page(2))).toEqual({ ...second, single: false });
  });
  it("waits until all files are read and the rows are as new as the index", () => {
    const indexing: Status = { ...STATUS, phase: { kind: "indexing", done: 0, total: 1 } };
    expect(singleRoute(route, undefined, page(1))).toBeNull();
    expect(singleRoute(route, STATUS, undefined)).toBeNull();
    expect(singleRoute(route, indexing, page(1))).toBeNull();
    expect(singleRoute(route, { ...STATUS, generation: 2 }, page(1))).toBeNull();
    expect(singleRoute({ ...route, single: false }, STATUS, page(1))).toBeNull();
  });
  it("does not wait for a folder that failed", () => {
    const failed: Status = { ...STATUS, phase: { kind: "failed", reason: "Gone.", hint: "" } };
    expect(singleRoute(route, failed, page(2))).toEqual({ ...route, single: false });
  });
});
