// Editor of a review. Saves verdicts at once and typed text after a pause.
import type { AppError, LabelSchema, Review, StepNote, Verdict } from "../../generated";
import { asAppError } from "../../backend/live";
import { reviewDrafts } from "./reviewDrafts";

const PAUSE_MS = 900;

/** Parses a score such as `0.5`, `.5`, `0,5` or `50 %`. Null if empty, undefined if invalid. */
export function parseScore(typed: string): number | null | undefined {
  const text = typed.trim().replace(",", ".");
  if (text === "") return null;
  const found = /^(\d*\.?\d+|\d+\.)\s*(%?)$/.exec(text);
  if (!found) return undefined;
  const score = Number(found[1]) / (found[2] === "%" ? 100 : 1);
  return score <= 1 ? score : undefined;
}

/** Checks the value of a label as the server does. Returns what is wrong with it, or null. */
export function wrongLabel(schema: LabelSchema, typed: string): string | null {
  const value = typed.trim();
  if (value === "") return null;
  if (new TextEncoder().encode(value).length > 1000) return "Write at most 1,000 bytes.";
  if (schema.kind !== "number") return null;
  const { min, max } = schema;
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? Number(value) : NaN;
  if (Number.isFinite(number) && number >= (min ?? -Infinity) && number <= (max ?? Infinity))
    return null;
  if (min !== null && max !== null) return `Write a number from ${min} to ${max}.`;
  if (min !== null) return `Write a number from ${min} on.`;
  return max === null ? "Write a number." : `Write a number up to ${max}.`;
}

interface ReviewContent {
  verdict: Verdict | null;
  score: number | null;
  note: string;
  steps: readonly StepNote[];
  labels: Labels;
}

/** Values of labels, by name. */
type Labels = Readonly<Record<string, string>>;
/** Values of labels that changed, by name; null for one that is taken away. */
export type LabelChanges = Readonly<Record<string, string | null>>;
const changedLabels = (labels: Labels, changes: LabelChanges): Labels =>
  Object.fromEntries(
    Object.entries({ ...labels, ...changes }).flatMap(([name, value]) =>
      value === null ? [] : [[name, value]],
    ),
  );
const trimmed = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, value.trim()]));
const without = <T>(all: Readonly<Record<string, T>>, name: string): Record<string, T> =>
  Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
const sameLabels = (one: Labels, other: Labels): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(one).every(([name, value]) => other[name] === value);

const sameSteps = (one: readonly StepNote[], other: readonly StepNote[]): boolean =>
  one.length === other.length &&
  one.every(({ step, note }, at) => other[at]?.step === step && other[at]?.note === note);

const contentOf = (review: Review | null): ReviewContent => ({
  verdict: review?.verdict ?? null,
  score: review?.score ?? null,
  note: review?.note ?? "",
  steps: review?.steps ?? [],
  labels: review?.labels ?? {},
});

/** A verdict and the answer it refers to. */
interface GivenVerdict {
  verdict: Verdict | null;
  of: string | null | undefined;
}

/** Said of a verdict that was given before its run was shown. */
export const NOT_COUNTED = "Not counted: the next run was not shown yet.";

/** A verdict that was saved. */
export interface SavedVerdict {
  /** The run. */
  id: string;
  name: string;
  verdict: Verdict;
  /** The verdict in words. */
  word: string;
  /** Number of the change of its file, if it can be undone exactly. */
  change: number | null;
}

/** A verdict set or removed in this editor. */
interface VerdictChange {
  marked: Verdict | null;
  /** The previous verdict; undefined until known. */
  before: GivenVerdict | undefined;
  /** The label that was changed and its previous value: null for none, undefined until known. */
  label?: { name: string; before: string | null | undefined };
  /** Time of saving according to the file; null until known. */
  at: number | null;
  /**
   * Number of the change of the file, if the verdict was the last one: it can be undone exactly.
   * Undefined until saved.
   */
  change?: number | null;
}

const differs = (review: Review | null, last: ReviewContent | undefined): boolean =>
  last !== undefined &&
  ((review?.verdict ?? null) !== last.verdict ||
    (review?.score ?? null) !== last.score ||
    (review?.note ?? "").trim() !== last.note.trim() ||
    !sameSteps(review?.steps ?? [], last.steps) ||
    !sameLabels(review?.labels ?? {}, last.labels));

