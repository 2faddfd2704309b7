import { beforeEach, describe, expect, it, vi } from "vitest";
import { BLANK, withOne, type Sheet } from "./sheet";

const filled = (): Sheet => {
  const sheet = withOne(
    {
      ...BLANK,
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
    ...sheet,
    evaluators: sheet.evaluators.map((one) => ({
      ...one,
      threshold: "0.7",
      mapping: { query: "item.question" },
      values: { source: "def grade(sample, item):\n    return 1.0" },
    })),
  };
};
/** As after a reload: nothing of the page is left but what the browser stored. */
const loaded = async () => {
  vi.resetModules();
  return (await import("./kept")).kept;
};

describe("the sheet of an evaluation", () => {
  beforeEach(() => sessionStorage.clear());
  it("is there after a reload as it was left, except that a file is replaced", async () => {
    (await loaded()).keep("f1", { sheet: filled(), data: "d1" });
    expect((await loaded()).of("f1")).toEqual({
      data: "d1",
      sheet: { ...filled(), replace: false },
    });
  });
  it("is that of its folder alone", async () => {
    (await loaded()).keep("f1", { sheet: filled(), data: "d1" });
    expect((await loaded()).of("f2")).toEqual({ data: "", sheet: BLANK });
  });
  it.each([
    ["nothing", null],
    ["no JSON", "{"],
    ["something else", '{"folder": "f1", "sheet": 7}'],
    ["a list", "[]"],
  ])("is empty where %s is stored", async (_, stored) => {
    if (stored !== null) sessionStorage.setItem("touchstone.evaluate", stored);
    expect((await loaded()).of("f1")).toEqual({ data: "", sheet: BLANK });
  });
  it("takes of what is stored what makes sense", async () => {
    const sheet = {
      rounds: 3,
      model: "local",
      switches: ["nan", 4],
      evaluators: [
        { kind: "relevance", mapping: { query: 1, response: "answer" } },
        { name: "no kind" },
        null,
      ],
    };
    sessionStorage.setItem("touchstone.evaluate", JSON.stringify({ folder: "f1", data: 1, sheet }));
    const one = {
      key: 1,
      kind: "relevance",
      name: "",
      threshold: "",
      mapping: { response: "answer" },
      values: {},
    };
    expect((await loaded()).of("f1")).toEqual({
      data: "",
      sheet: { ...BLANK, model: "local", switches: ["nan"], evaluators: [one] },
    });
  });
});
