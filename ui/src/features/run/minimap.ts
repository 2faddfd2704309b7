// Pure. The minimap of a transcript: where each mark of the outline is drawn, and what it stands for.
import { count, counted, seconds } from "../../domain/format";
import { visibleLine } from "../../components/visible/visible";
import type { OutlineMark, RunOutline, StepKind } from "../../generated";

/** What the height of a mark stands for. */
export type Measure = "tokens" | "time" | "steps";

/** Look of a mark. */
export type Tone = "user" | "assistant" | "tool" | "other" | "failed";

/** A mark with its place, in pixels from the top. */
export interface PlacedMark {
  mark: OutlineMark;
  tone: Tone;
  top: number;
  height: number;
}

/** Marks are at least this high, if there is room. */
const LEAST_HEIGHT = 6;

/**
 * What is known about a run, the most telling first. Time comes last: a single wait says little
 * about where something stands.
 */
export function measures(marks: readonly OutlineMark[]): Measure[] {
  return [
    ...(marks.some((mark) => (mark.tokens ?? 0) > 0) ? (["tokens"] as const) : []),
    "steps",
    ...(marks.some((mark) => (mark.seconds ?? 0) > 0) ? (["time"] as const) : []),
  ];
}

const TONES: Partial<Record<StepKind, Tone>> = {
  user: "user",
  assistant: "assistant",
  tool_call: "tool",
  program: "tool",
  artifact: "tool",
  error: "failed",
};

/** Roots, so that one long step leaves room for the others. */
const weight = (mark: OutlineMark, by: Measure): number =>
  by === "steps" ? mark.steps : Math.sqrt((by === "tokens" ? mark.tokens : mark.seconds) ?? 0);

/** Places all marks in a strip: every mark gets a little, and the rest by its weight. */
export function placed(marks: readonly OutlineMark[], by: Measure, height: number): PlacedMark[] {
  const least = Math.min(LEAST_HEIGHT, height / marks.length / 2);
  const total = marks.reduce((sum, mark) => sum + weight(mark, by), 0);
  const free = height - least * marks.length;
  let top = 0;
  return marks.map((mark) => {
    const share = total > 0 ? weight(mark, by) / total : 1 / marks.length;
    const one = {
      mark,
      tone: mark.failures > 0 ? ("failed" as const) : (TONES[mark.kind] ?? ("other" as const)),
      top,
      height: least + free * share,
    };
    top += one.height;
    return one;
  });
}

/** Position in `all` of the last mark whose `key` is at most `value`; 0 if there is none. */
function lastAtMost(
  all: readonly PlacedMark[],
  value: number,
  key: (one: PlacedMark) => number,
): number {
  let [low, high] = [0, all.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const one = all[middle];
    if (one !== undefined && key(one) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Position of the mark that contains a step. */
export const markOf = (all: readonly PlacedMark[], step: number): number =>
  lastAtMost(all, step, ({ mark }) => mark.step);

/** Distance of a step from the top. */
export function topOf(all: readonly PlacedMark[], step: number): number {
  const one = all[markOf(all, step)];
  if (one === undefined) return 0;
  const within = Math.max(0, Math.min(1, (step - one.mark.step) / one.mark.steps));
  return one.top + within * one.height;
}

/** Position of the mark at a distance from the top. */
export const markAt = (all: readonly PlacedMark[], y: number): number =>
  lastAtMost(all, y, ({ top }) => top);

/** The step at a distance from the top. A mark that holds a failure leads to that failure. */
export function stepAt(all: readonly PlacedMark[], y: number, failures: readonly number[]): number {
  const one = all[markAt(all, y)];
  if (one === undefined) return 0;
  const { step, steps } = one.mark;
  if (one.mark.failures > 0) {
    const failed = failures.find((at) => at >= step);
    if (failed !== undefined && failed < step + steps) return failed;
  }
  const within = Math.max(0, Math.min(steps - 1, Math.floor(((y - one.top) / one.height) * steps)));
  return step + within;
}

const KINDS: Record<StepKind, string> = {
  user: "user",
  assistant: "assistant",
  system: "system prompt",
  tool_call: "tool call",
  program: "program",
  artifact: "artifact",
  error: "error",
  sub_agent: "sub-agent",
  abandoned: "abandoned branch",
  compaction: "compaction",
  note: "note",
  unknown: "unknown item",
};

/** A mark in a line: its steps, what they are, and what is known of tokens and time. */
export function describeMark(mark: OutlineMark): string {
  const { step, steps, kind, title, failures, tokens } = mark;
  const what = title === null ? KINDS[kind] : visibleLine(title);
  const failed =
    failures === 0 ? "" : steps === 1 ? "failed" : `${counted(failures, "failure")}: ${what}`;
  return [
    steps === 1 ? `Step ${count(step + 1)}` : `Steps ${count(step + 1)}–${count(step + steps)}`,
    steps === 1 ? what : "",
    failed,
    tokens === null ? "" : `${count(tokens)} tokens`,
    mark.seconds === null ? "" : seconds(mark.seconds),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

/** The marks of one look as the path of an SVG; failed ones are wider, nested ones narrower. */
export function pathOf(all: readonly PlacedMark[], tone: Tone, width: number): string {
  return all
    .filter((one) => one.tone === tone)
    .map(({ mark, top, height }) => {
      const left = tone === "failed" ? 0 : mark.nested ? width * 0.6 : width * 0.3;
      // A hairline between marks, where there is room.
      const high = height > 2.5 ? height - 1 : height;
      return `M${left} ${top.toFixed(2)}H${width}v${high.toFixed(2)}H${left}Z`;
    })
    .join("");
}

/** True if a minimap helps: shorter runs are seen whole. */
export const isWorthwhile = (outline: RunOutline | null): outline is RunOutline =>
  outline !== null && outline.total_steps >= 6;
