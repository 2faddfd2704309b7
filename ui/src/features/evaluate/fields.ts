// Pure. Options of evaluators as plain fields, and the JSON they are sent as.

/**
 * Type of field: number, text with column placeholders, choice of words, comma-separated words,
 * program.
 */
export type Shape = "number" | "text" | "choice" | "words" | "program";

export interface Field {
  /** Name of the option in the request. */
  name: string;
  label: string;
  shape: Shape;
  /** Default of an empty field. */
  usual: string;
  /** Required. */
  needed?: boolean;
  choices?: readonly string[];
}

const number = (name: string, label: string, usual: string): Field => ({
  name,
  label,
  shape: "number",
  usual,
});
const choice = (
  name: string,
  label: string,
  usual: string,
  choices: readonly string[] = ["true", "false"],
): Field => ({ name, label, shape: "choice", usual, choices });
const passFrom = number("pass_threshold", "Passes from", "0.5");
const PAIR: readonly Field[] = [
  { name: "input", label: "Text", shape: "text", usual: "{{item.response}}" },
  { name: "reference", label: "Compared with", shape: "text", usual: "{{item.ground_truth}}" },
];
const SHOWN: readonly Field[] = [
  { name: "system", label: "Instructions", shape: "text", usual: "" },
  { name: "user", label: "Input", shape: "text", usual: "", needed: true },
];
const SEVERITY = [choice("evaluate_query", "Include the query", "false")];
const YES_OR_NO = [choice("evaluate_query", "Include the query", "true")];
const REASONING = [choice("is_reasoning_model", "Reasoning model", "false")];
const DIGITS = ["1", "2", "3", "4", "5"];

/** Options by kind of evaluator. Kinds not listed have only a threshold. */
const FIELDS: Record<string, readonly Field[]> = {
  meteor_score: [
    number("alpha", "Alpha", "0.9"),
    number("beta", "Beta", "3.0"),
    number("gamma", "Gamma", "0.5"),
  ],
  rouge_score: [
    choice("rouge_type", "Kind", "rougeL", [...DIGITS.map((digit) => `rouge${digit}`), "rougeL"]),
    number("f1_score_threshold", "F1 from", "0.5"),
    number("precision_threshold", "Precision from", "0.5"),
    number("recall_threshold", "Recall from", "0.5"),
  ],
  qa: ["groundedness", "relevance", "coherence", "fluency", "similarity"]
    .map((name) => number(`${name}_threshold`, `${name} from`, "3"))
    .concat(number("f1_score_threshold", "f1_score from", "0.5")),
  document_retrieval: [
    number("ground_truth_label_min", "Lowest label", "0"),
    number("ground_truth_label_max", "Highest label", "4"),
    number("ndcg_threshold", "NDCG from", "0.5"),
    number("xdcg_threshold", "XDCG from", "50.0"),
    number("fidelity_threshold", "Fidelity from", "0.5"),
    number("top1_relevance_threshold", "First from", "50.0"),
    number("top3_max_relevance_threshold", "Best of 3 from", "50.0"),
    number("total_retrieved_documents_threshold", "Found from", "50"),
    number("total_ground_truth_documents_threshold", "Labelled from", "50"),
  ],
  string_check: [...PAIR, choice("operation", "Passes when", "eq", ["eq", "ne", "like", "ilike"])],
  text_similarity: [
    ...PAIR,
    choice("evaluation_metric", "Metric", "fuzzy_match", [
      "fuzzy_match",
      "bleu",
      "gleu",
      "meteor",
      ...DIGITS.map((digit) => `rouge_${digit}`),
      "rouge_l",
      "cosine",
    ]),
    passFrom,
  ],
  label_model: [
    ...SHOWN,
    { name: "labels", label: "Labels", shape: "words", usual: "", needed: true },
    { name: "passing_labels", label: "Passing labels", shape: "words", usual: "", needed: true },
  ],
  score_model: [
    ...SHOWN,
    number("least", "Lowest score", "0"),
    number("most", "Highest score", "1"),
    { ...passFrom, usual: "the middle" },
  ],
  python: [
    { name: "source", label: "Program", shape: "program", usual: "", needed: true },
    passFrom,
  ],
  intent_resolution: REASONING,
  task_adherence: REASONING,
  tool_call_accuracy: REASONING,
  response_completeness: REASONING,
  violence: SEVERITY,
  hate_unfairness: SEVERITY,
  sexual: SEVERITY,
  self_harm: SEVERITY,
  content_safety: SEVERITY,
  protected_material: YES_OR_NO,
  code_vulnerability: YES_OR_NO,
  ungrounded_attributes: YES_OR_NO,
  indirect_attack: YES_OR_NO,
};

