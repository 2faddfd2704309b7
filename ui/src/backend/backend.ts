// Everything the page may ask for, in one interface. Two forms fill it: the window's IPC and the served HTTP API.
// The names of the commands are the same in the engine's `App`, in the window, in the routes and here; a test compares them.
import type { Agreement } from "../generated/Agreement";
import type { AppError } from "../generated/AppError";
import type { Check } from "../generated/Check";
import type { Comparison } from "../generated/Comparison";
import type { Copied } from "../generated/Copied";
import type { DataFile } from "../generated/DataFile";
import type { DataLook } from "../generated/DataLook";
import type { DiffRequest } from "../generated/DiffRequest";
import type { DiffView } from "../generated/DiffView";
import type { EvaluateOptions } from "../generated/EvaluateOptions";
import type { EvaluatePlan } from "../generated/EvaluatePlan";
import type { EvaluateRequest } from "../generated/EvaluateRequest";
import type { EvaluateUnfinished } from "../generated/EvaluateUnfinished";
import type { Evaluating } from "../generated/Evaluating";
import type { EvaluationView } from "../generated/EvaluationView";
import type { Facets } from "../generated/Facets";
import type { Folders } from "../generated/Folders";
import type { Hit } from "../generated/Hit";
import type { JudgeOptions } from "../generated/JudgeOptions";
import type { JudgePlan } from "../generated/JudgePlan";
import type { JudgeRequest } from "../generated/JudgeRequest";
import type { Judging } from "../generated/Judging";
import type { JudgingView } from "../generated/JudgingView";
import type { KeyState } from "../generated/KeyState";
import type { Launched } from "../generated/Launched";
import type { LaunchOptions } from "../generated/LaunchOptions";
import type { LaunchPlan } from "../generated/LaunchPlan";
import type { LaunchRequest } from "../generated/LaunchRequest";
import type { LaunchView } from "../generated/LaunchView";
import type { ListRequest } from "../generated/ListRequest";
import type { Matches } from "../generated/Matches";
import type { Overview } from "../generated/Overview";
import type { OverviewRequest } from "../generated/OverviewRequest";
import type { Place } from "../generated/Place";
import type { ProblemPage } from "../generated/ProblemPage";
import type { Published } from "../generated/Published";
import type { PublishedRequest } from "../generated/PublishedRequest";
import type { Report } from "../generated/Report";
import type { ReportRequest } from "../generated/ReportRequest";
import type { Review } from "../generated/Review";
import type { RowPiece } from "../generated/RowPiece";
import type { RowRequest } from "../generated/RowRequest";
import type { RowsMade } from "../generated/RowsMade";
import type { RunPage } from "../generated/RunPage";
import type { RunsAround } from "../generated/RunsAround";
import type { RunScores } from "../generated/RunScores";
import type { RunView } from "../generated/RunView";
import type { Sort } from "../generated/Sort";
import type { Span } from "../generated/Span";
import type { Stale } from "../generated/Stale";
import type { Status } from "../generated/Status";
import type { StepDiff } from "../generated/StepDiff";
import type { StepPage } from "../generated/StepPage";
import type { StepRef } from "../generated/StepRef";
import type { TaskPage } from "../generated/TaskPage";
import type { TaskRequest } from "../generated/TaskRequest";
import type { TaskView } from "../generated/TaskView";
import type { TextPiece } from "../generated/TextPiece";
import type { TreeView } from "../generated/TreeView";
import type { Trust } from "../generated/Trust";

