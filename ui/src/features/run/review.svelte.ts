// What a person says of the run, while they say it: kept at once when it is a verdict, after a pause when it is typed.
import type { AppError } from "../../generated/AppError";
import type { Review } from "../../generated/Review";
import type { Verdict } from "../../generated/Verdict";
import { asAppError } from "../../backend/live";
import { reviewDrafts } from "./reviewDrafts";

const PAUSE_MS = 900;

/** A score as people type it: `0.5`, `.5`, `0,5`, `50 %`. Null when nothing is typed, undefined when it is no score. */
export function parseScore(typed: string): number | null | undefined {
  const text = typed.trim().replace(",", ".");
  if (text === "") return null;
  const found = /^(\d*\.?\d+|\d+\.)\s*(%?)$/.exec(text);
  if (!found) return undefined;
  const score = Number(found[1]) / (found[2] === "%" ? 100 : 1);
  return score <= 1 ? score : undefined;
}

interface ReviewContent {
  verdict: Verdict | null;
  score: number | null;
  note: string;
}

/** A verdict, and the answer that it is said of. */
interface GivenVerdict {
  verdict: Verdict | null;
  of: string | null | undefined;
}

/** A verdict that was just given or taken away here. */
interface VerdictChange {
  marked: Verdict | null;
  /** What stood there before; undefined until that is known. */
  before: GivenVerdict | undefined;
  /** When it was kept, as its file says; null until that is known. */
  at: number | null;
}

const differs = (review: Review | null, last: ReviewContent | undefined): boolean =>
  last !== undefined &&
  ((review?.verdict ?? null) !== last.verdict ||
    (review?.score ?? null) !== last.score ||
    (review?.note ?? "").trim() !== last.note.trim());

export class ReviewEditor {
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
  readonly bad = $derived(parseScore(this.score) === undefined);
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Grows with every change; what was kept is that of `#kept`. */
  #revision = 0;
  #kept = 0;
  /** How often something was sent to be kept. */
  #sent = 0;
  /** What is on disk, as far as is known. */
  #last: ReviewContent | undefined;
  /** The answer that it is said of: null is any, undefined that nothing was said yet. */
  #of: string | null | undefined;
  #sending: Promise<void> | undefined;
  /** What was changed here and is not kept yet. */
  #touched: Partial<Record<keyof ReviewContent, true>> = {};
  #act = $state.raw<VerdictChange | null>(null);
  #again = false;

  constructor(
    /** Keeps it; null takes it away. */
    readonly send: (review: Review | null) => Promise<unknown>,
    readonly onsaved: () => void,
    /** The mark of the answer that is shown. */
    readonly seen: () => string,
    /** Names the run. */
    readonly run: string,
    /** Reads what is on disk. */
    readonly load: () => Promise<Review | null>,
  ) {
    const draft = reviewDrafts.get(run);
    if (!draft) return;
    ({ verdict: this.verdict, score: this.score, note: this.note } = draft);
    this.#of = draft.of;
    this.#changed("verdict", "score", "note");
  }

