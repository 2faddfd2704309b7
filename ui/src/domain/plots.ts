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

const movedBy = (label: ScatterLabel, right: number, down: number): ScatterLabel => ({
  ...label,
  x: label.x + right,
  y: label.y + down,
  line: label.line === null ? null : [label.line[0] + right, label.line[1] + down],
});
/** The label with the whole name, towards the side on which it stands. */
function wholeLabel(label: ScatterLabel, point: ScatterPoint, name: string): ScatterLabel {
  const more = (name.length - label.text.length) * CHAR;
  return { ...label, text: name, x: label.x < point.x ? label.x - more : label.x };
}

/** True if a label meets no edge, and no name or mark of other points. */
function isFree(label: ScatterLabel, others: readonly ScatterPoint[], plot: Scatter): boolean {
  const box = boxOf(label);
  return (
    box.left >= plot.left &&
    box.right <= plot.width &&
    !others.some(
      ({ x, y, label: one }) =>
        (one !== null && meet(box, boxOf(one))) ||
        meet(box, { left: x - MARK, right: x + MARK, top: y - MARK, bottom: y + MARK }),
    )
  );
}

/** The plot of a measure against the score as wide as its room, with whole names that fit. */
export function widenScatter(
  made: Scatter,
  nameOf: (row: number) => string,
  room: number,
): Scatter {
  const edge = made.width - made.right;
  const times = within((room - made.left - edge) / (made.right - made.left), 1, MOST_WIDER);
  const x = apart(made.left, times);
  const y = apart(made.top, Math.min(times, MOST_TALLER));
  const range = (
    of: [number, number] | null,
    to: (at: number) => number,
  ): [number, number] | null => (of === null ? null : [to(of[0]), to(of[1])]);
  // Labels that did not meet do not meet either where a place inside of each moves like a point.
  const stretched = (label: ScatterLabel, point: ScatterPoint) => {
    const { left, right, top, bottom } = boxOf(label);
    const [across, down] = [within(point.x, left, right), within(point.y, top, bottom)];
    return movedBy(label, x(across) - across, y(down) - down);
  };
  const plot: Scatter = {
    ...made,
    width: x(made.right) + edge,
    height: y(made.bottom) + made.height - made.bottom,
    right: x(made.right),
    bottom: y(made.bottom),
    x_ticks: made.x_ticks.map((tick) => ({ ...tick, at: x(tick.at) })),
    y_ticks: made.y_ticks.map((tick) => ({ ...tick, at: y(tick.at) })),
  };
  const points = made.points.map((point) => ({
    ...point,
    x: x(point.x),
    y: y(point.y),
    x_range: range(point.x_range, x),
    y_range: range(point.y_range, y),
    label: point.label && stretched(point.label, point),
  }));
  made.points.forEach(({ label, x: from, y: above, row }, at) => {
    const point = points[at];
    if (label === null || point === undefined) return;
    const beside = movedBy(label, point.x - from, point.y - above);
    const wanted = made.numbered ? [beside] : [wholeLabel(beside, point, nameOf(row)), beside];
    const others = points.filter((other) => other !== point);
    const free = wanted.find((one) => isFree(one, others, plot));
    if (free !== undefined) points[at] = { ...point, label: free };
  });
  return { ...plot, points };
}
