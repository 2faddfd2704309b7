// Pure. What the form for generating tasks asks for, and what is wrong with it.
import { count, counted, money, short } from "../../domain/format";
import type { GenerationOptions, GenerationPlan, GenerationRequest } from "../../generated";

/** The form as it is typed. */
export interface GenerationForm {
  /** Name of the chosen file; null for a pasted text. */
  file: string | null;
  text: string;
  name: string;
  model: string;
  queries: string;
  turns: string;
  /** Kinds of tasks, one on each line. */
  kinds: string;
  budget: string;
}

export const BLANK_FORM: GenerationForm = {
  file: null,
  text: "",
  name: "",
  model: "",
  queries: "20",
  turns: "1",
  kinds: "",
  budget: "",
};

const whole = (text: string): number => (text.trim() === "" ? NaN : Number(text));
const inRange = (number: number, most: number): boolean =>
  Number.isInteger(number) && number >= 1 && number <= most;

/** What is wrong with the numbers of the form; empty if nothing is. */
export function wrongNumber(form: GenerationForm, options: GenerationOptions): string {
  if (!inRange(whole(form.queries), options.most_queries))
    return `Questions are a number from 1 to ${count(options.most_queries)}.`;
  if (!inRange(whole(form.turns), options.most_turns))
    return `Turns are a number from 1 to ${count(options.most_turns)}.`;
  const budget = budgetOf(form);
  return budget !== null && !(Number.isFinite(budget) && budget >= 0)
    ? "The budget is a number of dollars."
    : "";
}

const budgetOf = ({ budget }: GenerationForm): number | null =>
  budget.trim() === "" ? null : Number(budget.replace("$", ""));

/** The request of a form; null while the text, the model or a number is missing. */
export function generationRequest(
  form: GenerationForm,
  options: GenerationOptions,
): GenerationRequest | null {
  if (form.text.trim() === "" || form.model === "" || wrongNumber(form, options) !== "")
    return null;
  return {
    name: form.name.trim(),
    file: form.file,
    text: form.text,
    model: form.model,
    queries: whole(form.queries),
    turns: whole(form.turns),
    tasks: form.kinds.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()])),
    max_cost: budgetOf(form),
  };
}

/** The estimate in one line. */
export const formatEstimate = (plan: GenerationPlan): string =>
  `${counted(plan.requests, "request")} · about ${short(plan.tokens)} tokens · ${
    plan.cost === null ? "cost unknown: the model has no price" : `about ${money(plan.cost)}`
  }`;

/** A name for a suite from the name of a file: only signs that names of suites have. */
export const suiteName = (file: string): string =>
  file
    .replace(/\.[^.]*$/, "")
    .replace(/[^\p{L}\p{N} ._-]+/gu, "-")
    .replace(/^[.\s]+/, "")
    .trim()
    .slice(0, 60);

/** Why a file cannot be used; empty if it can. */
export function wrongFile(
  { name, size }: { name: string; size: number },
  text: string,
  most: number,
): string {
  if (size > most)
    return `${name} is larger than ${short(most)} bytes. Use the command line: touchstone generate --from FILE`;
  if (text.includes("\0")) return `${name} is not a text.`;
  return text.trim() === "" ? `${name} holds no text.` : "";
}
