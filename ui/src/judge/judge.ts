// Judging in words: what is meant, what it will take, how it stands. Pure.
import { count, counted, money, short } from "../format";
import type { Judged } from "../generated/Judged";
import type { JudgePlan } from "../generated/JudgePlan";
import type { JudgeRequest } from "../generated/JudgeRequest";
import type { JudgingView } from "../generated/JudgingView";
import { scoreText } from "../scores";

/** Which runs are to be judged: these, or all that pass a filter. */
export interface Wanted {
  runs: string[];
  filter: string;
  /** In words: `this run`, `3 runs`. */
  what: string;
}

export interface Choices {
  judge: string;
  model: string;
  rounds: number | null;
  official: boolean;
  again: boolean;
  max_cost: number | null;
  /** The runs to compare with, as a filter; empty for judges of single runs. */
  reference: string;
}

export const asked = ({ runs, filter }: Wanted, choices: Choices): JudgeRequest => ({ ...choices, runs, filter });

const between = (least: number, most: number, show: (value: number) => string): string => (least === most ? show(most) : `${show(least)} to ${show(most)}`);

/** What it will take, in a line; what is not known is said. */
export function takes(plan: JudgePlan): string {
  const costs = plan.cost_least === null || plan.cost_most === null ? "cost unknown: the model has no price" : `about ${between(plan.cost_least, plan.cost_most, money)}`;
  const calls = between(plan.calls_least, plan.calls_most, count);
  return `${calls} ${plan.calls_most === 1 ? "request" : "requests"} · about ${between(plan.tokens_least, plan.tokens_most, short)} tokens · ${costs}`;
}

/** Which runs that are, in a line. */
export function meant(plan: JudgePlan): string {
  const parts = [
    counted(plan.runs, "run"),
    plan.unasked > 0 ? `${count(plan.unasked)} without an answer, judged without asking` : "",
    plan.complete > 0 ? `${count(plan.complete)} judged so before` : "",
    plan.skipped_total > 0 ? `${count(plan.skipped_total)} that cannot be judged` : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

/** Runs that end it, one way or another. */
export const ended = (view: JudgingView): number => view.done + view.failed + view.skipped;

export function came(view: JudgingView): string {
  const { rates } = view;
  if (rates === null) return "";
  const answered = rates.runs - rates.without_answer;
  const both = rates.mean_of_answered === null || rates.without_answer === 0 ? "" : `; ${scoreText(rates.mean_of_answered)} of the ${count(answered)} with an answer`;
  const share = (part: number) => `${(100 * part).toFixed(1)} %`;
  if (rates.pairs !== null) return `${share(rates.pairs.win)} won, ${share(rates.pairs.lose)} lost, ${share(rates.pairs.tie)} neither of ${counted(rates.runs, "pair")}`;
  return `mean ${scoreText(rates.mean)} ± ${rates.spread.toFixed(2)} of ${counted(rates.runs, "run")}${both}`;
}

/** One judgement in a line: what each round came to. */
export const words = (judged: Judged): string => judged.rounds.map((round) => round.verdict ?? "not read").join(", ");
