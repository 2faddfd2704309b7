// What was asked stays fresh: replies are kept by question, and asked again when an event says they went stale. Old data stays in sight meanwhile.
import { createSubscriber } from "svelte/reactivity";
import { isAppError } from "./http";
import type { Backend, CommandName, Commands, StaleEvent } from "./backend";
import type { AppError } from "../generated/AppError";
import type { Status } from "../generated/Status";

/** Events come in bursts; nothing is asked more often than this. */
export const MIN_INTERVAL_MS = 100;
/** A running launch tells of itself many times a second; that often it is read. */
export const LAUNCH_INTERVAL_MS = 300;
/** How long until the same may be asked again that was asked at this moment: a reply that took longer than a throttle is not waited for twice. */
export const remainingInterval = (asked: number): number =>
  Math.max(0, MIN_INTERVAL_MS - (performance.now() - asked));
/** What goes through all runs each time. While files pour in it is not made anew with every throttle. */
const SLOW_QUERIES: readonly CommandName[] = [
  "facets",
  "published",
  "make_report",
  "trust",
  "agreement",
];
const SLOW_INTERVAL_MS = 1_000;
/** Replies that nobody looks at and are still kept. */
const MAX_CACHED = 64;
/** Answers that are large, and of a question that changes with every word typed: gone as soon as nobody looks. */
const UNCACHED: readonly CommandName[] = ["make_report"];
/** Answers that say which folder is open stay in sight until newer ones are there; all others are about one folder. */
const FOLDER_INDEPENDENT: readonly CommandName[] = ["status", "folders"];

type Args = Commands[CommandName][0];

/** A question with its newest answer. Reading it in a template or an effect keeps it fresh. */
export interface Query<T> {
  readonly data: T | undefined;
  /** Of the last try; the data of an earlier one stays beside it. */
  readonly error: AppError | null;
  /** True while a reply is on its way. */
  readonly busy: boolean;
  refetch(): void;
}

/** The runs that a question is about; null when it is about any. */
function runsOf(name: CommandName, args: Args): string[] | null {
  if (name === "locate_run") return null;
  if ("id" in args) return [args.id];
  if (name === "compare_runs" && "ids" in args) return args.ids;
  if ("request" in args && "against" in args.request)
    return [args.request.id, ...(args.request.against === null ? [] : [args.request.against])];
  return null;
}

/** Events that say how something that was begun stands. */
const JOB_EVENTS: readonly StaleEvent["kind"][] = ["launches", "judgings", "evaluations"];

/** Which events make the answer of a command stale. */
export function makesStale(name: CommandName, args: Args, stale: StaleEvent): boolean {
  if (stale.kind === "folder" || stale.kind === "missed") return true;
  if (name === "launches" || name === "launch") return stale.kind === "launches";
  if (name === "evaluations" || name === "unfinished_evaluations")
    return stale.kind === "evaluations";
  if (name === "judgings") return stale.kind === "judgings";
  if (JOB_EVENTS.includes(stale.kind)) return false;
  if (name === "status") return true;
  // What two versions differ in stays so.
  if (stale.kind !== "runs" || name === "diff_steps") return false;
  // Tasks and models change with the suites and the workspace file, not with every run.
  if (
    name === "launch_options" ||
    name === "judge_options" ||
    name === "evaluate_options" ||
    name === "look_at_data" ||
    name === "keys" ||
    name === "list_tasks" ||
    name === "read_task"
  )
    return stale.all;
  const about = runsOf(name, args);
  if (about !== null) return stale.all || about.some((id) => stale.ids.includes(id));
  return name !== "folders" && name !== "doctor";
}

/** Whatever was thrown, as a sentence. */
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
  /** A reply is on its way. */
  #inFlight = false;
  /** Replies come, or rest between two of them. */
  #looping = false;
  #stale = true;
  /** Replies asked for before this may be about another folder. */
  #era = 0;
  /** The era that the data is of. */
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

  /** Another folder may be open: nothing that is on its way or rests is waited for. */
  restart(): void {
    this.#era++;
    this.#looping = this.#inFlight = false;
    this.#error = null;
    this.#stale = true;
    this.#update?.();
    void this.#ask();
  }

  /** Another folder is open: what the former one answered is not shown in it. */
  clearForeign(): void {
    if (this.#dataEra === this.#era || FOLDER_INDEPENDENT.includes(this.name)) return;
    this.#data = undefined;
    this.#update?.();
  }

  /** What is large is not kept unseen. */
  #discardLarge(): void {
    if (this.watched || !UNCACHED.includes(this.name)) return;
    this.#data = undefined;
    this.#stale = true;
  }

  /** One question at a time: what went stale on the way is asked again when the reply is there, so a flood of events starves nobody. What nobody looks at stays stale until somebody does. */
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

/** The first event after a pause is told at once, the rest of a burst at the next throttle. */
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
  /** Word of the frame follows every change, and would keep the next change waiting. */
  readonly #statusEvents = new Throttle(MIN_INTERVAL_MS, (events) => this.#notify(events));
  readonly #jobEvents = new Throttle(LAUNCH_INTERVAL_MS, (events) => this.#notify(events));
  readonly #stop: () => void;
  /** The folder that is open, as the last status has it. */
  #folder: string | null | undefined;
  /** Word came since then that it may be another one. */
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

  /** The question with its kept answer; the same question is the same object. */
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

  /** For what keeps its own answers: called with everything that went stale since the last throttle. */
  onStale(listener: (stale: StaleEvent[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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

  /** Which folder it is. Status may know of another one before word of it comes. */
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
