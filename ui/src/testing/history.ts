// Trends, changes and a baseline for tests of History.
import type {
  BaselineView,
  ChangesGroup,
  History,
  SetChanges,
  TrendChange,
  TrendPoint,
} from "../generated";

export const NO_HISTORY: History = {
  generation: 1,
  trends: {
    sets: [],
    sets_left_out: 0,
    groups: [],
    left_out: 0,
    looked_at: 0,
    forks_left_out: 0,
    replays_left_out: 0,
    evaluations_left_out: 0,
  },
  plots: [],
  misread: [],
};
export const NO_BASELINE: BaselineView = {
  path: "/home/me/benchmark/touchstone-baseline.json",
  exists: false,
  gate: null,
  markdown: "",
  changes: null,
  trouble: null,
};

export const trendChange = (change: Partial<TrendChange> = {}): TrendChange => ({
  difference: -0.5,
  low: -0.8,
  high: -0.2,
  p: 0.001,
  shown: "worse",
  failed: ["refunds #0"],
  fixed: [],
  flaky: [],
  pairs: 12,
  not_comparable: 0,
  ...change,
});
export const trendPoint = (set: number, change: Partial<TrendPoint> = {}): TrendPoint => ({
  set,
  runs: 12,
  scored: 11,
  errors: 1,
  waiting: 0,
  running: 0,
  damaged: 0,
  unscored: 0,
  nudged: 0,
  score: { value: 0.75, low: 0.6, high: 0.9, by: "bootstrap" },
  passes: { passed: 8, of: 11, rate: 0.727, low: 0.43, high: 0.9 },
  cost: { value: 0.02, low: 0.01, high: 0.03, known: 12, unknown: 0 },
  seconds: null,
  change: null,
  change_point: null,
  new_series: null,
  ...change,
});

const dots = [
  { point: 0, x: 100, y: 40, range: [20, 60] as [number, number] },
  { point: 1, x: 300, y: 200, range: null },
];
/** Two days of one system, with a change point on the second. */
export const HISTORY_OF_TWO: History = {
  generation: 1,
  trends: {
    sets: [
      { name: "2026-03-01", filter: "started:2026-03-01", from: 1_772_323_200, runs: 12 },
      { name: "2026-03-02", filter: "started:2026-03-02", from: 1_772_409_600, runs: 12 },
    ],
    sets_left_out: 0,
    groups: [
      {
        name: "agent/<b>o1</b>",
        filter: "system:agent model:o1",
        points: [
          trendPoint(0),
          trendPoint(1, {
            score: { value: 0.25, low: null, high: null, by: "student" },
            change: trendChange(),
            change_point: trendChange(),
          }),
        ],
        overall: null,
      },
    ],
    left_out: 0,
    looked_at: 1,
    forks_left_out: 0,
    replays_left_out: 0,
    evaluations_left_out: 0,
  },
  plots: (["score", "cost"] as const).map((measure) => ({
    measure,
    width: 860,
    height: 300,
    left: 56,
    right: 710,
    top: 12,
    bottom: 256,
    title: measure === "score" ? "Mean score" : "Mean cost of a run",
    x_ticks: [
      { at: 100, label: "2026-03-01" },
      { at: 300, label: "2026-03-02" },
    ],
    y_ticks: [{ at: 20, label: "1.0" }],
    lines: [{ group: 0, look: 0, dots, label: "agent/<b>o1</b>", label_y: 204 }],
    left_out: 0,
  })),
  misread: [],
};

const measure = (change = {}) => ({
  before: 1,
  after: 0.5,
  difference: -0.5,
  low: -0.8,
  high: -0.2,
  p: 0.001,
  shown: "worse",
  pairs: 12,
  worse: 6,
  better: 0,
  ...change,
});
const GROUP: ChangesGroup = {
  name: "agent/<b>o1</b>",
  filter: "system:agent model:o1",
  worse: ["agent/o1 is worse than before."],
  remarks: ["agent/o1 passes 1 task that failed: fares #1."],
  pairs: 12,
  score: measure(),
  cost: null,
  seconds: measure({ before: 3, after: 6, difference: 3, low: 1, high: 5, worse: 9, better: 3 }),
  tasks: [
    {
      name: "fares #1",
      change: "fixed",
      before: { runs: 1, score: 0, passed: 0, decided: 1 },
      after: { runs: 2, score: 1, passed: 2, decided: 2 },
      filter: "task:fares variation:1",
      compare: ["r3", "r4"],
    },
    {
      name: "refunds #0",
      change: "failed",
      before: { runs: 1, score: 1, passed: 1, decided: 1 },
      after: { runs: 1, score: 0, passed: 0, decided: 1 },
      filter: "task:refunds variation:0",
      compare: ["r1", "r2"],
    },
    {
      name: "seats #0",
      change: "errors",
      before: { runs: 1, score: 1, passed: 1, decided: 1 },
      after: { runs: 1, score: null, passed: 0, decided: 0 },
      filter: "task:seats variation:0",
      compare: null,
    },
  ],
};
export const CHANGES: SetChanges = {
  before: { name: "2026-03-01", filter: "started:2026-03-01", runs: 12, in_both: 0 },
  after: { name: "2026-03-02", filter: "started:2026-03-02", runs: 12, in_both: 0 },
  groups: [GROUP],
};
export const BASELINE: BaselineView = {
  ...NO_BASELINE,
  exists: true,
  gate: {
    passed: false,
    violations: [],
    baseline: NO_BASELINE.path,
    filter: "",
    scorer: null,
    baseline_runs: 12,
    runs: 13,
    groups: [
      {
        name: "agent/o1",
        violations: ["agent/o1 fails 1 task that passed: refunds #0."],
        remarks: [],
        runs: 13,
        errors: 0,
        mean: 0.5,
        pairs: 12,
        score: 0.5,
        baseline_score: 1,
        difference: -0.5,
        low: null,
        high: null,
        p: null,
        tasks: [],
      },
    ],
  },
  markdown: "## Touchstone: gate failed",
  changes: {
    ...CHANGES,
    before: { name: "touchstone-baseline.json", filter: null, runs: 12, in_both: 0 },
  },
};
