// Pure. Texts about judging: selection, estimate and results.
import { count, counted, fixed, money, short } from "./format";
import type { JudgeChoice, Judged, JudgePlan, JudgeRequest, JudgingView } from "../generated";
import { scoreText } from "./scores";

/** The runs to judge: these, or all that match a filter. */
export interface JudgeTarget {
  runs: string[];
  filter: string;
  /** Description such as `this run` or `3 runs`. */
  what: string;
}

/** Preselected choices of the dialog. */
export interface JudgeDefaults {
  judge?: string;
  model?: string;
  official?: boolean;
}

/** The judge of a scorer: `judge:sopr 2` is the second scorer with that judge. */
export const judgeName = (scorer: string): string =>
  scorer.replace(/^judge:/, "").split(" ", 1)[0] ?? "";

export interface JudgeChoices {
  judge: string;
  model: string;
  rounds: number | null;
  official: boolean;
  again: boolean;
  max_cost: number | null;
  /** Filter of the runs to compare with; empty for judges of single runs. */
  reference: string;
}

export const judgeRequest = (
  { runs, filter }: JudgeTarget,
  choices: JudgeChoices,
): JudgeRequest => ({
  ...choices,
  runs,
  filter,
});

/** A range; one value if both ends read the same. */
const formatRange = (least: number, most: number, show: (value: number) => string): string =>
  show(least) === show(most) ? show(most) : `${show(least)} to ${show(most)}`;

/** The estimate in one line, with a note if the cost is unknown. */
export function formatEstimate(
  plan: Pick<
    JudgePlan,
    "calls_least" | "calls_most" | "tokens_least" | "tokens_most" | "cost_least" | "cost_most"
  >,
): string {
  const costs =
    plan.cost_least === null || plan.cost_most === null
      ? "cost unknown: the model has no price"
      : `about ${formatRange(plan.cost_least, plan.cost_most, money)}`;
  const calls = formatRange(plan.calls_least, plan.calls_most, count);
  return `${calls} ${plan.calls_most === 1 ? "request" : "requests"} · about ${formatRange(plan.tokens_least, plan.tokens_most, short)} tokens · ${costs}`;
}

/** A 95 % interval; empty if there is none. */
const formatInterval = (
  interval: [number, number] | null,
  times: number,
  places: number,
  unit = "",
): string =>
  interval === null
    ? ""
    : ` [${fixed(times * interval[0], places)} to ${fixed(times * interval[1], places)}${unit}]`;

/** The selected runs in one line. */
export function describeSelection(plan: JudgePlan): string {
  const parts = [
    counted(plan.runs, "run"),
    plan.unasked > 0 ? `${count(plan.unasked)} without an answer, judged without a request` : "",
    plan.complete > 0 ? `${count(plan.complete)} already judged` : "",
    plan.skipped_total > 0 ? `${count(plan.skipped_total)} cannot be judged` : "",
    plan.forks_left_out > 0
      ? `${counted(plan.forks_left_out, "fork or continued run", "forks or continued runs")} left out`
      : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Number of finished runs: done, failed or skipped. */
export const endedCount = (view: JudgingView): number => view.done + view.failed + view.skipped;

export function describeRates(view: JudgingView): string {
  const { rates } = view;
  if (rates === null) return "";
  const answered = rates.runs - rates.without_answer;
  const both =
    rates.mean_of_answered === null || rates.without_answer === 0
      ? ""
      : `; ${scoreText(rates.mean_of_answered)} of the ${count(answered)} with an answer`;
  const share = (part: number) => `${fixed(100 * part, 1)} %`;
  if (rates.pairs !== null)
    return `${share(rates.pairs.win)} won, ${share(rates.pairs.lose)} lost, ${share(rates.pairs.tie)} tied, of ${counted(rates.runs, "pair")}`;
  const own =
    rates.own === null ? "" : `mean ${rates.own.told}${formatInterval(rates.own.interval, 1, 1)}; `;
  const passed =
    rates.passed === null || rates.passed.runs === 0
      ? ""
      : `; ${count(rates.passed.passed)} of ${count(rates.passed.runs)} pass${formatInterval(rates.passed.interval, 100, 0, " %")}`;
  return `${own}${own === "" ? "mean" : "as a score"} ${scoreText(rates.mean)} ± ${fixed(rates.spread, 2)} of ${counted(rates.runs, "run")}${both}${passed}`;
}

/** One judgement in a line: the result of each round. */
export const formatRounds = (judged: Judged): string =>
  judged.rounds.map((round) => round.told).join(", ");

/** The pass threshold and its source; empty if the majority of rounds decides. */
export const formatThreshold = (judged: Pick<Judged, "threshold" | "of_suite">): string =>
  judged.threshold === null
    ? ""
    : `${judged.threshold}${judged.of_suite ? ", set by the suite" : ""}`;

/** Scale, threshold and requirements of a judge in one line. */
export function describeJudge(judge: JudgeChoice): string {
  const threshold =
    judge.suite_threshold === null
      ? judge.threshold === null
        ? ""
        : `passes ${judge.threshold}`
      : `passes ${judge.suite_threshold}, set by the suites`;
  const parts = [
    `scale: ${judge.scale}`,
    threshold,
    judge.needs === "" ? "" : `needs ${judge.needs}`,
    judge.safety ? "a local judge, not the hosted service" : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** The official rules of a judge in one line. */
export const describeOfficialRules = (judge: JudgeChoice): string =>
  judge.group === "StableToolBench"
    ? "Official rule: the last tool call must be Finish"
    : "Like azure-ai-evaluation, including its bugs";

/** Judges that match all words, in name, question or group. */
export function searchJudges(judges: readonly JudgeChoice[], typed: string): JudgeChoice[] {
  const wanted = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (one: JudgeChoice) =>
    `${one.name} ${one.name.replaceAll("_", " ")} ${one.what} ${one.group}`.toLowerCase();
  return judges.filter((one) => wanted.every((word) => text(one).includes(word)));
}
