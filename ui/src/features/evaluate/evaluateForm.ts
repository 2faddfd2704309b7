// Pure. State of the evaluation form, its validation and the request.
import type {
  EvaluateAgain,
  EvaluateRequest,
  EvaluatorChoice,
  EvaluatorRequest,
} from "../../generated";
import {
  columnsNamed,
  fieldsOf,
  hasOwnThresholds,
  isNumber,
  optionsOf,
  valuesOf,
  wrongWith,
  type Values,
} from "./fields";

/** A chosen evaluator as entered in its fields. */
export interface ChosenEvaluator {
  key: number;
  kind: string;
  /** Empty means the name of its kind. */
  name: string;
  threshold: string;
  /** Inputs not taken from the column of the same name: a column, or a path into one. */
  mapping: Readonly<Record<string, string>>;
  values: Values;
}

export interface EvaluateForm {
  evaluators: readonly ChosenEvaluator[];
  model: string;
  rounds: string;
  budget: string;
  out: string;
  replace: boolean;
  /** Paid replies to request again. */
  again: EvaluateAgain;
  switches: readonly string[];
}

export const BLANK_FORM: EvaluateForm = {
  evaluators: [],
  model: "",
  rounds: "",
  budget: "",
  out: "",
  replace: false,
  again: "nothing",
  switches: [],
};
export const MOST_ROUNDS = 20;

/** Those that need no model come first. */
export const GROUPS = ["Texts", "Retrieval", "Graders", "Judges", "Safety"] as const;
export type Group = (typeof GROUPS)[number];
const GRADERS = ["string_check", "text_similarity", "label_model", "score_model", "python"];

export function evaluatorGroup(choice: EvaluatorChoice): Group {
  if (choice.safety) return "Safety";
  if (GRADERS.includes(choice.name)) return "Graders";
  if (choice.name === "document_retrieval") return "Retrieval";
  return choice.model ? "Judges" : "Texts";
}

/** Adds an evaluator of a kind. */
export function addEvaluator(form: EvaluateForm, kind: string): EvaluateForm {
  const key = 1 + Math.max(0, ...form.evaluators.map((one) => one.key));
  const alike = form.evaluators.filter((one) => one.kind === kind).length;
  const one: ChosenEvaluator = {
    key,
    kind,
    name: alike === 0 ? "" : `${kind}_${alike + 1}`,
    threshold: "",
    mapping: {},
    values: {},
  };
  return { ...form, evaluators: [...form.evaluators, one] };
}
export const removeEvaluators = (
  form: EvaluateForm,
  gone: (one: ChosenEvaluator) => boolean,
): EvaluateForm => ({
  ...form,
  evaluators: form.evaluators.filter((one) => !gone(one)),
});
/** Evaluators named by an address. Existing ones keep their fields. */
export function selectEvaluators(
  form: EvaluateForm,
  kinds: readonly string[],
  choices: readonly EvaluatorChoice[],
): EvaluateForm {
  let next: EvaluateForm = { ...form, evaluators: [] };
  const there = [...form.evaluators];
  for (const kind of kinds.filter((kind) => choices.some((choice) => choice.name === kind))) {
    const at = there.findIndex((one) => one.kind === kind);
    const [one] = at < 0 ? [] : there.splice(at, 1);
    next =
      one === undefined
        ? addEvaluator(next, kind)
        : { ...next, evaluators: [...next.evaluators, one] };
  }
  return next;
}

export const evaluatorName = (one: ChosenEvaluator): string => one.name.trim() || one.kind;

/** With this switch an evaluator with a mapping receives only the mapped inputs. */
const OWN_ONLY = "own_mapping_only";
export const mapsExplicitlyOnly = (switches: readonly string[]): boolean =>
  switches.includes(OWN_ONLY);

/**
 * Source of an input: a column or a path into one; empty if there is none. Defaults to the column
 * of the same name, unless only mapped inputs are passed.
 */
export function inputSource(
  one: ChosenEvaluator,
  input: string,
  columns: readonly string[],
  own = false,
): string {
  const named = one.mapping[input];
  if (own && named === "") return "";
  return named || (columns.includes(input) ? input : "");
}

