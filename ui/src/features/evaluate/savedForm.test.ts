import { beforeEach, describe, expect, it, vi } from "vitest";
import { BLANK_FORM, addEvaluator, type EvaluateForm } from "./evaluateForm";

const filled = (): EvaluateForm => {
  const form = addEvaluator(
    {
      ...BLANK_FORM,
      model: "local",
      rounds: "3",
      budget: "$2",
      out: "mine",
      replace: true,
      switches: ["nan"],
    },
    "python",
  );
  return {
    ...form,
    evaluators: form.evaluators.map((one) => ({
      ...one,
      threshold: "0.7",
      mapping: { query: "item.question" },
      values: { source: "def grade(sample, item):\n    return 1.0" },
    })),
  };
};
/** Imitates a reload: only the browser's storage remains. */
const loaded = async () => {
  vi.resetModules();
  return (await import("./savedForm")).savedForm;
};

describe("the sheet of an evaluation", () => {
  beforeEach(() => sessionStorage.clear());
  it("is there after a reload as it was left, except that a file is replaced", async () => {
    (await loaded()).save("f1", { form: filled(), data: "d1" });
    expect((await loaded()).load("f1")).toEqual({
      data: "d1",
      form: { ...filled(), replace: false },
    });
  });
  it("is that of its folder alone", async () => {
    (await loaded()).save("f1", { form: filled(), data: "d1" });
    expect((await loaded()).load("f2")).toEqual({ data: "", form: BLANK_FORM });
  });
  it.each([
    ["nothing", null],
    ["no JSON", "{"],
    ["something else", '{"folder": "f1", "sheet": 7}'],
    ["a list", "[]"],
  ])("is empty where %s is stored", async (_, stored) => {
    if (stored !== null) sessionStorage.setItem("touchstone.evaluate", stored);
    expect((await loaded()).load("f1")).toEqual({ data: "", form: BLANK_FORM });
  });
  it("takes of what is stored what makes sense", async () => {
    const form = {
      rounds: 3,
      model: "local",
      switches: ["nan", 4],
      evaluators: [
        { kind: "relevance", mapping: { query: 1, response: "answer" } },
        { name: "no kind" },
        null,
      ],
    };
    sessionStorage.setItem("touchstone.evaluate", JSON.stringify({ folder: "f1", data: 1, form }));
    const one = {
      key: 1,
      kind: "relevance",
      name: "",
      threshold: "",
      mapping: { response: "answer" },
      values: {},
    };
    expect((await loaded()).load("f1")).toEqual({
      data: "",
      form: { ...BLANK_FORM, model: "local", switches: ["nan"], evaluators: [one] },
    });
  });
});
