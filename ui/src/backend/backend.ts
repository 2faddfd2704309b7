// All commands of the page in one interface, implemented by the IPC of the window and by the HTTP
// API. The engine's `App`, the window, the routes and this file use the same command names; a test
// compares them.
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
import type { ListPosition } from "../generated/ListPosition";
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

/**
 * Arguments and reply of each command. The argument object is sent unchanged; a failed call throws
 * an `AppError`.
 */
export interface Commands {
  status: [Record<string, never>, Status];
  folders: [Record<string, never>, Folders];
  open_recent: [{ id: string }, null];
  forget_recent: [{ id: string }, null];
  open_demo: [Record<string, never>, null];
  /** Opens the system's folder dialog; false on cancel. Window only. */
  pick_folder: [Record<string, never>, boolean];
  close_folder: [Record<string, never>, null];
  facets: [Record<string, never>, Facets];
  list_runs: [{ request: ListRequest }, RunPage];
  locate_run: [{ filter: string; sort: Sort; id: string }, ListPosition];
  runs_around: [{ filter: string; sort: Sort; id: string }, RunsAround];
  search: [{ text: string; span: Span }, Hit[]];
  problems: [{ span: Span }, ProblemPage];
  open_run: [{ id: string }, RunView];
  read_steps: [{ id: string; version: string; span: Span }, StepPage];
  read_tree: [{ id: string; version: string }, TreeView];
  /** `part` is the id of a part, or `raw:<n>` for the n-th file of the run on disk. */
  read_text: [{ id: string; part: string; offset: number; limit: number }, TextPiece];
  read_rows: [{ id: string; part: string; request: RowRequest }, RowPiece];
  /** An entire table as CSV. */
  read_csv: [{ id: string; part: string }, string];
  find_in_run: [{ id: string; text: string }, Matches];
  launch_options: [Record<string, never>, LaunchOptions];
  /** Plans a launch without sending anything. */
  plan_launch: [{ request: LaunchRequest }, LaunchPlan];
  start_launch: [{ request: LaunchRequest }, Launched];
  /** All launches since the program started, newest first, without their runs. */
  launches: [Record<string, never>, LaunchView[]];
  launch: [{ id: string; span: Span }, LaunchView];
  /** Lets calls in flight finish and be saved; `now` cancels them. */
  stop_launch: [{ id: string; now: boolean }, null];
  /** Launches the failed and stopped runs again. */
  retry_launch: [{ id: string }, Launched];
  /** Appends a user message to a finished or waiting run and continues it. */
  nudge_run: [{ id: string; message: string; in_place: boolean }, Launched];
  /**
   * Copies a run up to and including a step to a new repeat. With a message, that becomes the next
   * user message (replacing the step if it is one) and the new run is launched.
   */
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
  /** Compares two to four runs; the first is the baseline. */
  compare_runs: [{ ids: string[] }, Comparison];
  diff_steps: [{ left: StepRef; right: StepRef }, StepDiff];
  /** With `whole` the full text, else the part for the preview. */
  make_report: [{ request: ReportRequest; whole: boolean }, Report];
  list_tasks: [{ request: TaskRequest }, TaskPage];
  /** `id` is the id of the task. */
  read_task: [{ id: string }, TaskView];
  /** Results of the local runs of query sets, and published results. */
  published: [{ request: PublishedRequest }, Published];
  /** Runs pending program scorers in the sandbox; returns the number of runs. */
  run_scorers: [{ filter: string }, number];
  /** A null review deletes it. With a folder, nothing is saved once another one is open. */
  review_run: [{ folder: string | null; id: string; review: Review | null }, null];
  /**
   * Opens the system's save dialog; false on cancel. Window only; a served page downloads instead.
   */
  save_report: [{ request: ReportRequest }, boolean];
  judge_options: [Record<string, never>, JudgeOptions];
  /** All judging jobs since the program started, newest first. */
  judgings: [Record<string, never>, JudgingView[]];
  /** Raters of the runs that match a filter, and the agreement of each pair. */
  trust: [{ filter: string }, Trust];
  /** One pair of raters, by ids, with the runs they disagree on. */
  agreement: [{ first: string; second: string; filter: string }, Agreement];
  /** Plans judging without sending anything. */
  plan_judging: [{ request: JudgeRequest }, JudgePlan];
  start_judging: [{ request: JudgeRequest }, Judging];
  /** Lets requests in flight finish and be saved; `now` cancels them. */
  stop_judging: [{ id: string; now: boolean }, null];
  evaluate_options: [Record<string, never>, EvaluateOptions];
  /** Columns, first rows and errors of a data file. */
  look_at_data: [{ id: string }, DataLook];
  /** All evaluations, newest first. */
  evaluations: [Record<string, never>, EvaluationView[]];
  /** Evaluations without complete results, newest first; active ones excluded. */
  unfinished_evaluations: [Record<string, never>, EvaluateUnfinished[]];
  /** Opens the system's file dialog for a data file; null on cancel. Window only. */
  pick_file: [Record<string, never>, DataFile | null];
  /** Plans an evaluation without sending anything. */
  plan_evaluating: [{ request: EvaluateRequest }, EvaluatePlan];
  start_evaluating: [{ request: EvaluateRequest }, Evaluating];
  /** Lets requests in flight finish and be saved; `now` cancels them. */
  stop_evaluating: [{ id: string; now: boolean }, null];
  /** Shows a file of a run in the file manager. Window only. */
  reveal_file: [{ id: string; file: number }, null];
  /** Writes the matching runs as rows of a data file beside the results. */
  make_rows: [{ filter: string }, RowsMade];
}

export type CommandName = keyof Commands;

/**
 * Data that became stale; `missed` after lost events means that anything may be stale, even the
 * folder.
 */
export type StaleEvent = Stale | { kind: "missed" };

export interface Backend {
  /** Decides words on screen only, never behaviour. */
  readonly host: "window" | "served";
  call<N extends CommandName>(name: N, args: Commands[N][0]): Promise<Commands[N][1]>;
  /**
   * Calls back on each stale event, and with `missed` after an interruption. Returns the function
   * that stops it.
   */
  listen(fn: (word: StaleEvent) => void): () => void;
  /**
   * Calls back on errors outside any command, such as opening a dropped folder. Returns the
   * function that stops it.
   */
  onTrouble?(fn: (error: AppError) => void): () => void;
}
