// Pure. Texts for the plan and the results of an evaluation.
import { count, counted, fixed, money, short } from "../../domain/format";
import type { EvaluateAgain, EvaluateMetric, EvaluatePlan, EvaluationView } from "../../generated";
import { formatEstimate } from "../../domain/judge";
import { writtenScore } from "../../domain/scores";

/** The estimate in one line: requests, tokens and cost, or that no model is called. */
export function formatPlan(plan: EvaluatePlan): string {
  const { tokens_least, tokens_most } = plan;
  if (plan.calls_most > 0)
    return tokens_least === null || tokens_most === null
      ? `${counted(plan.calls_most, "request")} at most`
      : formatEstimate({ ...plan, tokens_least, tokens_most });
  return plan.kept > 0 ? "No API calls: all replies are reused" : "No API calls";
}
export const describeReused = (kept: number): string =>
  kept === 0 ? "" : `${counted(kept, "existing reply", "existing replies")} reused`;

/** Choices for existing replies; unreadable ones are counted if there are any. */
export function reuseChoices(unread: number, chosen: EvaluateAgain): [EvaluateAgain, string][] {
  const all: [EvaluateAgain, string][] = [
    ["nothing", "reuse all"],
    ["unread", `reuse, but repeat ${counted(unread, "unreadable round")}`],
    ["all", "discard and request everything again"],
  ];
  return all.filter(([one]) => one !== "unread" || unread > 0 || chosen === "unread");
}

/** Advice for missing results of a finished evaluation. */
export function describeFixes({
  missing,
  unread,
  file,
}: Pick<EvaluationView, "missing" | "unread" | "file">): string[] {
  if (file === null) return [];
  const some =
    missing === 0
      ? []
      : [
          `${counted(missing, "result")} ${missing === 1 ? "is" : "are"} missing because of failed requests. ` +
            `Evaluate again and replace the file to request only these.`,
        ];
  return unread === 0
    ? some
    : [...some, "To repeat only the unreadable replies, choose so under Existing replies."];
}

/** True if rows are messages or threads, which evaluators cannot use directly. */
export const areThreads = (columns: readonly string[]): boolean =>
  !columns.includes("conversation") &&
  !columns.includes("response") &&
  (columns.includes("messages") || (columns.includes("role") && columns.includes("content")));

/** A result figure with sensible decimals; 0 only for an exact 0. */
export function formatFigure(value: number | null): string {
  if (value === null) return "–";
  if (Number.isInteger(value)) return count(value);
  const size = Math.abs(value);
  return size >= 1_000
    ? count(value)
    : size < 0.0001
      ? value.toExponential(1)
      : fixed(value, size >= 100 ? 1 : size >= 10 ? 2 : 4);
}
/** A score of a row as in the file, numbers with at most three decimals. */
export function formatScore(score: string | null): string {
  return score === null ? "–" : writtenScore(score);
}
/** A metric in words: the mean of its evaluator, or the share of rows that pass. */
export const metricWord = (evaluator: string, metric: string): string =>
  metric === "binary_aggregate" ? "pass rate" : metric === evaluator ? "mean" : metric;
export const formatInterval = (ends: EvaluateMetric["interval"]): string =>
  ends === null ? "–" : `${formatFigure(ends[0])} to ${formatFigure(ends[1])}`;

/** Groups figures by the part of the name before the last dot. */
export function groupByEvaluator(
  metrics: readonly EvaluateMetric[],
): { evaluator: string; metrics: (EvaluateMetric & { short: string })[] }[] {
  const groups = new Map<string, (EvaluateMetric & { short: string })[]>();
  for (const metric of metrics) {
    const at = metric.name.lastIndexOf(".");
    const evaluator = at < 0 ? "" : metric.name.slice(0, at);
    groups.set(evaluator, [
      ...(groups.get(evaluator) ?? []),
      { ...metric, short: metric.name.slice(at + 1) },
    ]);
  }
  return [...groups].map(([evaluator, all]) => ({ evaluator, metrics: all }));
}

/** Cost so far, or that it is unknown. */
export function formatPaid(
  view: Pick<EvaluationView, "calls" | "tokens" | "cost" | "unpriced" | "max_cost">,
): string {
  if (view.calls === 0) return "no API calls";
  const cost =
    view.unpriced && view.cost === 0
      ? "cost unknown"
      : `${money(view.cost)}${view.max_cost === null ? "" : ` of ${money(view.max_cost)}`}${view.unpriced ? ", some without a known cost" : ""}`;
  return `${counted(view.calls, "reply", "replies")} · ${short(view.tokens)} tokens · ${cost}`;
}

export { endedCount } from "../../domain/launches";
/** The file name without folders. */
export const fileName = (path: string): string =>
  path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
