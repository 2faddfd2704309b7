import { expect, it } from "vitest";
import { intervalOf, ranked, scope, width, type Map, type Share } from "./failures";

const share = (runs: number, all: number, change: Partial<Share> = {}): Share => ({
  group: 0,
  runs,
  failed: runs,
  all,
  low: null,
  high: null,
  ...change,
});
const map = (failed: number, runs: number): Map => ({
  generation: 1,
  state: "done",
  read: failed,
  failed,
  errors: 0,
  runs,
  undecided: 0,
  unreadable: 0,
  forks_left_out: 0,
  groups: [],
  clusters: [],
  clusters_left_out: 0,
  misread: [],
});

it("says what the map covers", () => {
  expect(scope(map(1, 1))).toBe("1 of 1 run failed or is only partly right.");
  expect(scope(map(28, 66))).toBe("28 of 66 runs failed or are only partly right.");
  expect(scope({ ...map(2, 3), errors: 1, undecided: 1 })).toBe(
    "2 of 3 runs failed or are only partly right, 1 of them ended in an error. 1 run has no result.",
  );
});

it("shows the systems that fail most often first, and every share that is not zero", () => {
  const shares = [share(2, 20), share(3, 4), share(1, 1_000)];
  expect(ranked(shares).map((one) => one.runs)).toEqual([3, 2, 1]);
  expect(shares.map(width)).toEqual([10, 75, 2]);
});

it("shows no interval where there is none", () => {
  expect(intervalOf(share(1, 2))).toBe("");
  expect(intervalOf(share(1, 2, { low: 0.05, high: 0.625 }))).toBe("5 to 63 %");
});
