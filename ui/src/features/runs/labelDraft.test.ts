import { expect, it } from "vitest";
import type { LabelSchema, LabelView } from "../../generated";
import { draftOf, editOf, kindText, problemOf, usesText } from "./labelDraft";

const label = (name: string, question: string | null, schema: LabelSchema | null): LabelView => ({
  name,
  question,
  schema,
  uses: [],
  error: null,
  count: null,
  values: [],
});
const quick = label("quick", "turns:<3", null);
const severity = label("severity", null, { kind: "category", values: ["low", "high"] });
const points = label("points", null, { kind: "number", min: 0, max: null });
const all = [quick, severity, points];

it("an edit has what is typed, and keeps the kind", () => {
  expect(editOf({ ...draftOf(quick), name: " fast ", question: " turns:<2 " }, quick)).toEqual({
    name: "fast",
    question: "turns:<2",
    schema: null,
  });
  const values = "low\n\n mid \nhigh";
  expect(editOf({ ...draftOf(severity), values }, severity).schema).toEqual({
    kind: "category",
    values: ["low", "mid", "high"],
  });
  expect(editOf({ ...draftOf(points), min: "", max: "0.5" }, points).schema).toEqual({
    kind: "number",
    min: null,
    max: 0.5,
  });
  for (const one of all) expect(editOf(draftOf(one), one).name).toBe(one.name);
});

it("a draft that cannot be saved says why", () => {
  const problem = (one: LabelView, change: object) =>
    problemOf({ ...draftOf(one), ...change }, one, all);
  expect(problem(quick, {})).toBeNull();
  expect(problem(quick, { name: "QUICK" })).toBeNull();
  expect(problem(quick, { name: "Points" })).toMatch(/There is a label of this name/);
  expect(problem(quick, { name: " " })).toBe("Write a name.");
  expect(problem(quick, { question: "" })).toBe("Write a filter.");
  expect(problem(severity, { values: " \n" })).toBe("Write at least one value.");
  expect(problem(severity, { values: "a\na" })).toBe("A value is there twice.");
  expect(problem(points, { max: "x" })).toMatch(/Write the bounds as numbers/);
  expect(problem(points, { min: "2", max: "1" })).toBe("The least value is above the greatest.");
});

it("says what a label is and what a change concerns", () => {
  expect(kindText(severity)).toBe("given by people: low, high");
  expect(kindText(points)).toBe("given by people: a number from 0");
  expect(usesText({ runs: 0, labels: [], views: [] })).toBe("No run has it.");
  expect(usesText({ runs: 1, labels: ["a", "b"], views: ["dear"] })).toBe(
    "1 run has it. Labels that ask for it: a, b. Views that ask for it: dear.",
  );
});