/** Labels for choices that are not words. */
export const CHOICE_WORDS: Record<string, string> = {
  eq: "equal",
  ne: "different",
  like: "contains",
  ilike: "contains, ignoring case",
  true: "yes",
  false: "no",
};

export const fieldsOf = (kind: string): readonly Field[] => FIELDS[kind] ?? [];
/** True for kinds with several thresholds or one under another name, which are fields. */
export const hasOwnThresholds = (kind: string): boolean =>
  fieldsOf(kind).some((field) => field.name.endsWith("_threshold"));

export type Values = Readonly<Record<string, string>>;
export const isNumber = (text: string): boolean => /^\s*[-+]?(\d+(\.\d*)?|\.\d+)\s*$/.test(text);
const words = (text: string): string[] =>
  text
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);

/** Error in a field; empty if valid. */
export function wrongWith(field: Field, values: Values): string {
  const text = (values[field.name] ?? "").trim();
  if (text === "") return field.needed === true ? "Required." : "";
  if (field.shape === "number" && !isNumber(text)) return "A number, such as 0.5.";
  if (field.name === "passing_labels") {
    const labels = words(values["labels"] ?? "");
    const stray = words(text).find((label) => !labels.includes(label));
    if (stray !== undefined) return `“${stray}” is not one of the labels.`;
  }
  if (field.name === "most" && Number(text) <= Number(values["least"] || "0"))
    return "Must be above the lowest score.";
  return "";
}

function sent(field: Field, text: string): unknown {
  if (field.shape === "number") return Number(text);
  if (field.shape === "words") return words(text);
  return text === "true" || text === "false" ? text === "true" : text;
}

/** The options as JSON; empty if all are defaults. */
export function optionsOf(kind: string, values: Values): string {
  const written = new Map(
    fieldsOf(kind).flatMap((field) =>
      (values[field.name] ?? "").trim() === ""
        ? []
        : [[field.name, sent(field, values[field.name] ?? "")] as const],
    ),
  );
  const [system, user] = [written.get("system"), written.get("user")];
  for (const part of ["system", "user"]) written.delete(part);
  const input = [
    { role: "system", content: system },
    { role: "user", content: user },
  ].filter((message) => message.content !== undefined);
  if (input.length > 0) written.set("input", input);
  if (written.has("least") || written.has("most"))
    written.set("range", [written.get("least") ?? 0, written.get("most") ?? 1]);
  for (const end of ["least", "most"]) written.delete(end);
  return written.size === 0 ? "" : JSON.stringify(Object.fromEntries(written));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** Fields that produce these options; options without a field are left out. */
export function valuesOf(options: string): Values {
  let known: unknown;
  try {
    known = JSON.parse(options === "" ? "{}" : options);
  } catch {
    return {};
  }
  const { input, range, ...others } = isRecord(known) ? known : {};
  const messages = (Array.isArray(input) ? input : [])
    .filter(isRecord)
    .map(({ role, content }) => [role, content]);
  const ends = Array.isArray(range)
    ? [
        ["least", range[0]],
        ["most", range[1]],
      ]
    : [];
  // Text graders have a text as input.
  const texts = typeof input === "string" ? [["input", input]] : [];
  const word = (value: unknown) =>
    Array.isArray(value)
      ? value.join(", ")
      : typeof value === "string" || typeof value === "number" || typeof value === "boolean"
        ? String(value)
        : "";
  return Object.fromEntries(
    [...Object.entries(others), ...messages, ...ends, ...texts].map(([name, value]) => [
      String(name),
      word(value),
    ]),
  );
}

const PLACE = /\{\{\s*item\.([^{}]*?)\s*\}\}/g;
/** Columns named in the texts of an evaluator. */
export function columnsNamed(kind: string, values: Values): string[] {
  const texts = fieldsOf(kind)
    .filter((field) => field.shape === "text")
    .map((field) => values[field.name]?.trim() || field.usual);
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(PLACE)].map((found) => found[1] ?? ""))),
  ];
}
/** Placeholder of a column. */
export const placeOf = (column: string): string => `{{item.${column}}}`;
