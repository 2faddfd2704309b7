import { describe, expect, it } from "vitest";
import {
  columnsNamed,
  fieldsOf,
  hasOwnThresholds,
  isNumber,
  optionsOf,
  valuesOf,
  wrongWith,
} from "./fields";

const options = (kind: string, values: Record<string, string>): unknown =>
  optionsOf(kind, values) === "" ? null : JSON.parse(optionsOf(kind, values));
const wrong = (kind: string, values: Record<string, string>) =>
  Object.fromEntries(
    fieldsOf(kind)
      .map((field) => [field.name, wrongWith(field, values)])
      .filter(([, why]) => why !== ""),
  );

describe("options of an evaluator", () => {
  it("are not sent when nothing is written", () => {
    for (const kind of ["rouge_score", "string_check", "relevance", "violence", "nobody knows it"])
      expect(optionsOf(kind, {})).toBe("");
    expect(optionsOf("rouge_score", { rouge_type: "  " })).toBe("");
  });
  it.each([
    [
      "rouge_score",
      { rouge_type: "rouge2", recall_threshold: "0.7" },
      { rouge_type: "rouge2", recall_threshold: 0.7 },
    ],
    [
      "string_check",
      { input: "{{item.a}}", operation: "ilike" },
      { input: "{{item.a}}", operation: "ilike" },
    ],
    ["violence", { evaluate_query: "true" }, { evaluate_query: true }],
    ["task_adherence", { is_reasoning_model: "true" }, { is_reasoning_model: true }],
    [
      "label_model",
      {
        system: "Be strict.",
        user: "{{item.response}}",
        labels: "good, bad ,",
        passing_labels: "good",
      },
      {
        labels: ["good", "bad"],
        passing_labels: ["good"],
        input: [
          { role: "system", content: "Be strict." },
          { role: "user", content: "{{item.response}}" },
        ],
      },
    ],
    [
      "score_model",
      { user: "Rate it.", most: "10" },
      { input: [{ role: "user", content: "Rate it." }], range: [0, 10] },
    ],
    [
      "python",
      { source: "def grade(sample, item):\n    return 1" },
      { source: "def grade(sample, item):\n    return 1" },
    ],
    ["qa", { f1_score_threshold: ".5" }, { f1_score_threshold: 0.5 }],
  ])("of %s are sent as they are understood: %j", (kind, values, sent) => {
    expect(options(kind, values)).toEqual(sent);
    expect(
      options(kind, valuesOf(optionsOf(kind, values))),
      "and are the same when they are put back",
    ).toEqual(sent);
  });
  it.each(["", "{", "[1]", "null", '{"input": [7, null]}'])(
    "that say nothing leave the fields empty: %s",
    (kept) => expect(valuesOf(kept)).toEqual({}),
  );
  it("that cannot be understood are said beside their field", () => {
    expect(wrong("rouge_score", { recall_threshold: "half" })).toEqual({
      recall_threshold: "A number, such as 0.5.",
    });
    expect(
      wrong("label_model", { user: "x", labels: "good", passing_labels: "good, fine" }),
    ).toEqual({ passing_labels: "“fine” is not one of the labels." });
    expect(wrong("label_model", {})).toEqual({
      user: "Required.",
      labels: "Required.",
      passing_labels: "Required.",
    });
    expect(wrong("score_model", { user: "x", least: "3", most: "2" })).toEqual({
      most: "Must be above the lowest score.",
    });
  });
  it("take what people write for numbers, and nothing else", () => {
    expect(["1", "0.5", ".5", "5.", "-2", " 3 "].map(isNumber)).toEqual(
      Array.from({ length: 6 }, () => true),
    );
    expect(["", "1e400", "0x1", "1,5", "NaN", "Infinity"].map(isNumber)).toEqual(
      Array.from({ length: 6 }, () => false),
    );
  });
  it("have thresholds of their own where there are several, or under another name", () =>
    expect(
      [
        "rouge_score",
        "qa",
        "text_similarity",
        "python",
        "document_retrieval",
        "relevance",
        "f1_score",
        "violence",
      ].map(hasOwnThresholds),
    ).toEqual([true, true, true, true, true, false, false, false]));
  it("name columns in their texts", () => {
    expect(columnsNamed("string_check", {})).toEqual(["response", "ground_truth"]);
    expect(
      columnsNamed("string_check", {
        input: "{{ item.a }} and {{item.b.c}}",
        reference: "{{item.a}}",
      }),
    ).toEqual(["a", "b.c"]);
    expect(columnsNamed("relevance", {})).toEqual([]);
  });
});
