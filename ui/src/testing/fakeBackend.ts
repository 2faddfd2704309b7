// Backend with canned rows for component tests. Supports just enough of a filter (`key:value` and
// words in the path) to make lists differ.
import type { Backend, CommandName, DropEvent, StaleEvent } from "../backend/backend";
import type {
  AppError,
  Commands,
  EvaluationView,
  FailureMap,
  GenerationView,
  JudgingView,
  LaunchOptions,
  LaunchView,
  SplitLaunch,
  ListRequest,
  Review,
  RunPage,
  AttackScorecard,
  RunRow,
  Status,
} from "../generated";
import { EMPTY_LEADERBOARD, EMPTY_OVERVIEW } from "./overview";
import { compared, judge, SCORES, TEN } from "./judge";
import { beside, stepDiff } from "./compare";
import { NO_BASELINE, NO_HISTORY } from "./history";
import { OPTIONS, plan } from "./launch";
import { CHOICES, evaluatePlan, look } from "./evaluate";

export const NO_FAILURES: FailureMap = {
  generation: 1,
  state: "done",
  read: 0,
  failed: 0,
  errors: 0,
  runs: 0,
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
};
const pick = <T>(list: readonly [T, ...T[]], index: number): T =>
  list[index % list.length] ?? list[0];
const TASKS = [
  "prioritize_tickets",
  "resolution_time",
  "churn_risk",
  "category_statistics",
] as const;
const SYSTEMS = ["promptql", "tool_calling", "tool_calling_python"] as const;
const MODELS = ["claude", "o1", "o3-mini"] as const;
const STATES = [
  "answered",
  "answered",
  "no_answer",
  "waiting",
  "error",
  "writing",
  "damaged",
] as const;
const REASONS = {
  error: "rate limit reached (429)",
  damaged: "line 14, column 3: a key where a value was expected",
  waiting: "the last message was not answered",
} as Record<string, string>;

/** A plausible run; the same number gives the same run. */
export function runRow(index: number, change: Partial<RunRow> = {}): RunRow {
  const task = pick(TASKS, index);
  const system = pick(SYSTEMS, Math.floor(index / 4));
  const model = pick(MODELS, Math.floor(index / 12));
  const state = pick(STATES, Math.floor(index / 3));
  const variation = index % 3;
  const broken = state === "damaged";
  const ended = state === "answered" || state === "no_answer";
  const score =
    state === "answered" ? pick([1, 1, 0.8, 0.3], index) : state === "no_answer" ? 0 : null;
  return {
    id: `r${index}`,
    path: `${task}-${system}-${model}-variation${variation}-run${index}.yaml`,
    member: null,
    task,
    system,
    model,
    variation,
    variation_name: pick(["last 20", "last 30", "all"], variation),
    repeat: 1 + (index % 2),
    state,
    reason: REASONS[state] ?? null,
    turns: broken ? 0 : 2 + (index % 9),
    tool_calls: broken ? 0 : 1 + (index % 14),
    failed_calls: index % 5 === 0 ? 1 : 0,
    nudges: index % 11 === 0 ? 1 : 0,
    follow_ups: 0,
    lineage: null,
    forked_from: null,
    forked_step: null,
    format: null,
    superseded_by: null,
    started_ms: null,
    prompt: null,
    missing_calls: index % 13 === 0 ? ["query_control_plane_data"] : [],
    tokens: broken || index % 7 === 3 ? null : 900 + ((index * 7919) % 90_000),
    cost: broken || index % 7 === 3 ? null : ((index * 31) % 900) / 1_000,
    seconds: broken ? null : ((index * 13) % 4_000) / 10,
    size: 1_500 + ((index * 104_729) % 400_000),
    modified_ms: Date.UTC(2025, 0, 20, 12) - index * 97_000,
    scoring: state === "error" ? "error" : ended ? "scored" : "not_ended",
    scorer: "fields",
    score,
    passed: score === null ? null : score === 1,
    score_reason:
      score === null
        ? null
        : score === 1
          ? "all 10 rows right"
          : `${Math.round(score * 10)} of 10 rows right`,
    class:
      state === "error"
        ? "system_error"
        : state === "no_answer"
          ? "no_answer"
          : score === null || score === 1
            ? null
            : "wrong_answer",
    verdict: null,
    stored: null,
    verdicts: [],
    labels: [],
    snippet: null,
    ...change,
  };
}

