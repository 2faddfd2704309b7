// Pure. Widens the plots of the engine to the room that they have: positions move apart, texts and
// marks keep their size, and names are whole where they then fit.
import type { Scatter, ScatterLabel, ScatterPoint, TrendLine, TrendPlot } from "../generated";
import { shortNames } from "./shortNames";

/** Width of a letter, as the engine takes it. */
const CHAR = 6.7;
/** From the edge of the plot to the names of its lines. */
export const NAME_AT = 25;
const MOST_WIDER = 2.5;
const MOST_TALLER = 1.3;
/** The greatest share of the room for names of lines. */
const NAMES = 0.35;

const mean = (low: number, high: number, share: number) => low + (high - low) * share;
const within = (value: number, least: number, most: number) =>
  Math.max(least, Math.min(value, most));
/** Moves positions on an axis apart. */
const apart = (from: number, times: number) => (at: number) => mean(from, at, times);

/** The plot of trends as wide as its room; whole names of its lines where they fit beside it. */
export function widenTrend(
  plot: TrendPlot,
  nameOf: (line: TrendLine) => string,
  room: number,
): TrendPlot {
  if (room <= plot.width) return plot;
  const names = plot.lines.map(nameOf);
  const longest = Math.max(0, ...names.map((name) => name.length * CHAR));
  const least = plot.width - plot.right - NAME_AT;
  const aside = NAME_AT + Math.max(least, Math.min(longest, room * NAMES));
  const times = within((room - aside - plot.left) / (plot.right - plot.left), 1, MOST_WIDER);
  const x = apart(plot.left, times);
  const short = shortNames(names, Math.floor((aside - NAME_AT) / CHAR));
  return {
    ...plot,
    width: x(plot.right) + aside,
    right: x(plot.right),
    x_ticks: plot.x_ticks.map((tick) => ({ ...tick, at: x(tick.at) })),
    lines: plot.lines.map((line) => ({
      ...line,
      label: short.get(nameOf(line)) ?? line.label,
      dots: line.dots.map((dot) => ({ ...dot, x: x(dot.x) })),
    })),
  };
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}
const MARK = 6;
const markBox = ({ x, y }: ScatterPoint): Box => ({
  left: x - MARK,
  right: x + MARK,
  top: y - MARK,
  bottom: y + MARK,
});
const boxOf = ({ text, x, y }: ScatterLabel): Box => ({
  left: x,
  right: x + text.length * CHAR,
  top: y - 11,
  bottom: y + 3,
});
const meet = (one: Box, other: Box) =>
  one.left < other.right &&
  other.left < one.right &&
  one.top < other.bottom &&
  other.top < one.bottom;

/** The plot of a measure against the score as wide as its room, without labels. */
export function widenScatter(made: Scatter, room: number): Scatter {
  const edge = made.width - made.right;
  const times = within((room - made.left - edge) / (made.right - made.left), 1, MOST_WIDER);
  const x = apart(made.left, times);
  const y = apart(made.top, Math.min(times, MOST_TALLER));
  const range = (
    of: [number, number] | null,
    to: (at: number) => number,
  ): [number, number] | null => (of === null ? null : [to(of[0]), to(of[1])]);
  return {
    ...made,
    width: x(made.right) + edge,
    height: y(made.bottom) + made.height - made.bottom,
    right: x(made.right),
    bottom: y(made.bottom),
    x_ticks: made.x_ticks.map((tick) => ({ ...tick, at: x(tick.at) })),
    y_ticks: made.y_ticks.map((tick) => ({ ...tick, at: y(tick.at) })),
    points: made.points.map((point) => ({
      ...point,
      x: x(point.x),
      y: y(point.y),
      x_range: range(point.x_range, x),
      y_range: range(point.y_range, y),
      label: null,
    })),
  };
}

/** Room for a label above the greatest score. */
const ABOVE = 22;
/** Places beside a point, the best first. */
function placesOf({ x, y }: ScatterPoint, text: string): ScatterLabel[] {
  const long = text.length * CHAR;
  const [right, left, middle] = [x + MARK + 3, x - MARK - 3 - long, x - long / 2];
  const at = (left: number, top: number): ScatterLabel => ({ text, x: left, y: top, line: null });
  return [
    at(right, y + 4),
    at(left, y + 4),
    at(right, y - 8),
    at(right, y + 16),
    at(left, y - 8),
    at(left, y + 16),
    at(middle, y - 10),
    at(middle, y + 18),
  ];
}

/** The plot with each text beside its point; a point has none if there is no room beside it. */
function labelled(plot: Scatter, texts: ReadonlyMap<number, string>): Scatter {
  const taken = plot.points.map(markBox);
  const isFree = (label: ScatterLabel) => {
    const box = boxOf(label);
    const inside =
      box.left >= plot.left &&
      box.right <= plot.width &&
      box.top >= plot.top - ABOVE &&
      box.bottom <= plot.bottom;
    return inside && !taken.some((other) => meet(box, other));
  };
  const points = plot.points.map((point) => {
    const text = texts.get(point.row);
    const label = text === undefined ? undefined : placesOf(point, text).find(isFree);
    if (label) taken.push(boxOf(label));
    return { ...point, label: label ?? null };
  });
  return { ...plot, points };
}

/** The least length of shortened names. */
const SHORT = 18;
/**
 * Labels plots of the same rows in the same way: by names if each has room beside its point in all
 * plots, else by numbers, which need a key.
 */
export function labelScatters(
  plots: readonly Scatter[],
  nameOf: (row: number) => string,
  numberOf: (row: number) => number,
): Scatter[] {
  const rows = [...new Set(plots.flatMap(({ points }) => points.map(({ row }) => row)))];
  const short = shortNames(rows.map(nameOf), SHORT);
  for (const text of [nameOf, (row: number) => short.get(nameOf(row)) ?? nameOf(row)]) {
    const texts = new Map(rows.map((row) => [row, text(row)]));
    const named = plots.map((plot) => ({ ...labelled(plot, texts), numbered: false }));
    if (named.every(({ points }) => points.every(({ label }) => label !== null))) return named;
  }
  const numbers = new Map(rows.map((row) => [row, String(numberOf(row))]));
  return plots.map((plot) => ({ ...labelled(plot, numbers), numbered: true }));
}
