// A matrix for tests: tasks with three variations and a few columns, with folds, parts and custom
// cells.
import type {
  Figure,
  Leaderboard,
  LeaderboardRow,
  Overview,
  OverviewCell,
  OverviewColumn,
  OverviewRequest,
  OverviewRow,
} from "../generated";

export const cell = (change: Partial<OverviewCell> = {}): OverviewCell => ({
  runs: 3,
  scored: 3,
  passed: 2,
  score: 0.87,
  low: 0.71,
  high: 0.96,
  flaky: 0,
  waiting: 0,
  running: 0,
  errors: 0,
  damaged: 0,
  unscored: 0,
  missing: 0,
  forks: 0,
  superseded: 0,
  reviewed: 0,
  run: "r1",
  ...change,
});
export const column = (system: string | null, model: string | null): OverviewColumn => ({
  system,
  model,
  filter: `${system === null ? "-system:*" : `system:${system}`} ${model === null ? "-model:*" : `model:${model}`}`,
  cell: cell({ run: "worst" }),
});
export const row = (task: string, change: Partial<OverviewRow> = {}): OverviewRow => ({
  kind: "task",
  task,
  variation: null,
  label: null,
  variations: 3,
  folded: false,
  filter: `task:${task}`,
  runs: 3,
  cells: [],
  ...change,
});

export const COLUMNS = [
  column("promptql", "claude"),
  column("tool_calling", "claude"),
  column("tool_calling", "o1"),
];
const NAMES = ["last 20", "last 30", "all"];

export const EMPTY_LEADERBOARD: Leaderboard = {
  generation: 1,
  rows: [],
  choice: null,
  not_drawn: null,
  left_out: 0,
  front_by: null,
  front_rows: null,
  cost_plot: null,
  time_plot: null,
  misread: [],
};

/** A row with a mean score and a mean cost. */
export function leader(
  system: string | null,
  model: string | null,
  score: number | null,
  cost: number | null,
  change: Partial<LeaderboardRow> = {},
): LeaderboardRow {
  const figure = (value: number): Figure => ({
    value,
    low: value * 0.9,
    high: value * 1.1,
    known: 10,
    unknown: 2,
  });
  return {
    system,
    model,
    filter: `system:${system ?? "?"} model:${model ?? "?"}`,
    runs: 12,
    errors: 0,
    others: 2,
    score: score === null ? null : figure(score),
    score_by: score === null ? null : "bootstrap",
    passes: null,
    passed: 0,
    cost: cost === null ? null : figure(cost),
    seconds: null,
    tokens: null,
    histogram: score === null ? Array<number>(10).fill(0) : [0, 0, 2, 0, 0, 0, 0, 0, 3, 5],
    group: score === null ? "unscored" : "common",
    standing: score === null ? null : "tied",
    why: score === null ? null : "Not shown to differ from a/b: 0.00 on 9 tasks.",
    on_front: null,
    tasks: 9,
    shared_tasks: 9,
    is_reference: change.standing === "best" || change.standing === "highest",
    ...change,
  };
}

/** A leaderboard of these rows. */
export const leaderboard = (rows: LeaderboardRow[], change: Partial<Leaderboard> = {}) => ({
  ...EMPTY_LEADERBOARD,
  rows,
  ...change,
});

/** The reply without any run. */
export const EMPTY_OVERVIEW: Overview = {
  generation: 1,
  columns: [],
  columns_left_out: 0,
  total_rows: 0,
  tasks: 0,
  tags: false,
  found: null,
  rows: [],
  headline: [],
  scorers: [],
  runs: 0,
  scored: 0,
  errors: 0,
  waiting: 0,
  running: 0,
  damaged: 0,
  no_expected: 0,
  unasked: 0,
  unscored: 0,
  forks: 0,
  superseded: 0,
  replays_left_out: 0,
  evaluations_left_out: 0,
  missing: 0,
  misread: [],
};

/**
 * The reply for a matrix of this many tasks. `fill` sets the content of a cell; each run is named
 * after its position.
 */
export function matrix(
  tasks: number,
  columns = COLUMNS,
  fill: (row: OverviewRow, at: number) => OverviewCell | null = () => cell(),
) {
  return (request: OverviewRequest): Overview => {
    const folded = (task: string) => request.folded !== request.except.includes(task);
    const names = Array.from(
      { length: tasks },
      (_, index) => `task${String(index).padStart(3, "0")}`,
    );
    const rows = names.flatMap((task) => [
      row(task, { folded: folded(task) }),
      ...(folded(task)
        ? []
        : NAMES.map((label, variation) =>
            row(task, {
              kind: "variation",
              variation,
              label,
              variations: 0,
              filter: `task:${task} variation:${variation}`,
            }),
          )),
    ]);
    const { offset, limit } = request.span;
    const filled = (one: OverviewRow): OverviewRow => ({
      ...one,
      cells: columns.map((_, at) => {
        const inside = fill(one, at);
        return inside?.run === "r1"
          ? { ...inside, run: `${one.task ?? ""}/${one.variation ?? "-"}/${at}` }
          : inside;
      }),
    });
    const found = request.find === null ? -1 : rows.findIndex((one) => one.task === request.find);
    return {
      generation: 1,
      columns: [...columns],
      columns_left_out: 0,
      total_rows: rows.length,
      tasks,
      tags: false,
      found: found < 0 ? null : found,
      rows: rows.slice(offset, offset + limit).map(filled),
      headline: [],
      scorers: ["fields"],
      runs: 412,
      scored: 398,
      errors: 9,
      waiting: 3,
      running: 2,
      damaged: 0,
      no_expected: 0,
      unasked: 0,
      unscored: 0,
      forks: 0,
      superseded: 0,
      replays_left_out: 0,
      evaluations_left_out: 0,
      missing: 5,
      misread: request.filter.includes("bad:")
        ? [{ token: "bad:x", message: "`bad` is not a key." }]
        : [],
    };
  };
}