  /** What was read from disk. It does not take away what is not kept yet. */
  take(review: Review | null): void {
    if (this.#sending) return;
    // What was asked for before something was kept here may come after it: then it tells of the past. What is there now is read.
    if (this.#sent > 0 && differs(review, this.#last)) void this.#look();
    else this.#took(review);
  }

  /** Reads what is on disk, unless something is kept meanwhile. */
  async #look(): Promise<void> {
    const sent = this.#sent;
    try {
      const review = await this.load();
      if (sent === this.#sent && !this.#sending) this.#took(review);
    } catch {
      // The next change is read again.
    }
  }

  #took(review: Review | null): void {
    if (this.#last === undefined && this.#revision !== this.#kept) return this.#learn(review);
    const act = this.#act;
    if (act?.at === null && review?.verdict === act.marked)
      this.#act = { ...act, at: review.at_ms };
    this.#last = {
      verdict: review?.verdict ?? null,
      score: review?.score ?? null,
      note: review?.note ?? "",
    };
    if (this.#revision !== this.#kept) return;
    this.verdict = this.#last.verdict;
    if (parseScore(this.score) !== this.#last.score)
      this.score = review?.score == null ? "" : String(review.score);
    this.note = this.#last.note;
    this.at = review?.at_ms ?? 0;
    this.stale = review?.stale ?? false;
    this.#of = review === null ? undefined : review.answer;
    this.state = review === null ? "nothing" : "saved";
  }

  /** True when a verdict was given or taken away here and can be undone. */
  get undoable(): boolean {
    return this.#act !== null;
  }

  /** Gives a verdict, or takes it away with null. `already` when it is the one that stands there. */
  async say(verdict: Verdict | null): Promise<"saved" | "already" | "failed"> {
    if (verdict === this.verdict && !this.stale && this.state !== "failed") {
      await this.#sending;
      return this.failed === null && this.state !== "unsaved" ? "already" : "failed";
    }
    const known = this.#last !== undefined || this.#touched.verdict === true;
    this.#act = {
      marked: verdict,
      before: known ? { verdict: this.verdict, of: this.#of } : undefined,
      at: null,
    };
    this.verdict = verdict;
    if (verdict !== null) this.#of = this.seen();
    this.#changed("verdict");
    await this.save();
    return this.failed === null ? "saved" : "failed";
  }

  /** Takes back the verdict that was just given or taken away here: the one before stands again. Older ones are left alone. */
  async undo(): Promise<"undone" | "nothing" | "changed" | "failed"> {
    if (this.#act === null) return "nothing";
    await this.#sending;
    const act = this.#act;
    if (act === null) return "nothing";
    this.#act = null;
    if (this.state !== "failed") {
      try {
        const now = await this.load();
        if (
          (now?.verdict ?? null) !== act.marked ||
          (act.at !== null && now !== null && now.at_ms !== act.at)
        )
          return "changed";
      } catch (thrown) {
        this.failed = asAppError(thrown);
        return "failed";
      }
    }
    this.verdict = act.before?.verdict ?? null;
    this.#of = act.before?.of;
    this.#changed("verdict");
    await this.save();
    return this.failed === null ? "undone" : "failed";
  }

  /** Something was typed. A score is said of the answer that is shown; a note is added to what was said before. */
  typed(what: "score" | "note"): void {
    if (what === "score") this.#of = this.seen();
    this.#changed(what);
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

  /** What is on disk was not known when something was said: what nobody touched here stays as it is there. */
  #learn(review: Review | null): void {
    this.#last = {
      verdict: review?.verdict ?? null,
      score: review?.score ?? null,
      note: review?.note ?? "",
    };
    const act = this.#act;
    if (act !== null && act.before === undefined)
      this.#act = { ...act, before: { verdict: this.#last.verdict, of: review?.answer } };
    if (!this.#touched.verdict) this.verdict = this.#last.verdict;
    if (!this.#touched.score)
      this.score = this.#last.score === null ? "" : String(this.#last.score);
    if (!this.#touched.note) this.note = this.#last.note;
    if (!this.#touched.verdict && !this.#touched.score && review !== null) this.#of = review.answer;
  }

  #changed(...what: (keyof ReviewContent)[]): void {
    for (const one of what) this.#touched[one] = true;
    if (this.#of === undefined) this.#of = this.seen();
    this.#revision++;
    this.state = "unsaved";
    reviewDrafts.set(this.run, {
      verdict: this.verdict,
      score: this.score,
      note: this.note,
      of: this.#of,
    });
  }

  async #all(): Promise<void> {
    let kept: boolean;
    do {
      this.#again = false;
      kept = await this.#keep();
    } while (this.#again && this.#revision !== this.#kept);
    if (kept) this.onsaved();
  }

  async #keep(): Promise<boolean> {
    if (this.#last === undefined) {
      this.state = "saving";
      this.failed = null;
      try {
        this.#learn(await this.load());
      } catch (thrown) {
        this.failed = asAppError(thrown);
        this.state = "failed";
        return false;
      }
    }
    const revision = this.#revision;
    const of = this.#of ?? null;
    const typed = parseScore(this.score);
    // A number that is not finished keeps nothing else from being kept.
    const said = {
      verdict: this.verdict,
      score: typed === undefined ? this.#last?.score : typed,
      note: this.note,
    };
    const known =
      typed === undefined && said.verdict === this.#last?.verdict && said.note === this.#last.note;
    if (said.score === undefined || known) {
      this.state = "unsaved";
      return false;
    }
    const last = { ...said, score: said.score };
    const nothing = last.verdict === null && last.score === null && last.note.trim() === "";
    this.state = "saving";
    this.failed = null;
    this.#sent++;
    try {
      await this.send(nothing ? null : { ...last, at_ms: 0, stale: false, answer: of });
    } catch (thrown) {
      this.failed = asAppError(thrown);
      this.state = "failed";
      return false;
    }
    this.#last = last;
    if (this.#act) this.#act = { ...this.#act, at: null };
    this.at = Date.now();
    this.stale = !nothing && of !== null && of !== this.seen();
    if (revision === this.#revision && typed !== undefined) {
      this.#kept = revision;
      this.#touched = {};
      reviewDrafts.delete(this.run);
      this.state = nothing ? "nothing" : "saved";
    } else this.state = "unsaved";
    return true;
  }
}
