import { describe, expect, it } from "vitest";
import { STATUS, runRow } from "../testing/fakeBackend";
import type { RunPage, Status } from "../generated";
import { openedRoute, singleRoute } from "./opening";
import { RUNS, runRoute } from "./route";

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
    expect(openedRoute({ folder, filter: "" })).toEqual(RUNS);
    expect(openedRoute({ folder, filter: "file:a.json" })).toEqual(route);
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
