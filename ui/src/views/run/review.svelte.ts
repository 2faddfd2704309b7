// What a person says of the run, while they say it: kept at once when it is a verdict, after a pause when it is typed.
import type { AppError } from "../../generated/AppError";
import type { Review } from "../../generated/Review";
import type { Verdict } from "../../generated/Verdict";
import { asAppError } from "../../live";
import { drafts } from "./drafts";

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

interface Said {
  verdict: Verdict | null;
  score: number | null;
  note: string;
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
  /** Grows with every change; what was kept is that of `#kept`. */
  #revision = 0;
  #kept = 0;
  /** What is on disk, as far as is known. */
  #last: Said | undefined;
  /** The answer that it is said of: null is any, undefined that nothing was said yet. */
  #of: string | null | undefined;
  #sending: Promise<void> | undefined;
  #again = false;

  constructor(
    /** Keeps it; null takes it away. */
    readonly send: (review: Review | null) => Promise<unknown>,
    readonly onsaved: () => void,
    /** The mark of the answer that is shown. */
    readonly seen: () => string,
    /** Names the run. */
    readonly run: string,
  ) {
    const draft = drafts.get(run);
    if (!draft) return;
    ({ verdict: this.verdict, score: this.score, note: this.note } = draft);
    this.#of = draft.of;
    this.#changed();
  }

  /** What is on disk. It does not take away what is not kept yet. */
  take(review: Review | null): void {
    if (this.#sending) return;
    this.#last = { verdict: review?.verdict ?? null, score: review?.score ?? null, note: review?.note ?? "" };
    if (this.#revision !== this.#kept) return;
    this.verdict = this.#last.verdict;
    if (readScore(this.score) !== this.#last.score) this.score = review?.score == null ? "" : String(review.score);
    this.note = this.#last.note;
    this.at = review?.at_ms ?? 0;
    this.stale = review?.stale ?? false;
    this.#of = review === null ? undefined : review.answer;
    this.state = review === null ? "nothing" : "saved";
  }

  /** True when it is kept. */
  async say(verdict: Verdict | null): Promise<boolean> {
    if (verdict === this.verdict && !this.stale && this.state !== "failed") return this.state !== "unsaved";
    this.verdict = verdict;
    if (verdict !== null) this.#of = this.seen();
    this.#changed();
    await this.save();
    return this.failed === null;
  }

  /** Something was typed. A score is said of the answer that is shown; a note is added to what was said before. */
  typed(what: "score" | "note"): void {
    if (what === "score") this.#of = this.seen();
    this.#changed();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), PAUSE_MS);
  }

  /** Keeps what is not kept yet, as when the page is left. */
  flush(): void {
    if (this.#revision !== this.#kept) void this.save();
  }

  /** One after the other: what changes meanwhile is sent when that is kept. */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#sending) {
      this.#again = true;
      return this.#sending;
    }
    this.#sending = this.#all().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  #changed(): void {
    if (this.#of === undefined) this.#of = this.seen();
    this.#revision++;
    this.state = "unsaved";
    drafts.set(this.run, { verdict: this.verdict, score: this.score, note: this.note, of: this.#of });
  }

  async #all(): Promise<void> {
    let kept: boolean;
    do {
      this.#again = false;
      kept = await this.#keep();
    } while (this.#again);
    if (kept) this.onsaved();
  }

  async #keep(): Promise<boolean> {
    const revision = this.#revision;
    const of = this.#of ?? null;
    const typed = readScore(this.score);
    // A number that is not finished keeps nothing else from being kept.
    const said = { verdict: this.verdict, score: typed === undefined ? this.#last?.score : typed, note: this.note };
    const known = typed === undefined && said.verdict === this.#last?.verdict && said.note === this.#last.note;
    if (said.score === undefined || known) {
      this.state = "unsaved";
      return false;
    }
    const last = { ...said, score: said.score };
    const nothing = last.verdict === null && last.score === null && last.note.trim() === "";
    this.state = "saving";
    this.failed = null;
    try {
      await this.send(nothing ? null : { ...last, at_ms: 0, stale: false, answer: of });
    } catch (thrown) {
      this.failed = asAppError(thrown);
      this.state = "failed";
      return false;
    }
    this.#last = last;
    this.at = Date.now();
    this.stale = !nothing && of !== null && of !== this.seen();
    if (revision === this.#revision && typed !== undefined) {
      this.#kept = revision;
      drafts.delete(this.run);
      this.state = nothing ? "nothing" : "saved";
    } else this.state = "unsaved";
    return true;
  }
}
