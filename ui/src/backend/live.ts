// Cache of command replies. An event that makes one stale fetches it again; the old data stays
// visible meanwhile.
import { createSubscriber } from "svelte/reactivity";
import { isAppError } from "./http";
import type { Backend, CommandName, StaleEvent } from "./backend";
import type { AppError, Commands, Status } from "../generated";

/** Events come in bursts; a query is repeated at most this often. */
export const MIN_INTERVAL_MS = 100;
/** A running launch sends many events per second; it is read this often. */
export const LAUNCH_INTERVAL_MS = 300;
/**
 * Time until a query started at `asked` may be repeated; 0 when the reply took longer than the
 * interval.
 */
export const remainingInterval = (asked: number): number =>
  Math.max(0, MIN_INTERVAL_MS - (performance.now() - asked));
/** Queries over all runs, repeated less often while files arrive. */
const SLOW_QUERIES: readonly CommandName[] = [
  "facets",
  "failures",
  "leaderboard",
  "history",
  "attack_scorecard",
  "evaluator_summaries",
  "set_changes",
  "baseline",
  "published",
  "make_report",
  "trust",
  "agreement",
];
const SLOW_INTERVAL_MS = 1_000;
/** Maximum number of cached replies that nobody watches. */
const MAX_CACHED = 64;
/** Large replies of queries that change with every keystroke: dropped as soon as nobody watches. */
const UNCACHED: readonly CommandName[] = ["make_report"];
/** Replies independent of the open folder stay visible until newer ones arrive. */
const FOLDER_INDEPENDENT: readonly CommandName[] = ["status", "folders"];

type Args = Commands[CommandName][0];

/** A query with its latest reply. Reading it in a template or an effect keeps it fresh. */
export interface Query<T> {
  readonly data: T | undefined;
  /** Error of the latest attempt; earlier data stays available. */
  readonly error: AppError | null;
  /** True while a reply is pending. */
  readonly busy: boolean;
  refetch(): void;
}

/** Runs that a query depends on; null when it may depend on any. */
function runsOf(name: CommandName, args: Args): string[] | null {
  if (name === "locate_run") return null;
  if (name !== "evaluation_rows" && "id" in args) return [args.id];
  if (name === "compare_runs" && "ids" in args) return args.ids;
  if ("request" in args && "against" in args.request)
    return [args.request.id, ...(args.request.against === null ? [] : [args.request.against])];
  return null;
}

/** Events about the progress of jobs. */
const JOB_EVENTS: readonly StaleEvent["kind"][] = [
  "launches",
  "judgings",
  "evaluations",
  "generations",
  "failures",
];

/** Returns whether an event makes the reply of a command stale. */
export function makesStale(name: CommandName, args: Args, stale: StaleEvent): boolean {
  if (stale.kind === "folder" || stale.kind === "missed") return true;
  if (
    name === "launches" ||
    name === "launch" ||
    name === "split_launches" ||
    name === "split_launch"
  )
    return stale.kind === "launches";
  if (name === "evaluations" || name === "evaluation_rows" || name === "unfinished_evaluations")
    return stale.kind === "evaluations";
  if (name === "generations") return stale.kind === "generations";
  if (name === "judgings") return stale.kind === "judgings";
  if (name === "failures" && stale.kind === "failures") return true;
  if (JOB_EVENTS.includes(stale.kind)) return false;
  if (name === "status") return true;
  // The difference of two fixed versions never changes.
  if (stale.kind !== "runs" || name === "diff_steps") return false;
  // Tasks and models change with the suites and the workspace file, not with every run.
  if (
    name === "launch_options" ||
    name === "judge_options" ||
    name === "evaluate_options" ||
    name === "generation_options" ||
    name === "views" ||
    name === "look_at_data" ||
    name === "keys"
  )
    return stale.all;
  // The id is that of a task, which may be known from its runs alone.
  if (name === "read_task") return true;
  const about = runsOf(name, args);
  if (about !== null) return stale.all || about.some((id) => stale.ids.includes(id));
  return name !== "folders" && name !== "doctor";
}

/** Converts anything thrown to an `AppError`. */
export function asAppError(thrown: unknown): AppError {
  if (isAppError(thrown)) return thrown;
  return {
    code: "failed",
    message: thrown instanceof Error ? thrown.message : String(thrown),
    hint: null,
  };
}

