// Pure. Cost, time and tokens of a run in words.
import { count, money, seconds, short } from "../../domain/format";
import type { RunRow } from "../../generated";

type Figures = Pick<RunRow, "cost" | "seconds" | "tokens">;
const joined = (parts: readonly string[]): string => parts.filter(Boolean).join(" · ");

/** Without what would tell the model of a blind review. */
export const withoutFigures = <T extends Pick<Figures, "seconds" | "tokens">>(one: T): T => ({
  ...one,
  seconds: null,
  tokens: null,
});

/** `$0.012 · 14.0 s · 3.2k tokens`, of what is known. */
export const briefFigures = (row: Figures): string =>
  joined([
    row.cost === null ? "" : money(row.cost),
    row.seconds === null ? "" : seconds(row.seconds),
    row.tokens === null ? "" : `${short(row.tokens)} tokens`,
  ]);

/** `$0.012 cost · 14.0 s active time · 3,214 tokens`, of what is known. */
export const wholeFigures = (row: Figures): string =>
  joined([
    row.cost === null ? "" : `${money(row.cost)} cost`,
    row.seconds === null ? "" : `${seconds(row.seconds)} active time`,
    row.tokens === null ? "" : `${count(row.tokens)} tokens`,
  ]);
