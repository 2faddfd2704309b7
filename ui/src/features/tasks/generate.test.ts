import { describe, expect, it } from "vitest";
import type { GenerationOptions } from "../../generated";
import {
  BLANK_FORM,
  formatEstimate,
  generationRequest,
  suiteName,
  wrongFile,
  wrongNumber,
} from "./generate";

const OPTIONS: GenerationOptions = {
  models: [],
  folder: "/work/tasks",
  most_bytes: 100,
  most_queries: 2_000,
  most_turns: 200,
  why_not: null,
};
const FORM = { ...BLANK_FORM, text: "The machine has two keys.", model: "local", name: " keys " };

describe("the form for generating tasks", () => {
  it("becomes a request once text, model and numbers are there", () => {
    expect(generationRequest({ ...FORM, kinds: " learn \n\nbuy", budget: "$2" }, OPTIONS)).toEqual({
      name: "keys",
      file: null,
      text: FORM.text,
      model: "local",
      queries: 20,
      turns: 1,
      tasks: ["learn", "buy"],
      max_cost: 2,
    });
    for (const missing of [{ text: " \n" }, { model: "" }, { queries: "" }, { turns: "0" }])
      expect(generationRequest({ ...FORM, ...missing }, OPTIONS)).toBeNull();
  });
  it.each([
    [{ queries: "0" }, "Questions are a number from 1 to 2,000."],
    [{ queries: "2001" }, "Questions are a number from 1 to 2,000."],
    [{ queries: "1.5" }, "Questions are a number from 1 to 2,000."],
    [{ turns: "201" }, "Turns are a number from 1 to 200."],
    [{ budget: "much" }, "The budget is a number of dollars."],
    [{ budget: "0" }, ""],
  ])("says what is wrong with %o", (change, expected) => {
    expect(wrongNumber({ ...FORM, ...change }, OPTIONS)).toBe(expected);
  });
  it("names a suite after its file, with signs that names may have", () => {
    expect(
      ["manual.md", "a/b: c?.csv", "..hidden.txt", "Übersicht 2.md", ".md"].map(suiteName),
    ).toEqual(["manual", "a-b- c-", "hidden", "Übersicht 2", ""]);
  });
  it("refuses files that are too large, binary or empty, and says why", () => {
    const file = { name: "a.md", size: 10 };
    expect(wrongFile(file, "text", 100)).toBe("");
    expect(wrongFile({ ...file, size: 101 }, "", 100)).toContain("larger than 100 bytes");
    expect(wrongFile(file, "a\0b", 100)).toContain("not a text");
    expect(wrongFile(file, " \n", 100)).toContain("holds no text");
  });
  it("never shows an unknown cost as 0", () => {
    const plan = { requests: 1, tokens: 2_600, cost: null, unbound: null };
    expect(formatEstimate(plan)).toContain("cost unknown");
    expect(formatEstimate({ ...plan, requests: 2, cost: 0.02 })).toBe(
      "2 requests · about 2.6k tokens · about $0.0200",
    );
  });
});