/** Arguments and reply of every command. An argument object is sent as it is; a failed call throws an `AppError`. */
export interface Commands {
  status: [Record<string, never>, Status];
  folders: [Record<string, never>, Folders];
  open_recent: [{ id: string }, null];
  forget_recent: [{ id: string }, null];
  open_demo: [Record<string, never>, null];
  /** The window asks with the system's dialog; false when the person cancelled. The served page may not. */
  pick_folder: [Record<string, never>, boolean];
  close_folder: [Record<string, never>, null];
  facets: [Record<string, never>, Facets];
  list_runs: [{ request: ListRequest }, RunPage];
  locate_run: [{ filter: string; sort: Sort; id: string }, Place];
  runs_around: [{ filter: string; sort: Sort; id: string }, RunsAround];
  search: [{ text: string; span: Span }, Hit[]];
  problems: [{ span: Span }, ProblemPage];
  open_run: [{ id: string }, RunView];
  read_steps: [{ id: string; version: string; span: Span }, StepPage];
  read_tree: [{ id: string; version: string }, TreeView];
  /** `part` is the id of a part, or `raw:<n>` for the n-th file of the run as it is on disk. */
  read_text: [{ id: string; part: string; offset: number; limit: number }, TextPiece];
  read_rows: [{ id: string; part: string; request: RowRequest }, RowPiece];
  /** A table as CSV, whole. */
  read_csv: [{ id: string; part: string }, string];
  find_in_run: [{ id: string; text: string }, Matches];
  launch_options: [Record<string, never>, LaunchOptions];
  /** What a request comes to; sends nothing. */
  plan_launch: [{ request: LaunchRequest }, LaunchPlan];
  start_launch: [{ request: LaunchRequest }, Launched];
  /** All launches since the program began, newest first, without their runs. */
  launches: [Record<string, never>, LaunchView[]];
  launch: [{ id: string; span: Span }, LaunchView];
  /** Lets calls in flight finish and be saved; `now` cancels them. */
  stop_launch: [{ id: string; now: boolean }, null];
  /** Launches again what failed or was stopped. */
  retry_launch: [{ id: string }, Launched];
  /** Appends a user message to a finished or waiting run and continues it. */
  nudge_run: [{ id: string; message: string; in_place: boolean }, Launched];
  /** Copies a run up to a step (included) to a new repeat; with a message, that is the next user message (in place of the step when it is one) and the new run is launched. */
  fork_run: [{ id: string; step: number; message: string | null }, Copied];
  keys: [Record<string, never>, KeyState[]];
  set_key: [{ name: string; key: string }, null];
  forget_key: [{ name: string }, null];
  /** Asks a model for one word, with its key. */
  test_model: [{ name: string }, Check];
  doctor: [Record<string, never>, Check[]];
  overview: [{ request: OverviewRequest }, Overview];
  run_scores: [{ id: string }, RunScores];
  diff_answer: [{ request: DiffRequest }, DiffView];
  /** Two to four runs; the first is what the others are compared with. */
  compare_runs: [{ ids: string[] }, Comparison];
  diff_steps: [{ left: StepRef; right: StepRef }, StepDiff];
  /** With `whole`, all of its text; else what a preview shows. */
  make_report: [{ request: ReportRequest; whole: boolean }, Report];
  list_tasks: [{ request: TaskRequest }, TaskPage];
  /** `id` is that of the task. */
  read_task: [{ id: string }, TaskView];
  /** Query sets: what one's own runs come to, and what others published. */
  published: [{ request: PublishedRequest }, Published];
  /** Runs the scorers that are programs, in the sandbox, over runs that wait for them; says how many it was. */
  run_scorers: [{ filter: string }, number];
  /** None takes the review away. With a folder, nothing is kept once another one is open. */
  review_run: [{ folder: string | null; id: string; review: Review | null }, null];
  /** The window asks where to with the system's dialog; false when the person cancelled. A served page downloads instead. */
  save_report: [{ request: ReportRequest }, boolean];
  judge_options: [Record<string, never>, JudgeOptions];
  /** All judging since the program began, newest first. */
  judgings: [Record<string, never>, JudgingView[]];
  /** Who said something of the runs that pass a filter, and how far each two agree. */
  trust: [{ filter: string }, Trust];
  /** Two of them, by their ids, with the runs on which they disagree. */
  agreement: [{ first: string; second: string; filter: string }, Agreement];
  /** What a request comes to; sends nothing. */
  plan_judging: [{ request: JudgeRequest }, JudgePlan];
  start_judging: [{ request: JudgeRequest }, Judging];
  /** Lets questions in flight be answered and kept; `now` gives them up. */
  stop_judging: [{ id: string; now: boolean }, null];
  evaluate_options: [Record<string, never>, EvaluateOptions];
  /** What a file of rows holds: its columns, its first rows, and what of it cannot be read. */
  look_at_data: [{ id: string }, DataLook];
  /** All evaluations, newest first. */
  evaluations: [Record<string, never>, EvaluationView[]];
  /** What was begun and has no whole results, newest first; not what is under way. */
  unfinished_evaluations: [Record<string, never>, EvaluateUnfinished[]];
  /** The window asks for a file of rows with the system's dialog; null when the person cancelled. The served page may not. */
  pick_file: [Record<string, never>, DataFile | null];
  /** What a request comes to; sends nothing. */
  plan_evaluating: [{ request: EvaluateRequest }, EvaluatePlan];
  start_evaluating: [{ request: EvaluateRequest }, Evaluating];
  /** Lets questions in flight be answered and kept; `now` gives them up. */
  stop_evaluating: [{ id: string; now: boolean }, null];
  /** The window shows a file of a run in the file manager. The served page may not. */
  reveal_file: [{ id: string; file: number }, null];
  /** Writes the rows of the runs that pass a filter as a data file among the results. */
  make_rows: [{ filter: string }, RowsMade];
}

export type CommandName = keyof Commands;

/** What went stale; or that nobody knows, because events were missed: perhaps everything, perhaps in another folder. */
export type StaleEvent = Stale | { kind: "missed" };

export interface Backend {
  /** `window` or `served`: decides words on screen, never behaviour. */
  readonly host: "window" | "served";
  call<N extends CommandName>(name: N, args: Commands[N][0]): Promise<Commands[N][1]>;
  /** Calls back with every word of what went stale; after a time without them also that some were missed. Returns how to stop. */
  listen(fn: (word: StaleEvent) => void): () => void;
  /** Calls back when something failed that no command was asked for, such as opening a folder that was dropped. Returns how to stop. */
  onTrouble?(fn: (error: AppError) => void): () => void;
}
