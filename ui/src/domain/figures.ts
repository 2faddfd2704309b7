// Pure. Means and rates with their intervals in words, and the marks of plots.
import { count, counted, fixed, money, seconds, short } from "./format";
import { scoreText } from "./scores";
import type { Figure } from "../generated";

export type FigureColumn = "score" | "passes" | "cost" | "seconds" | "tokens";
const percent = (value: number) => `${fixed(100 * value, 0)} %`;
const FORMATS: Record<FigureColumn, (value: number) => string> = {
  score: scoreText,
  passes: percent,
  cost: money,
  seconds,
  tokens: short,
};

interface FigureText {
  value: string;
  /** The interval; empty if there is none. */
  range: string;
  /** Full description. */
  about: string;
}
const NONE: FigureText = { value: "–", range: "", about: "Unknown" };

/** Value, interval and description of a figure; a dash if it is unknown. */
export function figureText(figure: Figure | null, column: FigureColumn): FigureText {
  if (figure === null) return NONE;
  const format = FORMATS[column];
  const { value, low, high, known, unknown } = figure;
  const range =
    low === null || high === null
      ? ""
      : column === "passes"
        ? `${fixed(100 * low, 0)}–${percent(high)}`
        : `${format(low)}–${format(high)}`;
  const interval =
    range === ""
      ? "no interval: a single run, or no task differs from the others"
      : `95 % interval ${range}`;
  const missing = unknown === 0 ? "" : `, unknown for ${count(unknown)}`;
  return {
    value: format(value),
    range,
    about: `${format(value)} over ${counted(known, "run")}${missing}; ${interval}`,
  };
}

/** Path of a mark of a plot, by its shape. */
export function markPath(shape: number, x: number, y: number): string {
  if (shape === 0) return `M${x - 4.5} ${y}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0Z`;
  if (shape === 1) return `M${x - 4} ${y - 4}h8v8h-8Z`;
  if (shape === 2) return `M${x} ${y - 5}l5 9h-10Z`;
  return `M${x} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z`;
}
/** Path of the arrow at the left end of an interval that goes on beyond the axis. */
export const cutPath = (x: number, y: number): string =>
  `M${x + 4} ${y - 3.5}L${x} ${y}L${x + 4} ${y + 3.5}`;
export const MARK_NAMES = ["circle", "square", "triangle", "diamond"] as const;