export const STATUS: Status = {
  version: "0.1.0",
  folder: {
    id: "f1",
    name: "benchmark",
    path: "/home/me/benchmark",
    input_dir: "suites",
    output_dir: "results",
    demo: false,
  },
  phase: { kind: "ready" },
  generation: 1,
  counts: {
    runs: 120,
    damaged: 3,
    waiting: 4,
    errors: 9,
    other_files: 2,
    tasks: 4,
    suite_problems: 1,
    damaged_reviews: 0,
  },
  search: { indexed: 120, total: 120 },
  scoring: null,
  watching: { by: "native", notice: null },
  bucket: null,
};

const passes = (row: RunRow, token: string): boolean => {
  const [key, value] = token.split(":", 2);
  if (value === undefined) return row.path.includes(token);
  return key === "path" ? row.path.includes(value) : String(row[key as keyof RunRow]) === value;
};

function listed(rows: readonly RunRow[], request: ListRequest, generation: number): RunPage {
  const tokens = request.filter.split(/\s+/).filter((token) => token !== "");
  const misread = tokens
    .filter((token) => token.startsWith("bad:"))
    .map((token) => ({
      token,
      message: "`bad` is not a key. Write system, model, task or state.",
    }));
  const good = tokens.filter((token) => !token.startsWith("bad:"));
  const found =
    good.length === 0 ? rows : rows.filter((row) => good.every((token) => passes(row, token)));
  const { offset, limit } = request.span;
  if (misread.length > 0) return { total: 0, generation, rows: [], misread };
  return { total: found.length, generation, rows: found.slice(offset, offset + limit), misread };
}

const refused = (name: string): Promise<never> =>
  Promise.reject({
    code: "not_allowed",
    message: `The canned backend has no ${name}.`,
    hint: null,
  });
type Replies = {
  [N in CommandName]: (args: Commands[N][0]) => Commands[N][1] | Promise<Commands[N][1]>;
};

type Launching =
  | "launch_options"
  | "plan_launch"
  | "start_launch"
  | "launches"
  | "launch"
  | "stop_launch"
  | "retry_launch"
  | "split_launches"
  | "split_launch"
  | "stop_split_launch"
  | "submit_again"
  | "nudge_run"
  | "fork_run"
  | "editable_step"
  | "keys"
  | "set_key"
  | "forget_key"
  | "test_model";
function launching(fixture: Fixture): Pick<Replies, Launching> {
  const begun = () => ({ launch: "l1", run: null });
  return {
    launch_options: () => fixture.options,
    plan_launch: () => plan([]),
    start_launch: begun,
    launches: () => fixture.launches.map((launch) => ({ ...launch, runs: [] })),
    launch: ({ id, span }) => {
      const launch = fixture.launches.find((one) => one.id === id);
      if (launch === undefined)
        return Promise.reject({
          code: "not_found",
          message: "There is no such launch.",
          hint: null,
        });
      return { ...launch, runs: launch.runs.slice(span.offset, span.offset + span.limit) };
    },
    stop_launch: () => null,
    retry_launch: begun,
    split_launches: () => fixture.splits.map((launch) => ({ ...launch, rows: [] })),
    split_launch: ({ id, span }) => {
      const launch = fixture.splits.find((one) => one.id === id);
      if (launch === undefined)
        return Promise.reject({
          code: "not_found",
          message: "There is no such launch.",
          hint: null,
        });
      return { ...launch, rows: launch.rows.slice(span.offset, span.offset + span.limit) };
    },
    stop_split_launch: () => null,
    submit_again: () => null,
    nudge_run: ({ id }) => ({ launch: "l1", run: id }),
    fork_run: ({ run }) => ({ run: "r1", launch: run === false ? null : "l1" }),
    editable_step: () => ({ fields: [], needs_message: false, why_not: null }),
    keys: () => [],
    set_key: () => null,
    forget_key: () => null,
    test_model: ({ name }) => ({ name, ok: true, detail: "It answered.", fix: null }),
  };
}

