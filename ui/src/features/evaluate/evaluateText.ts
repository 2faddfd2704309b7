// What an evaluation takes, and what it came to, in words. Pure.
import { count, counted, fixed, money, short } from "../../domain/format";
import type { EvaluateAgain } from "../../generated/EvaluateAgain";
import type { EvaluateMetric } from "../../generated/EvaluateMetric";
import type { EvaluatePlan } from "../../generated/EvaluatePlan";
import type { EvaluationView } from "../../generated/EvaluationView";
import { formatEstimate } from "../../domain/judge";

/** What it takes, in a line: requests, tokens and money, or that no model is asked. */
export function formatPlan(plan: EvaluatePlan): string {
  const { tokens_least, tokens_most } = plan;
  if (plan.calls_most > 0)
    return tokens_least === null || tokens_most === null
      ? `${counted(plan.calls_most, "request")} at most`
      : formatEstimate({ ...plan, tokens_least, tokens_most });
  return plan.kept > 0
    ? "Nothing is asked anew, and nothing is paid"
    : "No model is asked, and nothing is paid";
}
export const describeReused = (kept: number): string =>
  kept === 0
    ? ""
    : `${counted(kept, "reply is", "replies are")} there from before and not paid for again`;

/** What can become of replies that are there; what could not be read is named where there is any. */
export function reuseChoices(unread: number, chosen: EvaluateAgain): [EvaluateAgain, string][] {
  const all: [EvaluateAgain, string][] = [
    ["nothing", "are used as they are"],
    [
      "unread",
      `are used, and ${counted(unread, "round")} in which nothing could be read ${unread === 1 ? "is" : "are"} asked once more`,
    ],
    ["all", "are put aside: everything is asked and paid for anew"],
  ];
  return all.filter(([one]) => one !== "unread" || unread > 0 || chosen === "unread");
}

/** What can be done about what has no result, once it is over. */
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
          `${counted(missing, "result")} ${missing === 1 ? "is" : "are"} missing because nobody answered. Evaluate again and replace the file: they are asked about, and nothing else.`,
        ];
  return unread === 0
    ? some
    : [
        ...some,
        "What could not be read is asked once more, and nothing else, when the sheet says so of replies from before.",
      ];
}

/** Whether rows are messages or threads of them, of which evaluators take nothing as they are. */
export const areThreads = (columns: readonly string[]): boolean =>
  !columns.includes("conversation") &&
  !columns.includes("response") &&
  (columns.includes("messages") || (columns.includes("role") && columns.includes("content")));

/** A number of results: as many places as tell it from others, and never a nought for what is none. */
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
export const formatInterval = (ends: EvaluateMetric["interval"]): string =>
  ends === null ? "–" : `${formatFigure(ends[0])} to ${formatFigure(ends[1])}`;

/** Numbers by what they are of: the part of the name before its last point. */
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

/** What was paid, or that nobody knows. */
export function formatPaid(
  view: Pick<EvaluationView, "calls" | "tokens" | "cost" | "unpriced" | "max_cost">,
): string {
  if (view.calls === 0) return "no request was paid for";
  const cost =
    view.unpriced && view.cost === 0
      ? "cost unknown"
      : `${money(view.cost)}${view.max_cost === null ? "" : ` of ${money(view.max_cost)}`}${view.unpriced ? ", some without a known cost" : ""}`;
  return `${counted(view.calls, "reply", "replies")} · ${short(view.tokens)} tokens · ${cost}`;
}

export { endedCount } from "../../domain/launches";
/** The file without its folders. */
export const fileName = (path: string): string =>
  path.split(/[\\/]/).findLast((part) => part !== "") ?? path;
