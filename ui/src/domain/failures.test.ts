import { expect, it } from "vitest";
import {
  clusterAt,
  coverage,
  intervalOf,
  progressText,
  ranked,
  reviewText,
  scope,
  shareText,
  width,
  type Cluster,
  type Map,
  type Share,
} from "./failures";

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
  replays_left_out: 0,
  evaluations_left_out: 0,
  passed_but_reviewed_wrong: 0,
  scorers: [],
  groups: [],
  kinds: [],
  clusters: [],
  clusters_left_out: 0,
  naming: null,
  misread: [],
});

it("says what the map covers", () => {
  expect(scope(map(1, 1))).toBe("1 of 1 run failed or is only partly right.");
  expect(scope(map(0, 0))).toBe("");
  expect(scope(map(28, 66))).toBe("28 of 66 runs failed or are only partly right.");
  expect(scope({ ...map(2, 3), errors: 1, undecided: 1 })).toBe(
    "2 of 3 runs failed or are only partly right, 1 of them ended in an error. 1 run has no result.",
  );
});

it("shows the systems that fail most often first, and every share that is not zero", () => {
  const shares = [share(2, 20), share(3, 4), share(1, 1_000)];
  expect(ranked(shares).map((one) => one.runs)).toEqual([3, 2, 1]);
  expect(shares.map((one) => width(one, undefined))).toEqual([10, 75, 2]);
});

it("says of how many runs a number is, until all are read", () => {
  const part = { name: "x", failed: 9, read: 3, runs: 20 };
  expect(shareText(share(2, 20), part)).toBe("2 of 3 failed runs read so far");
  expect(width(share(2, 20), part)).toBe(67);
  expect(shareText(share(2, 20), { ...part, read: 9 })).toBe("2 of 20");
  const whole = map(120, 400);
  expect(coverage(whole)).toBe("");
  expect(coverage({ ...whole, state: "stopped", read: 60 })).toBe(
    "of the 60 failed runs read so far",
  );
});

it("tells of progress a few times, not for each run", () => {
  const texts = Array.from({ length: 120 }, (_, read) =>
    progressText({ ...map(120, 400), state: "running", read }),
  );
  expect(new Set(texts).size).toBe(4);
});

it("marks a review that contradicts the score", () => {
  expect(reviewText({ verdict: "right", note: "", disagrees: true })).toBe(
    "Reviewed: right, unlike the score",
  );
  expect(reviewText({ verdict: "partly", note: "", disagrees: false })).toBe(
    "Reviewed: partly right",
  );
});

it("shows no interval where there is none", () => {
  expect(intervalOf(share(1, 2))).toBe("");
  expect(intervalOf(share(1, 2, { low: 0.05, high: 0.625 }))).toBe("5 to 63 %");
});

it("finds the cause of an address also when its details changed meanwhile", () => {
  const cluster = (mode: string, subject: string, detail: string) =>
    ({ mode, subject, detail }) as Cluster;
  const all = [cluster("a", "x", "1"), cluster("b", "y", "2"), cluster("b", "z", "3")];
  expect(clusterAt(all, '["b","z","3"]')).toBe(2);
  expect(clusterAt(all, '["b","y","changed"]')).toBe(1);
  expect(clusterAt(all, '["c","y","2"]')).toBe(-1);
  expect(clusterAt(all, "")).toBe(-1);
});