const NO_RATE = {
  succeeded: 0,
  judged: 0,
  errors: 0,
  blocked: 0,
  not_delivered: 0,
  not_led: 0,
  not_judged: 0,
  share: null,
  low: null,
  high: null,
};
export const NO_ATTACKS: AttackScorecard = {
  overall: NO_RATE,
  categories: [],
  complexities: [],
  joint: [],
  attacks: [],
  targets: [],
  other_runs: 0,
};

type Judging =
  | "overview"
  | "leaderboard"
  | "history"
  | "attack_scorecard"
  | "sensitive"
  | "confirm_scan"
  | "evaluator_summaries"
  | "set_changes"
  | "baseline"
  | "save_baseline"
  | "run_scores"
  | "diff_answer"
  | "compare_runs"
  | "diff_steps"
  | "make_report"
  | "run_scorers"
  | "review_run"
  | "undo_review"
  | "queue_around"
  | "queue_progress"
  | "author"
  | "views"
  | "labels"
  | "save_label"
  | "add_label"
  | "label_uses"
  | "own_columns"
  | "change_label"
  | "remove_label"
  | "label_agreements"
  | "plan_suite"
  | "attack_baseline"
  | "generation_options"
  | "plan_generation"
  | "start_generation"
  | "generations"
  | "stop_generation"
  | "make_suite"
  | "rename_run"
  | "found_results"
  | "open_found"
  | "save_report"
  | "export_run"
  | "save_export"
  | "judge_options"
  | "judgings"
  | "plan_judging"
  | "start_judging"
  | "stop_judging"
  | "trust"
  | "failures"
  | "run_cause"
  | "stop_failures"
  | "plan_cause_names"
  | "start_cause_names"
  | "stop_cause_names"
  | "resume_failures"
  | "agreement"
  | "published";
