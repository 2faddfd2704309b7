// Asks what a request comes to, a moment after the last change; the old plan stays in sight meanwhile.
import { createSubscriber } from "svelte/reactivity";
import type { AppError } from "../generated/AppError";
import { asAppError } from "./live";

export const PAUSE_MS = 200;
/** Files change all the time while runs are at work. */
export const REST_MS = 1_000;

export class Planner<Request, Plan> {
  #plan: Plan | null = null;
  #error: AppError | null = null;
  /** What is asked for, and what the plan in sight was made of. */
  #wanted = "";
  #shown = "";
  #request: Request | null = null;
  #flying = false;
  #stale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  constructor(readonly ask: (request: Request) => Promise<Plan>) {}

  get plan(): Plan | null {
    this.#subscribe();
    return this.#plan;
  }
  get error(): AppError | null {
    this.#subscribe();
    return this.#error;
  }
  /** True while the plan in sight is that of another request. */
  get behind(): boolean {
    this.#subscribe();
    return this.#shown !== this.#wanted;
  }

  /** Turns to a request; null when there is none yet. */
  want(request: Request | null): void {
    const wanted = request === null ? "" : JSON.stringify(request);
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    this.#request = request;
    this.#error = null;
    if (request === null) {
      this.#plan = null;
      this.#shown = "";
    }
    this.#update();
    this.#soon(this.#plan === null && !this.#flying ? 0 : PAUSE_MS, true);
  }

  /** What is on disk changed. */
  refresh(): void {
    this.#stale = true;
    this.#soon(REST_MS, false);
  }

  again(): void {
    this.#error = null;
    this.#shown = "";
    this.#update();
    this.#soon(0, true);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#request = null;
  }

  #soon(after: number, anew: boolean): void {
    if (anew) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#go();
    }, after);
  }

  async #go(): Promise<void> {
    const request = this.#request;
    if (request === null || this.#flying) return;
    const asked = this.#wanted;
    this.#flying = true;
    this.#stale = false;
    try {
      const plan = await this.ask(request);
      if (asked === this.#wanted) {
        this.#plan = plan;
        this.#shown = asked;
        this.#error = null;
      }
    } catch (thrown) {
      if (asked === this.#wanted) this.#error = asAppError(thrown);
    }
    this.#flying = false;
    this.#update();
    if (asked !== this.#wanted) this.#soon(0, true);
    else if (this.#stale) this.#soon(REST_MS, false);
  }
}
