import { describe, expect, it } from "vitest";
import { CHOICES } from "../../testing/evaluate";
import type { EvaluatorChoice } from "../../generated";
import {
  selectEvaluators,
  BLANK_FORM,
  usesEmbeddings,
  evaluatorGroup,
  incompleteReason,
  problemsFor,
  missingInputs,
  evaluatorName,
  otherProblems,
  evaluateRequest,
  formFromRequest,
  inputSource,
  addEvaluator,
  removeEvaluators,
  type ChosenEvaluator,
  type EvaluateForm,
} from "./evaluateForm";

const choices = CHOICES.evaluators;
const known = (kind: string) => choices.find((choice) => choice.name === kind) as EvaluatorChoice;
const of = (...kinds: string[]) => kinds.reduce(addEvaluator, BLANK_FORM);
const first = (form: EvaluateForm) => form.evaluators[0] as ChosenEvaluator;
const changed = (form: EvaluateForm, some: Partial<ChosenEvaluator>): EvaluateForm => ({
  ...form,
  evaluators: form.evaluators.map((one, at) => (at === 0 ? { ...one, ...some } : one)),
});
const COLUMNS = ["question", "response", "ground_truth", "meta"];
const sent = (form: EvaluateForm, columns = COLUMNS) =>
  evaluateRequest("d1", form, choices, "local", columns);

describe("what is sent", () => {
  it("names evaluators only, where everything is as usual", () =>
    expect(sent(of("f1_score"))).toEqual({
      data: "d1",
      evaluators: [{ kind: "f1_score", name: "", threshold: null, mapping: [], options: "" }],
      model: "",
      rounds: null,
      switches: [],
      out: "",
      replace: false,
      max_cost: null,
      again: "nothing",
    }));
  it("says where inputs come from that have no column of their name", () => {
    const [one] = sent(
      changed(of("relevance"), {
        mapping: { query: "question", response: "response", conversation: "" },
      }),
    ).evaluators;
    expect(one?.mapping).toEqual([["query", "${data.question}"]]);
    expect(
      sent(changed(of("relevance"), { mapping: { query: "meta.item.query" } })).evaluators[0]
        ?.mapping,
    ).toEqual([["query", "${data.meta.item.query}"]]);
  });
  it("names every input that a column gives, where a switch makes a mapping all that is given", () => {
    const mapped = changed(of("relevance"), { mapping: { query: "question" } });
    expect(sent({ ...mapped, switches: ["own_mapping_only"] }).evaluators[0]?.mapping).toEqual([
      ["query", "${data.question}"],
      ["response", "${data.response}"],
    ]);
    expect(
      sent({ ...of("f1_score"), switches: ["own_mapping_only"] }).evaluators[0]?.mapping,
    ).toEqual([]);
  });
  it("leaves out an input that has a column of its name and was switched off, where only what is named is given", () => {
    const own = { ...of("relevance"), switches: ["own_mapping_only"] };
    const columns = ["query", "response", "conversation"];
    const mapping = (form: EvaluateForm) => sent(form, columns).evaluators[0]?.mapping;
    const off = changed(own, { mapping: { conversation: "" } });
    expect(mapping(own)).toEqual([]);
    expect(mapping(off)).toEqual([
      ["query", "${data.query}"],
      ["response", "${data.response}"],
    ]);
    expect(inputSource(first(off), "conversation", columns, true)).toBe("");
    expect(
      missingInputs(
        known("relevance"),
        first(changed(own, { mapping: { conversation: "", query: "" } })),
        columns,
        true,
      ),
    ).toEqual(["query"]);
    // Without the switch the column is passed in any case, and the form shows it.
    expect(mapping({ ...off, switches: [] })).toEqual([]);
    expect(inputSource(first(off), "conversation", columns)).toBe("conversation");
    // Resuming keeps it off, too.
    expect(sent(formFromRequest(sent(off, columns), choices), columns)).toEqual(sent(off, columns));
    expect(
      formFromRequest(sent(off, columns), choices).evaluators[0]?.mapping["conversation"],
    ).toBe("");
  });
  it("has a bound, and no model, where only vectors are paid for", () => {
    const similar = { ...of("text_similarity"), budget: "0.5", rounds: "3" };
    expect(sent(similar)).toMatchObject({ max_cost: null });
    const cosine = changed(similar, { values: { evaluation_metric: "cosine" } });
    expect([usesEmbeddings(similar), usesEmbeddings(cosine)]).toEqual([false, true]);
    expect(sent(cosine)).toMatchObject({ model: "", rounds: null, max_cost: 0.5 });
  });
  it("has a model, rounds and a bound only when a model is asked", () => {
    const bounds = { rounds: "3", budget: "$2.50" };
    expect(sent({ ...of("relevance"), ...bounds })).toMatchObject({
      model: "local",
      rounds: 3,
      max_cost: 2.5,
    });
    expect(sent({ ...of("f1_score"), ...bounds })).toMatchObject({
      model: "",
      rounds: null,
      max_cost: null,
    });
  });
  it("has the threshold as a number, and leaves those that are options to the options", () => {
    expect(sent(changed(of("relevance"), { threshold: "4.5" })).evaluators[0]).toMatchObject({
      threshold: 4.5,
      options: "",
    });
    expect(
      sent(changed(of("rouge_score"), { threshold: "0.9", values: { rouge_type: "rouge1" } }))
        .evaluators[0],
    ).toMatchObject({ threshold: null, options: '{"rouge_type":"rouge1"}' });
  });
  it("has two of a kind under two names", () => {
    const twice = of("string_check", "string_check");
    expect(sent(twice).evaluators.map((one) => one.name)).toEqual(["", "string_check_2"]);
    expect(twice.evaluators.map(evaluatorName)).toEqual(["string_check", "string_check_2"]);
  });
});

