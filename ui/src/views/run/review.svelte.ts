// What a person says of the run, while they say it: kept at once when it is a verdict, after a pause when it is typed.
import type { AppError } from "../../generated/AppError";
import type { Review } from "../../generated/Review";
import type { Verdict } from "../../generated/Verdict";
import { asAppError } from "../../live";

const PAUSE_MS = 900;

/** A score as people type it: `0.5`, `.5`, `0,5`, `50 %`. Null when nothing is typed, undefined when it is no score. */
export function readScore(typed: string): number | null | undefined {
  const text = typed.trim().replace(",", ".");
  if (text === "") return null;
  const found = /^(\d*\.?\d+|\d+\.)\s*(%?)$/.exec(text);
  if (!found) return undefined;
  const score = Number(found[1]) / (found[2] === "%" ? 100 : 1);
  return score <= 1 ? score : undefined;
}

export class Reviewing {
  verdict = $state<Verdict | null>(null);
  /** As typed. */
  score = $state("");
  note = $state("");
  state = $state<"nothing" | "saved" | "unsaved" | "saving" | "failed">("nothing");
  failed = $state.raw<AppError | null>(null);
  /** When what is shown was kept, in milliseconds since 1970. */
  at = $state(0);
  /** It was said of an answer that has changed since. */
  stale = $state(false);
  /** What is typed for a score is none. */
  readonly bad = $derived(readScore(this.score) === undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #again = false;

  constructor(
    /** Keeps it; null takes it away. */
    readonly send: (review: Review | null) => Promise<unknown>,
    readonly onsaved: () => void,
  ) {}

  /** What is on disk. It does not take away what is being typed. */
  take(review: Review | null): void {
    if (this.state === "unsaved" || this.state === "saving" || this.state === "failed") return;
    this.verdict = review?.verdict ?? null;
    if (readScore(this.score) !== (review?.score ?? null)) this.score = review?.score == null ? "" : String(review.score);
    this.note = review?.note ?? "";
    this.at = review?.at_ms ?? 0;
    this.stale = review?.stale ?? false;
    this.state = review === null ? "nothing" : "saved";
  }

  /** True when it is kept. */
  async say(verdict: Verdict | null): Promise<boolean> {
    if (verdict === this.verdict && !this.stale && this.state !== "failed") return this.state !== "unsaved";
    this.verdict = verdict;
    await this.save();
    return this.failed === null;
  }

  /** Something was typed. */
  typed(): void {
    this.state = "unsaved";
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), PAUSE_MS);
  }

  /** Keeps what is not kept yet, as when the page is left. */
  flush(): void {
    if (this.state === "unsaved") void this.save();
  }

  async save(): Promise<void> {
    clearTimeout(this.#timer);
    const score = readScore(this.score);
    if (score === undefined) {
      this.state = "unsaved";
      return;
    }
    if (this.state === "saving") {
      this.#again = true;
      return;
    }
    this.state = "saving";
    this.failed = null;
    const nothing = this.verdict === null && score === null && this.note.trim() === "";
    try {
      await this.send(nothing ? null : { verdict: this.verdict, score, note: this.note, at_ms: 0, stale: false });
      this.at = Date.now();
      this.stale = false;
      this.state = nothing ? "nothing" : "saved";
    } catch (thrown) {
      this.failed = asAppError(thrown);
      this.state = "failed";
    }
    if (this.#again) {
      this.#again = false;
      await this.save();
    } else if (this.failed === null) this.onsaved();
  }
}