/** Whether digits choose the values of a category by place: not if a value is a digit itself. */
export const isChosenByPlace = (values: readonly string[]): boolean =>
  !values.some((value) => /^[0-9]$/u.test(value));

/**
 * The value that a digit chooses: the one that it is, else the first by 1 and none by 0; undefined for
 * another key.
 */
export function labelByKey(key: string, values: readonly string[]): string | undefined {
  if (!/^[0-9]$/u.test(key)) return undefined;
  if (!isChosenByPlace(values)) return values.includes(key) ? key : undefined;
  const different = values.filter((value, at) => values.indexOf(value) === at);
  return key === "0" ? "" : different[Number(key) - 1];
}

export class ReviewEditor {
  verdict = $state<Verdict | null>(null);
  /** The text as typed. */
  score = $state("");
  note = $state("");
  /** Notes on steps, by their order in the run. */
  steps = $state.raw<readonly StepNote[]>([]);
  /** Values of labels as typed, by name. */
  labels = $state.raw<Labels>({});
  /** What is wrong with values of labels, by name. These values are not saved. */
  wrongLabels = $state.raw<Readonly<Record<string, string>>>({});
  /** The step whose note is edited. */
  editing = $state<number | null>(null);
  state = $state<"nothing" | "saved" | "unsaved" | "saving" | "failed">("nothing");
  failed = $state.raw<AppError | null>(null);
  /** Time of saving in milliseconds since 1970. */
  at = $state(0);
  /** The answer has changed since the review. */
  stale = $state(false);
  /** The typed score is invalid. */
  readonly bad = $derived(parseScore(this.score) === undefined);
  /** Changes of labels that are not saved yet. */
  #changes: LabelChanges = {};
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Increases with each change; `#kept` is the saved one. */
  #revision = 0;
  #kept = 0;
  /** Number of save requests. */
  #sent = 0;
  /** Last known content on disk. */
  #last: ReviewContent | undefined;
  /** The answer the review refers to: null is any, undefined is none yet. */
  #of: string | null | undefined;
  #sending: Promise<void> | undefined;
  /** Fields changed here and not saved yet. */
  #touched: Partial<Record<keyof ReviewContent, true>> = {};
  #act = $state.raw<VerdictChange | null>(null);
  #again = false;

  constructor(
    /** Saves the review; null deletes it. Returns the number of the change, if it can be undone. */
    readonly send: (review: Review | null) => Promise<number | null>,
    readonly onsaved: () => void,
    /** Fingerprint of the shown answer. */
    readonly seen: () => string,
    /** Key of the run. */
    readonly run: string,
    /** Reads the review from disk. */
    readonly load: () => Promise<Review | null>,
    /** Restores the file as it was before a change. Fails with the code `gone` if it changed since. */
    readonly restore: (change: number) => Promise<unknown>,
  ) {
    const draft = reviewDrafts.get(run);
    if (!draft) return;
    ({ verdict: this.verdict, score: this.score, note: this.note, steps: this.steps } = draft);
    this.#changes = draft.labels;
    this.#showLabels();
    this.#of = draft.of;
    this.#changed("verdict", "score", "note", "steps", "labels");
  }

