import { beforeEach, describe, expect, it, vi } from "vitest";
import { BLANK_DRAFT, launchRequest } from "../domain/launchDraft";
import type { LaunchRequest } from "../generated";
import { plan, planned } from "../testing/launch";
import { DEBOUNCE_MS, Planner, REFRESH_MS } from "./planner";

const request = (repeats: number) => launchRequest({ ...BLANK_DRAFT, repeats }, { max_cost: null });
let asked: LaunchRequest[];
let answer: (request: LaunchRequest) => Promise<ReturnType<typeof plan>>;
let planner: Planner<LaunchRequest, ReturnType<typeof plan>>;
const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  answer = ({ repeats }) => Promise.resolve(plan([planned(repeats ?? 0, "start", "new")]));
  planner = new Planner((one) => (asked.push(one), answer(one)));
  return () => {
    planner.close();
    vi.useRealTimers();
  };
});

describe("a plan", () => {
  it("is asked for at once the first time, and then once when one has stopped changing", async () => {
    planner.setRequest(request(1));
    await wait(0);
    expect(planner.plan?.owed[0]?.repeat).toBe(1);
    for (const repeats of [2, 3, 4]) planner.setRequest(request(repeats));
    expect([planner.outdated, planner.plan?.owed[0]?.repeat]).toEqual([true, 1]);
    await wait(DEBOUNCE_MS);
    expect([
      planner.outdated,
      planner.plan?.owed[0]?.repeat,
      asked.map((one) => one.repeats),
    ]).toEqual([false, 4, [1, 4]]);
  });
  it("of an older request is never shown for a newer one", async () => {
    answer = ({ repeats }) =>
      new Promise((done) =>
        setTimeout(
          () => done(plan([planned(repeats ?? 0, "start", "new")])),
          repeats === 1 ? 5_000 : 10,
        ),
      );
    planner.setRequest(request(1));
    await wait(0);
    planner.setRequest(request(2));
    await wait(5_000);
    expect(planner.plan).toBeNull();
    await wait(20);
    expect(planner.plan?.owed[0]?.repeat).toBe(2);
  });
  it("that cannot be made says why, and is asked for again when told to", async () => {
    answer = () => Promise.reject({ code: "failed", message: "No.", hint: null });
    planner.setRequest(request(1));
    await wait(0);
    expect([planner.error?.message, planner.outdated]).toEqual(["No.", true]);
    answer = () => Promise.resolve(plan([]));
    planner.refetch();
    await wait(0);
    expect([planner.error, planner.outdated]).toEqual([null, false]);
  });
  it("is gone when there is nothing to plan", async () => {
    planner.setRequest(request(1));
    await wait(0);
    planner.setRequest(null);
    await wait(REFRESH_MS);
    expect([planner.plan, planner.outdated, asked.length]).toEqual([null, false, 1]);
  });
  it("follows the disk at its leisure, however often it is told", async () => {
    planner.setRequest(request(1));
    await wait(0);
    for (let at = 0; at < 100; at++) {
      planner.refresh();
      await wait(20);
    }
    expect(asked.length).toBeLessThanOrEqual(3);
    await wait(REFRESH_MS);
    expect(asked.length).toBeGreaterThan(1);
  });
});
