// The state of the copy of a bucket, in words (pure).
import { count } from "./format";
import type { BucketView } from "../generated";

export interface BucketState {
  tone: "native" | "polling" | "lost";
  shape: string;
  text: string;
  /** Why it does not go on, with the next step, and notes about the connection. */
  more: string | null;
  /** Share that is copied, while it is being copied. */
  progress: { value: number; max: number } | null;
}

/** A time that passed: `4 s`, `2 min`, `3 h`. */
export function passed(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}

export function bucketState(bucket: BucketView, now: number): BucketState {
  const copying = bucket.listing || bucket.copied < bucket.total;
  const total = `${count(bucket.total)}${bucket.listing ? " or more" : ""}`;
  const checked =
    bucket.checked_ms === null ? null : `checked ${passed(now - bucket.checked_ms)} ago`;
  const notes = [bucket.problem, bucket.problem === null ? null : bucket.hint, bucket.notice];
  const more = notes.filter((note) => note !== null).join(" ");
  const state = (tone: BucketState["tone"], shape: string, text: string): BucketState => ({
    tone,
    shape,
    text,
    more: more === "" ? null : more,
    progress: copying && !bucket.elsewhere ? { value: bucket.copied, max: bucket.total } : null,
  });
  if (bucket.problem !== null) return state("lost", "✕", checked ?? "not checked yet");
  if (bucket.elsewhere) return state("polling", "◐", "kept by another Touchstone");
  if (copying) return state("polling", "◐", `copying ${count(bucket.copied)} of ${total} objects`);
  return state("native", "●", checked ?? "not checked yet");
}
