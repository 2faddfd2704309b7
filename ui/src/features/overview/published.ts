// Pure. Local figures beside published ones: visible rows and number formats.
import { fixed } from "../../domain/format";
import type {
  OwnFigure,
  Published,
  PublishedFigure,
  PublishedRow,
  QueryMean,
  QueryShare,
} from "../../generated";

export const METRICS = ["SoPR", "SoWR", "FAC"] as const;
export type Metric = (typeof METRICS)[number];

const ABOUT: Record<Metric, string> = {
  SoPR: "Share of solved queries according to a judge: 1, ½ or 0 each, averaged over rounds.",
  SoWR: "Share of queries won against another system. Ties do not count as won.",
  FAC: "Share of complete final answers according to a fine-tuned judge.",
};
export const aboutMetric = (metric: Metric): string => ABOUT[metric];

const NONE = "–";
const one = (value: number) => fixed(value, 1);

/** `28.0 ± 1.9`: as printed, with the deviation over rounds. */
export const printed = (figure: PublishedFigure | undefined): string =>
  figure === undefined
    ? NONE
    : figure.deviation === null
      ? one(figure.value)
      : `${one(figure.value)} ± ${one(figure.deviation)}`;

/** `41.2 (33.0–49.9)`: with its interval, if there is one. */
export const own = (figure: OwnFigure | null): string =>
  figure === null
    ? NONE
    : figure.low === null || figure.high === null
      ? one(figure.value)
      : `${one(figure.value)} (${one(figure.low)}–${one(figure.high)})`;

/** `12 of 163`: evaluations with a score. */
export const counted = (figure: OwnFigure | null): string =>
  figure === null ? "" : figure.n === figure.of ? `n ${figure.n}` : `n ${figure.n} of ${figure.of}`;

/** `3 of 4, 75.0 % (30.1–95.4)` */
export const share = (of: QueryShare | null): string =>
  of === null
    ? NONE
    : `${of.count} of ${of.of}, ${one(of.percentage)} % (${one(of.low)}–${one(of.high)})`;

/** `0.75 (0.50–1.00)` */
export const mean = (of: QueryMean | null): string =>
  of === null
    ? NONE
    : of.low === null || of.high === null
      ? fixed(of.value, 2)
      : `${fixed(of.value, 2)} (${fixed(of.low, 2)}–${fixed(of.high, 2)})`;

const judgeOf = (row: PublishedRow) => row.judge ?? "unknown";

/** Judges of the rows of a metric, in order. */
export const judges = (rows: readonly PublishedRow[], metric: Metric): string[] => [
  ...new Set(rows.filter((row) => row.metric === metric).map(judgeOf)),
];

/** Rows of a metric and, optionally, of one judge. Rows hidden in the publication are optional. */
export const shown = (
  rows: readonly PublishedRow[],
  metric: Metric,
  judge: string,
  older: boolean,
): PublishedRow[] =>
  rows.filter(
    (row) =>
      row.metric === metric &&
      (judge === "" || judgeOf(row) === judge) &&
      (older || row.standing === "current"),
  );

/** Marks a row that is not current. */
export const standing = (row: PublishedRow): string =>
  row.standing === "current"
    ? ""
    : row.standing === "hidden"
      ? "hidden in the source (older judge)"
      : "earlier results";

/** The default metric: one that local runs have. */
export const firstMetric = (told: Published | undefined): Metric =>
  METRICS.find((metric) => told?.own.some((row) => row.metric === metric)) ?? "SoPR";
