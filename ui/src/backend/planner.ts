// Requests the plan of a form shortly after its last change; the old plan stays visible meanwhile.
import { createSubscriber } from "svelte/reactivity";
import type { AppError } from "../generated";
import { asAppError } from "./live";

export const DEBOUNCE_MS = 200;
/** Files change constantly while runs are active. */
export const REFRESH_MS = 1_000;

export class Planner<Request, Plan> {
  #plan: Plan | null = null;
  #error: AppError | null = null;
  /** The current request, and the one the visible plan was made for. */
  #requestKey = "";
  #planKey = "";
  #request: Request | null = null;
  #inFlight = false;
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
  /** True while the visible plan belongs to another request. */
  get outdated(): boolean {
    this.#subscribe();
    return this.#planKey !== this.#requestKey;
  }

  /** Sets the request to plan; null when the form is incomplete. */
  setRequest(request: Request | null): void {
    const wanted = request === null ? "" : JSON.stringify(request);
    if (wanted === this.#requestKey) return;
    this.#requestKey = wanted;
    this.#request = request;
    this.#error = null;
    if (request === null) {
      this.#plan = null;
      this.#planKey = "";
    }
    this.#update();
    this.#schedule(this.#plan === null && !this.#inFlight ? 0 : DEBOUNCE_MS, true);
  }

  /** Plans again after files changed. */
  refresh(): void {
    this.#stale = true;
    this.#schedule(REFRESH_MS, false);
  }

  refetch(): void {
    this.#error = null;
    this.#planKey = "";
    this.#update();
    this.#schedule(0, true);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#request = null;
  }

  #schedule(after: number, anew: boolean): void {
    if (anew) clearTimeout(this.#timer);
    else if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#fetchPlan();
    }, after);
  }

  async #fetchPlan(): Promise<void> {
    const request = this.#request;
    if (request === null || this.#inFlight) return;
    const asked = this.#requestKey;
    this.#inFlight = true;
    this.#stale = false;
    try {
      const plan = await this.ask(request);
      if (asked === this.#requestKey) {
        this.#plan = plan;
        this.#planKey = asked;
        this.#error = null;
      }
    } catch (thrown) {
      if (asked === this.#requestKey) this.#error = asAppError(thrown);
    }
    this.#inFlight = false;
    this.#update();
    if (asked !== this.#requestKey) this.#schedule(0, true);
    else if (this.#stale) this.#schedule(REFRESH_MS, false);
  }
}