export interface Input {
  name: string;
  needed: boolean;
  source: string;
}
export const evaluatorInputs = (
  choice: EvaluatorChoice,
  one: ChosenEvaluator,
  columns: readonly string[],
  own = false,
): Input[] =>
  [
    ...choice.needs.map((name) => ({ name, needed: true })),
    ...choice.may_have.map((name) => ({ name, needed: false })),
  ].map((input) => ({ ...input, source: inputSource(one, input.name, columns, own) }));

/** Required inputs that the file lacks, by name. */
export function missingInputs(
  choice: EvaluatorChoice,
  one: ChosenEvaluator,
  columns: readonly string[],
  own = false,
): string[] {
  const inputs = evaluatorInputs(choice, one, columns, own);
  // A conversation replaces all single inputs.
  const conversation = inputs.some((input) => input.name === "conversation" && input.source !== "");
  const needed = conversation
    ? []
    : inputs.filter((input) => input.needed && input.source === "").map((input) => input.name);
  const named = columnsNamed(one.kind, one.values).filter(
    (path) => !columns.includes(path) && !columns.includes(path.split(".")[0] ?? ""),
  );
  return [...needed, ...named];
}

/** Reason why no evaluator can say anything of any row; empty if one can. */
export function unfedReason(
  form: EvaluateForm,
  choices: readonly EvaluatorChoice[],
  columns: readonly string[],
): string {
  const own = mapsExplicitlyOnly(form.switches);
  const missing = form.evaluators.map((one) => {
    const choice = choices.find((known) => known.name === one.kind);
    return choice === undefined ? [] : missingInputs(choice, one, columns, own);
  });
  const [first] = form.evaluators;
  if (first === undefined || missing.some((inputs) => inputs.length === 0)) return "";
  return form.evaluators.length === 1
    ? `Choose columns for ${evaluatorName(first)}: the file has no ${missing.flat().join(", ")}.`
    : "Choose columns: the file has not what any of the evaluators needs.";
}

const parseWhole = (text: string): number | null =>
  /^\s*\d{1,3}\s*$/.test(text) ? Number(text) : null;
const isValidRounds = (text: string): boolean =>
  (parseWhole(text) ?? 0) >= 1 && (parseWhole(text) ?? 0) <= MOST_ROUNDS;
export const stripDollar = (text: string): string => text.replace("$", "").trim();
export const roundsError = (text: string): string =>
  text.trim() === "" || isValidRounds(text) ? "" : `A whole number from 1 to ${MOST_ROUNDS}.`;
export const budgetError = (text: string): string =>
  text.trim() === "" || (isNumber(stripDollar(text)) && Number(stripDollar(text)) >= 0)
    ? ""
    : "An amount in dollars.";

/** Error in the name of an evaluator; empty if valid. */
export function nameError(one: ChosenEvaluator, all: readonly ChosenEvaluator[]): string {
  return all.some((other) => other.key !== one.key && evaluatorName(other) === evaluatorName(one))
    ? "Another evaluator has this name."
    : "";
}
export const thresholdError = (one: ChosenEvaluator): string =>
  one.threshold.trim() === "" || isNumber(one.threshold) ? "" : "A number, such as 3.";
/** A path that is still being typed. */
const isIncompletePath = (path: string): boolean => path.endsWith(".");
const isInvalid = (one: ChosenEvaluator, all: readonly ChosenEvaluator[]): boolean =>
  nameError(one, all) !== "" ||
  thresholdError(one) !== "" ||
  Object.values(one.mapping).some(isIncompletePath) ||
  fieldsOf(one.kind).some((field) => wrongWith(field, one.values) !== "");

/** Reason why the form is incomplete; empty if it is complete. */
export function incompleteReason(
  data: string,
  form: EvaluateForm,
  asksModel: boolean,
  model: string,
): string {
  if (data === "") return "Choose a data file.";
  if (form.evaluators.length === 0) return "Choose at least one evaluator.";
  const wrong = form.evaluators.find((one) => isInvalid(one, form.evaluators));
  if (wrong !== undefined) return `Complete the fields of ${evaluatorName(wrong)}.`;
  if (asksModel && model === "") return "Choose a judge model.";
  return (asksModel ? roundsError(form.rounds) : "") || budgetError(form.budget);
}

