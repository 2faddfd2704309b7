// Everything the page may ask for, in one interface. Two forms fill it: the window's IPC and the served HTTP API.
// The names of the commands are the same in the engine's `App`, in the window, in the routes and here; a test compares them.
import type { AppEvent } from "../generated/AppEvent";
import type { Check } from "../generated/Check";
import type { Facets } from "../generated/Facets";
import type { Folders } from "../generated/Folders";
import type { Hit } from "../generated/Hit";
import type { ListRequest } from "../generated/ListRequest";
import type { Matches } from "../generated/Matches";
import type { Place } from "../generated/Place";
import type { ProblemPage } from "../generated/ProblemPage";
import type { RowPiece } from "../generated/RowPiece";
import type { RowRequest } from "../generated/RowRequest";
import type { RunPage } from "../generated/RunPage";
import type { RunView } from "../generated/RunView";
import type { Sort } from "../generated/Sort";
import type { Span } from "../generated/Span";
import type { Status } from "../generated/Status";
import type { StepPage } from "../generated/StepPage";
import type { TextPiece } from "../generated/TextPiece";

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
  search: [{ text: string; span: Span }, Hit[]];
  problems: [{ span: Span }, ProblemPage];
  open_run: [{ id: string }, RunView];
  read_steps: [{ id: string; version: string; span: Span }, StepPage];
  /** `part` is the id of a part, or `raw:<n>` for the n-th file of the run as it is on disk. */
  read_text: [{ id: string; part: string; offset: number; limit: number }, TextPiece];
  read_rows: [{ id: string; part: string; request: RowRequest }, RowPiece];
  /** A table as CSV, whole. */
  read_csv: [{ id: string; part: string }, string];
  find_in_run: [{ id: string; text: string }, Matches];
  doctor: [Record<string, never>, Check[]];
}

export type CommandName = keyof Commands;

export interface Backend {
  /** `window` or `served`: decides words on screen, never behaviour. */
  readonly door: "window" | "served";
  call<N extends CommandName>(name: N, args: Commands[N][0]): Promise<Commands[N][1]>;
  /** Calls back with every event; after a break of the stream also with one that makes everything stale. Returns how to stop. */
  listen(fn: (event: AppEvent) => void): () => void;
}
