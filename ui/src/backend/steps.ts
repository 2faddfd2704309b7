// The steps of one run, read in pages as they become visible, so that a run of 100,000 steps costs
// only what is viewed.
import { createSubscriber } from "svelte/reactivity";
import { rowOf } from "../domain/sorted";
import type { Span, Step, StepPage } from "../generated";
import { asAppError } from "./live";

export const PAGE = 50;
/** Maximum number of cached steps; those furthest from the visible ones are evicted first. */
export const MAX_CACHED_STEPS = 3000;
const AHEAD = 20;
const PAUSE_MS = 30;

export type ReadSteps = (version: string, span: Span) => Promise<StepPage>;

export class Steps {
  #total = 0;
  #error = "";
  #version = "";
  readonly #steps = new Map<number, Step>();
  /** Visible steps, never evicted. */
  readonly #inSight = new Set<number>();
  /** Steps that are listed, in order: those in folded groups are not read. All if undefined. */
  #listed: readonly number[] | undefined;
  /** Steps of an older version of the file: shown until they are read again. */
  readonly #outdated = new Set<number>();
  /** Pages that are being read. */
  readonly #inFlight = new Map<number, Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  constructor(
    readonly read: ReadSteps,
    /** Called when the file is no longer the one that was opened. */
    readonly onchanged: () => void,
  ) {}

  get total(): number {
    this.#subscribe();
    return this.#total;
  }
  /** Identifies the content of the file read last. */
  get version(): string {
    this.#subscribe();
    return this.#version;
  }
  get error(): string {
    this.#subscribe();
    return this.#error;
  }
  get(index: number): Step | undefined {
    this.#subscribe();
    return this.#steps.get(index);
  }

  /**
   * Applies a new version of the run: the number of steps and some of them. Folds and position are
   * kept elsewhere.
   */
  take(view: Pick<StepPage, "version" | "total_steps" | "steps">): void {
    if (view.version === this.#version) return;
    this.#version = view.version;
    this.#total = view.total_steps;
    this.#error = "";
    for (const index of this.#steps.keys()) {
      if (index >= view.total_steps) this.#steps.delete(index);
      else this.#outdated.add(index);
    }
    for (const step of view.steps) this.#put(step);
    this.#update();
    this.#schedule();
  }

  /** Takes the steps that are listed, in order. */
  list(listed: readonly number[]): void {
    this.#listed = listed;
  }

  /** Marks a step as visible; returns the function that unmarks it. */
  want(index: number): () => void {
    this.#inSight.add(index);
    if (this.#near(index).some((one) => this.#isMissing(one))) this.#schedule();
    return () => this.#inSight.delete(index);
  }

  /** Reads one step, visible or not. Returns nothing if it cannot be read. */
  async fetch(index: number): Promise<Step | undefined> {
    while (this.#isMissing(index)) {
      // Its page may be on its way, but from a later step on, or in an older version.
      const flight = this.#inFlight.get(Math.floor(index / PAGE));
      const version = this.#version;
      await (flight ?? this.#load(index));
      if (!flight && version === this.#version) break;
    }
    return this.#isMissing(index) ? undefined : this.#steps.get(index);
  }

  refetch(): void {
    this.#error = "";
    this.#update();
    this.#schedule();
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** Listed steps near a step, with itself. */
  #near(index: number): number[] {
    const listed = this.#listed;
    const at = listed ? rowOf(listed, index) : index;
    const rows = Array.from({ length: 2 * AHEAD + 1 }, (_, row) => at - AHEAD + row);
    return rows.map((row) => (listed ? (listed[row] ?? -1) : row)).filter((one) => one >= 0);
  }

  /** The last listed step of a page, not before a step of it. */
  #lastListed(page: number, index: number): number {
    const last = (page + 1) * PAGE - 1;
    const listed = this.#listed;
    return listed ? Math.max(index, listed[rowOf(listed, last)] ?? index) : last;
  }

  #isMissing(index: number): boolean {
    return index < this.#total && (!this.#steps.has(index) || this.#outdated.has(index));
  }

  /** Reads visible steps and a margin after a pause, so that steps scrolled past are never read. */
  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const near = new Set([...this.#inSight].flatMap((index) => this.#near(index)));
      const lacking = [...near].filter((index) => this.#isMissing(index)).sort((a, b) => a - b);
      const pages = new Set<number>();
      for (const index of lacking) {
        const page = Math.floor(index / PAGE);
        if (!pages.has(page)) void this.#load(index);
        pages.add(page);
      }
    }, PAUSE_MS);
  }

  /** Reads the page of a step, unless it is being read. */
  #load(index: number): Promise<void> {
    const page = Math.floor(index / PAGE);
    let flight = this.#inFlight.get(page);
    if (!flight) {
      flight = this.#read(index, page).finally(() => this.#landed(page));
      this.#inFlight.set(page, flight);
    }
    return flight;
  }

  #landed(page: number): void {
    this.#inFlight.delete(page);
    this.#update();
    if (this.#error === "" && [...this.#inSight].some((one) => this.#isMissing(one)))
      this.#schedule();
  }

  /**
   * Reads a page from a missing step to its last listed one; the engine may return fewer steps than
   * requested.
   */
  async #read(index: number, page: number): Promise<void> {
    const version = this.#version;
    try {
      const got = await this.read(version, {
        offset: index,
        limit: this.#lastListed(page, index) + 1 - index,
      });
      if (version !== this.#version) return;
      if (got.version !== version) this.onchanged();
      else {
        for (const step of got.steps) this.#put(step);
        this.#error = got.steps.length > 0 ? "" : "The requested steps did not arrive.";
        this.#evict(index);
      }
    } catch (thrown) {
      const error = asAppError(thrown);
      if (error.code === "gone") this.onchanged();
      else this.#error = error.message;
    }
  }

  #put(step: Step): void {
    this.#outdated.delete(step.index);
    this.#steps.set(step.index, step);
  }

  #evict(near: number): void {
    if (this.#steps.size <= MAX_CACHED_STEPS) return;
    const far = [...this.#steps.keys()]
      .filter((index) => !this.#inSight.has(index))
      .sort((a, b) => Math.abs(b - near) - Math.abs(a - near));
    for (const index of far.slice(0, this.#steps.size - MAX_CACHED_STEPS + PAGE))
      this.#steps.delete(index);
  }
}
