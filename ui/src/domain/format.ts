// Formats numbers and times for the screen. A missing value is a dash, never 0.
import type { Problem } from "../generated";

const MISSING = "–";
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** Fixed number of decimals. A value rounded to zero has no sign: `0.00`, never `-0.00`. */
export function fixed(value: number, places: number): string {
  const text = value.toFixed(places);
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text;
}

/** Fast path: most values are small, and tables hold thousands. */
export const count = (value: number | null | undefined): string =>
  value == null
    ? MISSING
    : value >= 0 && value < 1_000 && Number.isInteger(value)
      ? `${value}`
      : whole.format(value);

/** `1 run`, `2 runs`. */
export const counted = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

const scaled = (value: number, units: readonly [string, ...string[]], step: number): string => {
  let at = 0;
  let rest = value;
  // 999.5 would round to 1,000 of its unit.
  while (at < units.length - 1 && rest >= step - 0.5) {
    rest /= step;
    at++;
  }
  const digits = at === 0 || rest >= 99.95 ? 0 : 1;
  return `${rest.toFixed(digits)}${units[at] ?? ""}`;
};

/** Tokens: `940`, `12.4k`, `1.2M`. */
export const short = (value: number | null | undefined): string =>
  value == null ? MISSING : scaled(value, ["", "k", "M", "G"], 1_000);

export const bytes = (value: number | null | undefined): string =>
  value == null ? MISSING : scaled(value, [" B", " KB", " MB", " GB", " TB"], 1_024);

/** Dollars, with enough decimals for the size of the amount. */
export function money(value: number | null | undefined): string {
  if (value == null) return MISSING;
  const size = Math.abs(value);
  const places = size === 0 || size >= 0.995 ? 2 : size >= 0.0995 ? 3 : 4;
  return size !== 0 && size < 0.00005 ? "<$0.0001" : `$${fixed(value, places)}`;
}

/** A duration: `41 ms`, `3.1 s`, `2:05`, `1:02:03`. */
export function seconds(value: number | null | undefined): string {
  if (value == null) return MISSING;
  if (value < 0.9995) return `${Math.round(value * 1_000)} ms`;
  if (value < 59.95) return `${fixed(value, 1)} s`;
  const all = Math.round(value);
  const pad = (part: number) => String(part).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(all / 3_600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(rest)}` : `${minutes}:${pad(rest)}`;
}

const DAY_MS = 86_400_000;
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const dayInYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });

/** Local time: `14:05` today, `Yesterday 14:05`, `3 Jan`, `2024-01-03`. */
export function when(ms: number, now = Date.now()): string {
  const then = new Date(ms);
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (ms >= midnight && ms < midnight + DAY_MS) return clock.format(then);
  if (ms >= new Date(midnight - 1).setHours(0, 0, 0, 0) && ms < midnight)
    return `Yesterday ${clock.format(then)}`;
  if (then.getFullYear() === new Date(now).getFullYear())
    return `${dayInYear.format(then)} ${clock.format(then)}`;
  return isoDay(then);
}

const isoDay = (day: Date): string =>
  `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;

/** The exact time, for a tooltip. */
export const moment = (ms: number): string => {
  const then = new Date(ms);
  return `${isoDay(then)} ${then.toTimeString().slice(0, 8)}`;
};

/** A problem as one line: file, position, error and advice. */
export const problemLine = (problem: Problem): string =>
  `${problem.file}${problem.line === null ? "" : `, line ${problem.line}`}: ${problem.message}${problem.advice === null ? "" : ` ${problem.advice}`}`;