function evaluatorRequest(
  one: ChosenEvaluator,
  choice: EvaluatorChoice,
  columns: readonly string[],
  switches: readonly string[],
): EvaluatorRequest {
  const own = mapsExplicitlyOnly(switches);
  const inputs = evaluatorInputs(choice, one, columns, own);
  const given = inputs.filter((input) => input.source !== "");
  const mapped = given.filter((input) => input.source !== input.name);
  // An input with a column of its name is left out only if all others are mapped.
  const named =
    mapped.length > 0 ||
    inputs.some((input) => input.source === "" && columns.includes(input.name));
  return {
    kind: one.kind,
    name: one.name.trim(),
    threshold:
      hasOwnThresholds(one.kind) || one.threshold.trim() === "" ? null : Number(one.threshold),
    // Columns of the same name need no mapping unless the switch is on.
    mapping: (own && named ? given : mapped).map((input) => [
      input.name,
      `\${data.${input.source}}`,
    ]),
    options: optionsOf(one.kind, one.values),
  };
}

export const asksModel = (form: EvaluateForm, choices: readonly EvaluatorChoice[]): boolean =>
  form.evaluators.some((one) => choices.find((choice) => choice.name === one.kind)?.model === true);

/** Embedding texts calls a model and costs money, too. */
export const usesEmbeddings = (form: EvaluateForm): boolean =>
  form.evaluators.some(
    (one) => one.kind === "text_similarity" && one.values["evaluation_metric"] === "cosine",
  );

/** The request of the form. */
export function evaluateRequest(
  data: string,
  form: EvaluateForm,
  choices: readonly EvaluatorChoice[],
  model: string,
  columns: readonly string[],
): EvaluateRequest {
  const asks = asksModel(form, choices);
  return {
    data,
    evaluators: form.evaluators.flatMap((one) => {
      const choice = choices.find((known) => known.name === one.kind);
      return choice === undefined ? [] : [evaluatorRequest(one, choice, columns, form.switches)];
    }),
    model: asks ? model : "",
    rounds: asks ? parseWhole(form.rounds) : null,
    switches: [...form.switches],
    out: form.out.trim(),
    replace: form.replace,
    again: form.again,
    max_cost:
      (asks || usesEmbeddings(form)) && form.budget.trim() !== ""
        ? Number(stripDollar(form.budget))
        : null,
  };
}

/** Clears the confirmations to replace a file or repeat requests, which apply to one file. */
export const clearConfirmations = (form: EvaluateForm): EvaluateForm => ({
  ...form,
  replace: false,
  again: "nothing",
});

/** The form of a request, without the confirmations to replace a file or repeat requests. */
export function formFromRequest(
  { evaluators, model, rounds, max_cost, switches, out }: EvaluateRequest,
  choices: readonly EvaluatorChoice[] = [],
): EvaluateForm {
  const own = mapsExplicitlyOnly(switches);
  /** Inputs that the mapping leaves out, only if it maps anything. */
  const off = (kind: string, mapping: EvaluatorRequest["mapping"]): [string, string][] => {
    const choice = choices.find((known) => known.name === kind);
    const all =
      own && mapping.length > 0 && choice !== undefined
        ? [...choice.needs, ...choice.may_have]
        : [];
    return all
      .filter((input) => !mapping.some(([known]) => known === input))
      .map((input) => [input, ""]);
  };
  const way = (source: string): string => source.replace(/^\$\{data\.(.*)\}$/s, "$1");
  const one = (
    { kind, name, threshold, mapping, options }: EvaluatorRequest,
    at: number,
  ): ChosenEvaluator => ({
    key: at + 1,
    kind,
    name,
    threshold: threshold === null ? "" : String(threshold),
    mapping: Object.fromEntries([
      ...off(kind, mapping),
      ...mapping.map(([input, source]): [string, string] => [input, way(source)]),
    ]),
    values: valuesOf(options),
  });
  return {
    ...BLANK_FORM,
    evaluators: evaluators.map(one),
    model,
    rounds: rounds === null ? "" : String(rounds),
    budget: max_cost === null ? "" : String(max_cost),
    switches,
    out,
  };
}

/** Problems of rows that belong to one evaluator. */
export function problemsFor(name: string, lacks: readonly string[]): string[] {
  return lacks
    .filter((one) => one.startsWith(`${name}: `))
    .map((one) => one.slice(name.length + 2));
}
export const otherProblems = (names: readonly string[], lacks: readonly string[]): string[] =>
  lacks.filter((one) => !names.some((name) => one.startsWith(`${name}: `)));
