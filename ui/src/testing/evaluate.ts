// Evaluations for tests: options, file contents and plan.
import type {
  DataLook,
  EvaluateOptions,
  EvaluatePlan,
  EvaluationView,
  EvaluatorChoice,
} from "../generated";

export const evaluator = (
  name: string,
  needs: string[],
  change: Partial<EvaluatorChoice> = {},
): EvaluatorChoice => ({
  name,
  what: `What ${name} says.`,
  needs,
  may_have: [],
  model: false,
  program: false,
  safety: false,
  threshold: null,
  ...change,
});

export const CHOICES: EvaluateOptions = {
  evaluators: [
    evaluator("relevance", ["query", "response"], {
      may_have: ["conversation"],
      model: true,
      threshold: 3,
    }),
    evaluator("f1_score", ["response", "ground_truth"], { threshold: 0.5 }),
    evaluator("rouge_score", ["response", "ground_truth"], { threshold: 0.5 }),
    evaluator("document_retrieval", ["retrieval_ground_truth", "retrieved_documents"]),
    evaluator("string_check", []),
    evaluator("text_similarity", [], { threshold: 0.5 }),
    evaluator("label_model", [], { model: true }),
    evaluator("score_model", [], { model: true, threshold: 0.5 }),
    evaluator("python", [], { program: true, threshold: 0.5 }),
    evaluator("violence", ["response"], { model: true, safety: true, threshold: 3 }),
  ],
  models: [{ name: "local", detail: "OpenAI wire", why_not: null, is_free: false }],
  switches: [{ name: "nan", theirs: "Writes NaN, which is not JSON.", ours: "Writes null." }],
  files: [{ id: "d1", path: "data/answers.jsonl", size: 2_048 }],
  unlisted: null,
  folder: "results",
  why_not: null,
};

export const look = (id: string, change: Partial<DataLook> = {}): DataLook => ({
  file: { id, path: "data/answers.jsonl", size: 2_048 },
  rows: 8,
  columns: ["question", "response", "ground_truth"],
  sample: [
    ["How many?", "Three.", "3"],
    ["Where?", null, "Oslo"],
  ],
  wrong: [],
  ...change,
});

export const evaluatePlan = (change: Partial<EvaluatePlan> = {}): EvaluatePlan => ({
  rows: 8,
  calls_least: 0,
  calls_most: 0,
  kept: 0,
  unread: 0,
  target: 0,
  each: [],
  tokens_least: 0,
  tokens_most: 0,
  cost_least: 0,
  cost_most: 0,
  out: "results/answers.json",
  exists: false,
  lacks: [],
  notes: [],
  unbound: null,
  why_not: null,
  ...change,
});

export const evaluation = (id: string, change: Partial<EvaluationView> = {}): EvaluationView => ({
  id,
  data: "data/answers.jsonl",
  model: null,
  began_ms: Date.UTC(2025, 0, 20, 12),
  state: "done",
  why: null,
  notes: [],
  total: 16,
  done: 14,
  failed: 2,
  main_reason: "The row has no response.",
  missing: 0,
  unread: 0,
  calls: 0,
  tokens: 0,
  cost: 0,
  unpriced: false,
  max_cost: null,
  troubles: [{ row: 2, evaluator: "f1_score", why: "The row has no response.", run: "r2" }],
  file: "results/answers.json",
  filter: 'path:"answers.json"',
  metrics: [{ name: "f1_score.f1_score", value: 0.5, interval: [0.2, 0.8], n: 7, left_out: 1 }],
  ...change,
});