function judging(fixture: Fixture): Pick<Replies, Judging> {
  return {
    overview: () => EMPTY_OVERVIEW,
    leaderboard: () => EMPTY_LEADERBOARD,
    history: () => NO_HISTORY,
    attack_scorecard: () => NO_ATTACKS,
    sensitive: () => ({ tasks: [], formats: [], all: false }),
    confirm_scan: () => null,
    evaluator_summaries: () => [],
    set_changes: () => null,
    baseline: () => NO_BASELINE,
    save_baseline: () => refused("save_baseline"),
    run_scores: () => ({ ...SCORES, review: fixture.review }),
    diff_answer: ({ request }) => compared(TEN, request),
    compare_runs: ({ ids }) => {
      const rows = ids.map((id) => fixture.rows.find((row) => row.id === id));
      return rows.every((row) => row !== undefined)
        ? beside(rows)
        : Promise.reject({
            code: "not_found",
            message: "This run is no longer in the list.",
            hint: "It was removed or renamed.",
          });
    },
    diff_steps: ({ right }) => stepDiff(right.step),
    make_report: () => refused("make_report"),
    published: () => ({
      generation: 1,
      here: false,
      sets: [],
      rows: [],
      own: [],
      summaries: [],
      notes: [],
      misread: [],
    }),
    run_scorers: () => 0,
    review_run: ({ review }) => {
      fixture.review = review;
      return null;
    },
    undo_review: () => null,
    queue_around: ({ filter, sort, id }) => fixture.replies.runs_around({ filter, sort, id }),
    queue_progress: () => ({
      total: fixture.rows.length,
      reviewed: 0,
      right: 0,
      partly: 0,
      wrong: 0,
    }),
    views: () => [],
    labels: () => [],
    save_label: () => null,
    add_label: () => null,
    own_columns: ({ columns, runs }) => ({
      quotes: columns.map((column) => !/^(?:label|score):/.test(column)),
      values: runs.map((id) => columns.map((column) => `${column} of ${id}`)),
    }),
    plan_cause_names: () => ({
      requests: 0,
      named: 0,
      tokens: 0,
      cost: 0,
      example: null,
      unbound: null,
    }),
    start_cause_names: () => null,
    stop_cause_names: () => null,
    label_uses: () => ({ runs: 0, labels: [], views: [] }),
    change_label: () => null,
    remove_label: () => null,
    label_agreements: () => [],
    plan_suite: () => ({
      folder: "/work/tasks",
      runs: 0,
      tasks: [],
      used: 0,
      files: [],
      notes: [],
      preview: null,
    }),
    attack_baseline: () => null,
    generation_options: () => ({
      models: [{ name: "local", detail: "OpenAI wire", why_not: null, is_free: false }],
      folder: "/work/tasks",
      most_bytes: 1_048_576,
      most_queries: 2_000,
      most_turns: 200,
      why_not: null,
    }),
    plan_generation: ({ request }) => ({
      requests: Math.ceil(request.queries / 10),
      tokens: 2_600,
      cost: 0.02,
      unbound: null,
    }),
    start_generation: () => ({ generation: "g1" }),
    generations: () => fixture.generations,
    stop_generation: () => null,
    make_suite: () => refused("make_suite"),
    author: () => ({ name: "Zoë", from: "git" }),
    rename_run: () => null,
    found_results: () => [],
    open_found: () => null,
    save_report: () => "/home/zoe/report.html",
    export_run: () => refused("export_run"),
    save_export: () => [],
    judge_options: () => ({
      groups: [{ name: "StableToolBench", what: "Was the request solved?" }],
      judges: [
        judge("sopr", "Was the request solved?", 3, true),
        judge("fac", "Is it complete?", 1, false),
      ],
      models: [
        { name: "local", detail: "OpenAI wire", why_not: null, is_free: false },
        {
          name: "old",
          detail: "replays",
          why_not: { message: "`old` replays recordings of runs, so it cannot judge.", fix: null },
          is_free: true,
        },
      ],
      why_not: null,
    }),
    judgings: () => fixture.judgings,
    trust: () => ({ raters: [], pairs: [], reviewed: 0, notes: [], unreadable: 0 }),
    failures: () => NO_FAILURES,
    run_cause: () => null,
    stop_failures: () => null,
    resume_failures: () => NO_FAILURES,
    agreement: () => refused("agreement"),
    plan_judging: ({ request }) => ({
      model: request.model,
      rounds: request.rounds ?? 3,
      runs: Math.max(1, request.runs.length),
      unasked: 0,
      complete: 0,
      skipped: [],
      skipped_total: 0,
      forks_left_out: 0,
      calls_least: 3,
      calls_most: 6,
      tokens_least: 1_200,
      tokens_most: 5_000,
      cost_least: 0.01,
      cost_most: 0.04,
      unbound: null,
    }),
    start_judging: () => ({ judging: "j1" }),
    stop_judging: () => null,
  };
}

type Evaluating =
  | "evaluate_options"
  | "look_at_data"
  | "evaluations"
  | "evaluation_rows"
  | "unfinished_evaluations"
  | "pick_file"
  | "plan_evaluating"
  | "start_evaluating"
  | "stop_evaluating"
  | "make_rows";
function evaluating(fixture: Fixture): Pick<Replies, Evaluating> {
  return {
    evaluate_options: () => CHOICES,
    look_at_data: ({ id }) => look(id),
    evaluations: () => fixture.evaluations,
    evaluation_rows: () => ({ total: 0, evaluators: [], totals: [], rows: [] }),
    unfinished_evaluations: () => [],
    pick_file: () => null,
    plan_evaluating: () => evaluatePlan(),
    start_evaluating: () => ({ evaluation: "e1" }),
    stop_evaluating: () => null,
    make_rows: () => ({
      file: { id: "d1", path: "results/evaluations/runs.jsonl", size: 2_000 },
      rows: 8,
      notes: [],
    }),
  };
}

