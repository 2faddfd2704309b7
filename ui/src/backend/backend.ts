// Calls of the engine, implemented by the IPC of the window and by the HTTP API.
import type { AppError, Commands, Opened, Stale } from "../generated";

export type { Commands };
export type CommandName = keyof Commands;

/**
 * Data that became stale; `missed` after lost events means that anything may be stale, even the
 * folder.
 */
export type StaleEvent = Stale | { kind: "missed" };

/** Something dragged over the page, or dropped on it. */
export type DropEvent =
  | { kind: "over" }
  | { kind: "left" }
  | { kind: "opened"; opened: Opened }
  | { kind: "refused"; error: AppError };

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
  /**
   * Calls back while files are dragged over the page and when they are dropped. Returns the function
   * that stops it.
   */
  onDrop?(fn: (event: DropEvent) => void): () => void;
}