class Entry<N extends CommandName> implements Query<Commands[N][1]> {
  #data: Commands[N][1] | undefined;
  #error: AppError | null = null;
  /** A request is in flight. */
  #inFlight = false;
  /** The request loop is active, waiting for a reply or for the interval. */
  #looping = false;
  #stale = true;
  /** Replies of an earlier era may belong to another folder. */
  #era = 0;
  /** Era of the data. */
  #dataEra = 0;
  #update: (() => void) | null = null;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
    void this.#ask();
    return () => {
      this.#update = null;
      this.#discardLarge();
    };
  });

  constructor(
    readonly backend: Backend,
    readonly name: N,
    readonly args: Commands[N][0],
    readonly onanswer: (data: Commands[N][1]) => void,
  ) {}

  get data() {
    this.#subscribe();
    return this.#data;
  }
  get error() {
    this.#subscribe();
    return this.#error;
  }
  get busy() {
    this.#subscribe();
    return this.#stale || this.#inFlight;
  }
  get watched() {
    return this.#update !== null;
  }

  refetch(): void {
    this.#stale = true;
    void this.#ask();
  }

  /** Restarts after the folder may have changed, without waiting for requests in flight. */
  restart(): void {
    this.#era++;
    this.#looping = this.#inFlight = false;
    this.#error = null;
    this.#stale = true;
    this.#update?.();
    void this.#ask();
  }

  /** Clears data of the previous folder. */
  clearForeign(): void {
    if (this.#dataEra === this.#era || FOLDER_INDEPENDENT.includes(this.name)) return;
    this.#data = undefined;
    this.#update?.();
  }

  /** Drops a large reply that nobody watches. */
  #discardLarge(): void {
    if (this.watched || !UNCACHED.includes(this.name)) return;
    this.#data = undefined;
    this.#stale = true;
  }

  /**
   * Sends one request at a time and repeats it if it became stale meanwhile, so that a flood of
   * events cannot starve a watcher. Unwatched queries stay stale until they are watched.
   */
  async #ask(): Promise<void> {
    if (this.#looping) return;
    const era = this.#era;
    while (this.#stale && this.watched) {
      this.#looping = this.#inFlight = true;
      this.#stale = false;
      const asked = performance.now();
      try {
        const data = await this.backend.call(this.name, this.args);
        if (era !== this.#era) return;
        [this.#data, this.#dataEra, this.#error] = [data, era, null];
        this.onanswer(data);
      } catch (thrown) {
        if (era !== this.#era) return;
        this.#error = asAppError(thrown);
      }
      this.#inFlight = false;
      this.#discardLarge();
      this.#update?.();
      const rest = SLOW_QUERIES.includes(this.name)
        ? SLOW_INTERVAL_MS
        : this.#stale
          ? remainingInterval(asked)
          : 0;
      if (rest > 0) await new Promise((later) => setTimeout(later, rest));
      if (era !== this.#era) return;
    }
    this.#looping = false;
  }
}

/** Passes on the first event after a pause at once, and the rest of a burst after the interval. */
class Throttle {
  #pending: StaleEvent[] = [];
  #sentAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly ms: number,
    readonly send: (events: StaleEvent[]) => void,
  ) {}

  push(stale: StaleEvent): void {
    this.#pending.push(stale);
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        this.#sentAt = Date.now();
        const events = this.#pending;
        this.#pending = [];
        this.send(events);
      },
      Math.max(0, this.#sentAt + this.ms - Date.now()),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

export class Live {
  readonly #entries = new Map<string, Entry<CommandName>>();
  readonly #listeners = new Set<(stale: StaleEvent[]) => void>();
  readonly #dataEvents = new Throttle(MIN_INTERVAL_MS, (events) => this.#notify(events));
  /** Status events follow every change and would delay the next data event. */
  readonly #statusEvents = new Throttle(MIN_INTERVAL_MS, (events) => this.#notify(events));
  readonly #jobEvents = new Throttle(LAUNCH_INTERVAL_MS, (events) => this.#notify(events));
  readonly #stop: () => void;
  /** The open folder according to the latest status. */
  #folder: string | null | undefined;
  /** An event announced that the folder may have changed. */
  #folderInDoubt = false;

  constructor(readonly backend: Backend) {
    const throttle = (kind: StaleEvent["kind"]) =>
      kind === "status"
        ? this.#statusEvents
        : JOB_EVENTS.includes(kind)
          ? this.#jobEvents
          : this.#dataEvents;
    this.#stop = backend.listen((stale) => throttle(stale.kind).push(stale));
  }

  /** The cached query; the same arguments return the same object. */
  query<N extends CommandName>(name: N, args: Commands[N][0]): Query<Commands[N][1]> {
    const key = `${name} ${JSON.stringify(args)}`;
    const kept = this.#entries.get(key);
    if (kept) return kept as unknown as Entry<N>;
    const entry = new Entry(
      this.backend,
      name,
      args,
      (data) => name === "status" && this.#noteFolder(data as Status),
    );
    this.#entries.set(key, entry as unknown as Entry<CommandName>);
    this.#evict();
    return entry;
  }

  /** For callers with their own cache: passes the stale events since the last interval. */
  onStale(listener: (stale: StaleEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Fetches everything again after this page opened a folder, without waiting for the event. */
  reopen(): void {
    this.#notify([{ kind: "folder" }]);
  }

  close(): void {
    this.#dataEvents.stop();
    this.#statusEvents.stop();
    this.#jobEvents.stop();
    this.#stop();
  }

  #notify(events: StaleEvent[]): void {
    const inDoubt = events.some((one) => one.kind === "folder");
    this.#folderInDoubt ||= inDoubt;
    for (const entry of this.#entries.values()) {
      if (inDoubt) entry.restart();
      else if (events.some((one) => makesStale(entry.name, entry.args, one))) entry.refetch();
    }
    for (const listener of this.#listeners) listener(events);
  }

  /** Compares the folder of a new status, which may arrive before the folder event. */
  #noteFolder(status: Status): void {
    const [before, now] = [this.#folder, status.folder?.id ?? null];
    if (before !== undefined && before !== now) {
      for (const entry of this.#entries.values()) {
        if (!this.#folderInDoubt && entry.name !== "status") entry.restart();
        entry.clearForeign();
      }
      if (!this.#folderInDoubt)
        for (const listener of this.#listeners) listener([{ kind: "folder" }]);
    }
    this.#folder = now;
    this.#folderInDoubt = false;
  }

  #evict(): void {
    for (const [key, entry] of this.#entries) {
      if (this.#entries.size <= MAX_CACHED) return;
      if (!entry.watched) this.#entries.delete(key);
    }
  }
}