function canned(fixture: Fixture): Replies {
  const none = (name: string) => () => refused(name);
  return {
    status: () => fixture.status,
    folders: () => ({
      recent: [],
      demo: true,
      can_pick: fixture.host === "window",
      can_open: true,
    }),
    open_recent: () => null,
    open_bucket: () => null,
    forget_recent: () => null,
    open_demo: () => null,
    pick_folder: () => true,
    close_folder: () => null,
    facets: () => ({
      keys: [
        {
          key: "state",
          about: "how it ended",
          values: STATES.slice(1).map((value, index) => ({ value, count: 40 - index })),
        },
        {
          key: "system",
          about: "which system",
          values: SYSTEMS.map((value) => ({ value, count: 40 })),
        },
        {
          key: "model",
          about: "which model",
          values: MODELS.map((value) => ({ value, count: 40 })),
        },
        { key: "task", about: "which task", values: TASKS.map((value) => ({ value, count: 30 })) },
        { key: "turns", about: "how many turns, as <5 or >=2", values: [] },
      ],
      parts: [],
    }),
    list_runs: ({ request }) => listed(fixture.rows, request, fixture.status.generation),
    locate_run: ({ id }) => {
      const position = fixture.rows.findIndex((row) => row.id === id);
      return {
        position: position < 0 ? null : position,
        total: fixture.rows.length,
        previous: fixture.rows[position - 1]?.id ?? null,
        next: fixture.rows[position + 1]?.id ?? null,
      };
    },
    runs_around: ({ id }) => ({
      offset: 0,
      before: Math.max(
        0,
        fixture.rows.findIndex((row) => row.id === id),
      ),
      total: fixture.rows.length,
      ids: fixture.rows.map((row) => row.id),
    }),
    search: () => [],
    problems: () => ({ total: 0, no_runs: 0, problems: [] }),
    open_run: none("open_run"),
    run_reading: () => null,
    run_beginning: () => null,
    stop_reading_run: () => null,
    read_steps: none("read_steps"),
    run_outline: none("run_outline"),
    read_tree: none("read_tree"),
    read_text: none("read_text"),
    read_rows: none("read_rows"),
    read_csv: none("read_csv"),
    read_media: none("read_media"),
    save_media: none("save_media"),
    find_in_run: none("find_in_run"),
    reveal_file: () => null,
    ...launching(fixture),
    ...judging(fixture),
    ...evaluating(fixture),
    list_tasks: () => ({ all: 0, total: 0, rows: [], sets: [], categories: [], cut: null }),
    read_task: none("read_task"),
    doctor: () => [{ name: "Index folder", ok: true, detail: "Can be written.", fix: null }],
  };
}

/**
 * Change `rows`, `status` or single `replies`, then call `tell` with the stale data. Records every
 * call.
 */
export class Fixture implements Backend {
  readonly calls: { name: CommandName; args: unknown }[] = [];
  readonly replies: Replies;
  options: LaunchOptions = OPTIONS;
  launches: LaunchView[] = [];
  splits: SplitLaunch[] = [];
  judgings: JudgingView[] = [];
  generations: GenerationView[] = [];
  evaluations: EvaluationView[] = [];
  review: Review | null = null;
  #ears = new Set<(word: StaleEvent) => void>();

  constructor(
    public rows: RunRow[] = Array.from({ length: 120 }, (_, index) => runRow(index)),
    public status: Status = STATUS,
    readonly host: Backend["host"] = "served",
  ) {
    this.replies = canned(this);
  }

  async call<N extends CommandName>(name: N, args: Commands[N][0]): Promise<Commands[N][1]> {
    this.calls.push({ name, args });
    return await this.replies[name](args);
  }

  listen(fn: (word: StaleEvent) => void): () => void {
    this.#ears.add(fn);
    return () => this.#ears.delete(fn);
  }

  #troubled = new Set<(error: AppError) => void>();
  onTrouble(fn: (error: AppError) => void): () => void {
    this.#troubled.add(fn);
    return () => this.#troubled.delete(fn);
  }

  #dropped = new Set<(event: DropEvent) => void>();
  onDrop(fn: (event: DropEvent) => void): () => void {
    this.#dropped.add(fn);
    return () => this.#dropped.delete(fn);
  }

  /** Drags something over the page, or drops it. */
  drag(event: DropEvent): void {
    for (const ear of this.#dropped) ear(event);
  }

  /** Reports an error outside any command. */
  fail(error: AppError): void {
    for (const ear of this.#troubled) ear(error);
  }

  tell(word: StaleEvent): void {
    for (const ear of this.#ears) ear(word);
  }
}