describe("a request that was kept", () => {
  it.each<[string, EvaluateForm]>([
    ["texts alone", of("f1_score", "string_check", "string_check")],
    [
      "a judge within bounds",
      { ...of("relevance"), rounds: "3", budget: "2.5", out: "mine", switches: ["nan"] },
    ],
    [
      "inputs from elsewhere",
      changed(of("relevance"), { mapping: { query: "meta.item.query" }, threshold: "4.5" }),
    ],
    [
      "options",
      changed(of("rouge_score"), { values: { rouge_type: "rouge1", recall_threshold: "0.7" } }),
    ],
  ])("is the same when it is put onto the sheet and sent again: %s", (_, form) =>
    expect(sent(formFromRequest(sent(form)))).toEqual(sent(form)),
  );
  it("replaces nothing before that is said anew", () =>
    expect(formFromRequest(sent({ ...of("f1_score"), replace: true })).replace).toBe(false));
});

describe("what is missing", () => {
  it("is what an evaluator needs and no column gives", () => {
    expect(missingInputs(known("relevance"), first(of("relevance")), COLUMNS)).toEqual(["query"]);
    expect(missingInputs(known("f1_score"), first(of("f1_score")), COLUMNS)).toEqual([]);
    expect(
      missingInputs(
        known("relevance"),
        first(changed(of("relevance"), { mapping: { query: "question" } })),
        COLUMNS,
      ),
    ).toEqual([]);
  });
  it("is nothing where a conversation stands for all of it", () =>
    expect(missingInputs(known("relevance"), first(of("relevance")), ["conversation"])).toEqual(
      [],
    ));
  it("is also a column that a text names, unless the file has it or what it lies in", () => {
    expect(missingInputs(known("string_check"), first(of("string_check")), ["response"])).toEqual([
      "ground_truth",
    ]);
    expect(
      missingInputs(
        known("string_check"),
        first(changed(of("string_check"), { values: { reference: "{{item.meta.truth}}" } })),
        COLUMNS,
      ),
    ).toEqual([]);
  });
  it("in rows is said at the evaluator that it is about, and nowhere twice", () => {
    const lacks = [
      "relevance: 3 of 8 rows have no query.",
      "relevance_2: 1 of 8 rows has no query.",
      "Row 7 is too long.",
    ];
    expect(problemsFor("relevance", lacks)).toEqual(["3 of 8 rows have no query."]);
    expect(otherProblems(["relevance", "relevance_2"], lacks)).toEqual(["Row 7 is too long."]);
  });
});

describe("a sheet", () => {
  it.each<[string, string, EvaluateForm, string]>([
    ["no file", "", of("f1_score"), "Choose a data file."],
    ["no evaluator", "d1", BLANK_FORM, "Choose at least one evaluator."],
    ["no model", "d1", of("relevance"), "Choose a judge model."],
    [
      "one name twice",
      "d1",
      changed(of("f1_score", "rouge_score"), { name: "rouge_score" }),
      "Complete the fields of rouge_score.",
    ],
    ["an option missing", "d1", of("python"), "Complete the fields of python."],
    [
      "a path that goes on",
      "d1",
      changed(of("f1_score"), { mapping: { response: "item." } }),
      "Complete the fields of f1_score.",
    ],
    [
      "a threshold that is not a number",
      "d1",
      changed(of("f1_score"), { threshold: "high" }),
      "Complete the fields of f1_score.",
    ],
    [
      "a budget that is not a number",
      "d1",
      { ...of("f1_score"), budget: "much" },
      "An amount in dollars.",
    ],
    ["all it needs", "d1", of("f1_score", "string_check"), ""],
  ])("with %s says so", (_, data, form, why) =>
    expect(
      incompleteReason(
        data,
        form,
        form.evaluators.some((one) => one.kind === "relevance"),
        "",
      ),
    ).toBe(why),
  );
  it("with rounds beyond the bound says so", () =>
    expect(incompleteReason("d1", { ...of("relevance"), rounds: "21" }, true, "local")).toBe(
      "A whole number from 1 to 20.",
    ));
  it("follows the address and keeps what was filled in", () => {
    const filled = changed(of("f1_score", "relevance"), { threshold: "0.7" });
    const next = selectEvaluators(
      filled,
      ["relevance", "f1_score", "f1_score", "unknown"],
      choices,
    );
    expect(next.evaluators.map((one) => [one.kind, one.threshold])).toEqual([
      ["relevance", ""],
      ["f1_score", "0.7"],
      ["f1_score", ""],
    ]);
    expect(new Set(next.evaluators.map((one) => one.key)).size).toBe(3);
    expect(
      removeEvaluators(next, (one) => one.kind === "f1_score").evaluators.map((one) => one.kind),
    ).toEqual(["relevance"]);
  });
  it("groups evaluators by what they go by", () =>
    expect(
      ["relevance", "violence", "f1_score", "document_retrieval", "python", "label_model"].map(
        (kind) => evaluatorGroup(known(kind)),
      ),
    ).toEqual(["Judges", "Safety", "Texts", "Retrieval", "Graders", "Graders"]));
});