  /** Applies the review on disk without losing unsaved changes. */
  take(review: Review | null): void {
    if (this.#sending) return;
    // A reply requested before the latest save may be outdated, so the current file is read.
    if (this.#sent > 0 && differs(review, this.#last)) void this.#look();
    else this.#took(review);
  }

  /** Reads the file unless something is saved meanwhile. */
  async #look(): Promise<void> {
    const sent = this.#sent;
    try {
      const review = await this.load();
      if (sent === this.#sent && !this.#sending) this.#took(review);
    } catch {
      // The next change triggers another read.
    }
  }

  #took(review: Review | null): void {
    const act = this.#act;
    if (act?.at === null && review?.verdict === act.marked)
      this.#act = { ...act, at: review.at_ms };
    if (this.#revision !== this.#kept) return this.#learn(review);
    this.#last = contentOf(review);
    this.verdict = this.#last.verdict;
    if (parseScore(this.score) !== this.#last.score)
      this.score = review?.score == null ? "" : String(review.score);
    this.note = this.#last.note;
    this.steps = this.#last.steps;
    this.#showLabels();
    this.at = review?.at_ms ?? 0;
    this.stale = review?.stale ?? false;
    this.#of = review === null ? undefined : review.answer;
    this.state = review === null ? "nothing" : "saved";
  }

  /** True if a verdict was set or removed here and can be undone. */
  get undoable(): boolean {
    return this.#act !== null;
  }

  /** Number of the latest verdict change, if exactly that can be undone. */
  get change(): number | null {
    return this.#act?.change ?? null;
  }

  /** Sets a verdict, or removes it with null. Returns `already` if it is unchanged. */
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

  /** Undoes the latest verdict change of this editor and restores the previous verdict. */
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
        if (act.change != null && this.#revision === this.#kept) {
          this.#sent++;
          await this.restore(act.change);
          this.#took(await this.load());
          this.onsaved();
          return "undone";
        }
      } catch (thrown) {
        const error = asAppError(thrown);
        if (error.code === "gone") return "changed";
        this.failed = error;
        return "failed";
      }
    }
    this.verdict = act.before?.verdict ?? null;
    this.#of = act.before?.of;
    if (act.label === undefined) this.#changed("verdict");
    else {
      const { name, before } = act.label;
      const others = without(this.#changes, name);
      this.#changes = before === undefined ? others : { ...others, [name]: before };
      this.wrongLabels = without(this.wrongLabels, name);
      this.#showLabels();
      this.#changed("verdict", "labels");
    }
    await this.save();
    return this.failed === null ? "undone" : "failed";
  }

  /** Handles typing. A score refers to the shown answer; a note extends the existing review. */
  typed(what: "score" | "note"): void {
    if (what === "score") this.#of = this.seen();
    this.#changed(what);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), PAUSE_MS);
  }

  /** Gives the answer a label, or takes it away with an empty value. Saved at once. */
  async label(name: string, value: string, wrong: string | null = null): Promise<void> {
    if (this.#label(name, value.trim(), wrong)) await this.save();
  }

  /** Handles typing the value of a label. Saved after a pause, unless something is wrong with it. */
  typedLabel(name: string, value: string, wrong: string | null): void {
    if (!this.#label(name, value, wrong)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), PAUSE_MS);
  }

  /** Drops the value of a label that cannot be saved. */
  async discardLabel(name: string): Promise<void> {
    this.#changes = without(this.#changes, name);
    this.wrongLabels = without(this.wrongLabels, name);
    this.#showLabels();
    this.#changed("labels");
    await this.save();
  }

  /** Sets the value of a label. Returns false if it is unchanged. */
  #label(name: string, value: string, wrong: string | null): boolean {
    const before = this.labels[name] ?? "";
    if (value === before && (this.wrongLabels[name] ?? null) === wrong) return false;
    const others = without(this.wrongLabels, name);
    this.wrongLabels = wrong === null ? others : { ...others, [name]: wrong };
    this.#changes = { ...this.#changes, [name]: value.trim() === "" ? null : value };
    this.#showLabels();
    if (wrong === null) {
      this.#act = {
        marked: this.verdict,
        before: this.#last === undefined ? undefined : { verdict: this.verdict, of: this.#of },
        at: null,
        label: {
          name,
          before: this.#last === undefined ? undefined : (this.#last.labels[name] ?? null),
        },
      };
      this.#of = this.seen();
    }
    this.#changed("labels");
    return true;
  }

  /** Shows the labels of the file with the changes that are not saved yet. */
  #showLabels(): void {
    const labels = changedLabels(this.#last?.labels ?? {}, this.#changes);
    // Typed spaces stay until something else is read.
    const isNew = Object.keys(this.#changes).length > 0;
    if (isNew || !sameLabels(trimmed(labels), trimmed(this.labels))) this.labels = labels;
  }

  /** The note on a step; empty if there is none. */
  noteOn(step: number): string {
    return this.steps.find((one) => one.step === step)?.note ?? "";
  }

  /** Sets the note on a step and saves it. An empty one is removed. */
  noteStep(step: number, note: string): void {
    if (note.trim() === this.noteOn(step).trim()) return;
    const others = this.steps.filter((one) => one.step !== step);
    const all = note.trim() === "" ? others : [...others, { step, note: note.trim() }];
    this.steps = all.sort((one, other) => one.step - other.step);
    this.#changed("steps");
    void this.save();
  }

  /** Saves unsaved changes, for example when the page is left. */
  flush(): void {
    if (this.#revision !== this.#kept) void this.save();
  }

  /** Saves one change after another; changes made meanwhile follow. */
  save(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#sending) {
      this.#again = true;
      return this.#sending;
    }
    this.#sending = this.#all().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  /** Untouched fields take the values of the file, so that saving the others keeps them. */
  #learn(review: Review | null): void {
    this.#last = contentOf(review);
    const act = this.#act;
    if (act !== null && act.before === undefined)
      this.#act = {
        ...act,
        before: { verdict: this.#last.verdict, of: review?.answer },
        marked: act.label === undefined || this.#touched.verdict ? act.marked : this.#last.verdict,
        ...(act.label?.before === undefined && act.label !== undefined
          ? { label: { ...act.label, before: this.#last.labels[act.label.name] ?? null } }
          : {}),
      };
    if (!this.#touched.verdict) this.verdict = this.#last.verdict;
    if (!this.#touched.score)
      this.score = this.#last.score === null ? "" : String(this.#last.score);
    if (!this.#touched.note) this.note = this.#last.note;
    if (!this.#touched.steps) this.steps = this.#last.steps;
    this.#showLabels();
    const { verdict, score, labels } = this.#touched;
    if (!verdict && !score && !labels && review !== null) this.#of = review.answer;
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
      steps: this.steps,
      labels: this.#changes,
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
    // An incomplete number or a wrong label must not keep the other fields from being saved.
    const wrong = this.wrongLabels;
    const isIncomplete = typed === undefined || Object.keys(wrong).length > 0;
    const changes = Object.fromEntries(
      Object.entries(this.#changes).filter(([name]) => wrong[name] === undefined),
    );
    const said = {
      verdict: this.verdict,
      score: typed === undefined ? this.#last?.score : typed,
      note: this.note,
      steps: this.steps,
      labels: trimmed(changedLabels(this.#last?.labels ?? {}, changes)),
    };
    const known =
      isIncomplete &&
      said.score === this.#last?.score &&
      said.verdict === this.#last?.verdict &&
      said.note === this.#last.note &&
      sameSteps(said.steps, this.#last.steps) &&
      sameLabels(said.labels, this.#last.labels);
    if (said.score === undefined || known) {
      this.state = "unsaved";
      return false;
    }
    const last = { ...said, score: said.score };
    const nothing =
      last.verdict === null &&
      last.score === null &&
      last.note.trim() === "" &&
      last.steps.length === 0 &&
      Object.keys(last.labels).length === 0;
    this.state = "saving";
    this.failed = null;
    this.#sent++;
    let change: number | null;
    try {
      const steps = [...last.steps];
      const labels = { ...last.labels };
      const sent = { ...last, steps, labels, at_ms: 0, stale: false, answer: of, author: null };
      change = await this.send(nothing ? null : sent);
    } catch (thrown) {
      const error = asAppError(thrown);
      const refused =
        error.code === "bad_request"
          ? Object.keys(changes).filter((name) => error.message.includes(`\`${name}\``))
          : [];
      if (refused.length > 0) {
        const messages = refused.map((name) => [name, error.message] as const);
        this.wrongLabels = { ...this.wrongLabels, ...Object.fromEntries(messages) };
        return this.#keep();
      }
      this.failed = error;
      this.state = "failed";
      return false;
    }
    this.#last = last;
    this.#changes = Object.fromEntries(
      Object.entries(this.#changes).filter(([name, value]) => changes[name] !== value),
    );
    if (this.#act) {
      const isFirst = this.#act.change === undefined;
      this.#act = { ...this.#act, at: null, change: isFirst ? change : null };
    }
    this.at = Date.now();
    this.stale = !nothing && of !== null && of !== this.seen();
    if (revision === this.#revision) {
      this.#touched = typed === undefined ? { score: true } : {};
      if (Object.keys(this.#changes).length > 0) this.#touched.labels = true;
    }
    if (revision === this.#revision && !isIncomplete) {
      this.#kept = revision;
      reviewDrafts.delete(this.run);
      this.state = nothing ? "nothing" : "saved";
    } else this.state = "unsaved";
    return true;
  }
}
