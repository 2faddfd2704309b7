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

/** The label with the whole name, towards the side on which it stands. */
function wholeLabel(label: ScatterLabel, point: ScatterPoint, name: string): ScatterLabel {
  const more = (name.length - label.text.length) * CHAR;
  return { ...label, text: name, x: label.x < point.x ? label.x - more : label.x };
}

/** Puts whole names where they meet no other name, no mark and no edge. */
function withWholeNames(plot: Scatter, nameOf: (row: number) => string): Scatter {
  const points = [...plot.points];
  points.forEach((point, at) => {
    if (point.label === null || plot.numbered) return;
    const label = wholeLabel(point.label, point, nameOf(point.row));
    const box = boxOf(label);
    const others = points.filter((other) => other !== points[at]);
    const isFree =
      box.left >= plot.left &&
      box.right <= plot.width &&
      !others.some(
        ({ x, y, label: one }) =>
          (one !== null && meet(box, boxOf(one))) ||
          meet(box, { left: x - MARK, right: x + MARK, top: y - MARK, bottom: y + MARK }),
      );
    if (isFree) points[at] = { ...point, label };
  });
  return { ...plot, points };
}

/** The plot of a measure against the score as wide as its room, with whole names that fit. */
export function widenScatter(
  plot: Scatter,
  nameOf: (row: number) => string,
  room: number,
): Scatter {
  const edge = plot.width - plot.right;
  const times = within((room - plot.left - edge) / (plot.right - plot.left), 1, MOST_WIDER);
  const x = apart(plot.left, times);
  const y = apart(plot.top, Math.min(times, MOST_TALLER));
  const range = (
    of: [number, number] | null,
    to: (at: number) => number,
  ): [number, number] | null => (of === null ? null : [to(of[0]), to(of[1])]);
  const moved = (label: ScatterLabel, right: number, down: number): ScatterLabel => ({
    ...label,
    x: label.x + right,
    y: label.y + down,
    line: label.line === null ? null : [label.line[0] + right, label.line[1] + down],
  });
  return withWholeNames(
    {
      ...plot,
      width: x(plot.right) + edge,
      height: y(plot.bottom) + plot.height - plot.bottom,
      right: x(plot.right),
      bottom: y(plot.bottom),
      x_ticks: plot.x_ticks.map((tick) => ({ ...tick, at: x(tick.at) })),
      y_ticks: plot.y_ticks.map((tick) => ({ ...tick, at: y(tick.at) })),
      points: plot.points.map((point) => ({
        ...point,
        x: x(point.x),
        y: y(point.y),
        x_range: range(point.x_range, x),
        y_range: range(point.y_range, y),
        label: point.label && moved(point.label, x(point.x) - point.x, y(point.y) - point.y),
      })),
    },
    nameOf,
  );
}
