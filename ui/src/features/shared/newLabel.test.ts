import { expect, it } from "vitest";
import { newSchema, problemOfNew, type NewLabelDraft } from "./newLabel";

const draft = (change: Partial<NewLabelDraft>): NewLabelDraft => ({
  name: "tone",
  kind: "category",
  values: "",
  min: "",
  max: "",
  ...change,
});

it("a new label has the values that were written, one on each line", () => {
  const category = draft({ values: " kind \n\nrude" });
  expect(newSchema(category)).toEqual({ kind: "category", values: ["kind", "rude"] });
  expect(newSchema(draft({ kind: "number", max: "5" }))).toEqual({
    kind: "number",
    min: null,
    max: 5,
  });
  expect(newSchema(draft({ kind: "text", values: "x" }))).toEqual({ kind: "text" });
});

it.each<[Partial<NewLabelDraft>, string | null]>([
  [{ name: " " }, "Write a name."],
  [{ name: "Severity" }, "There is a label of this name. Choose another."],
  [{}, "Write at least one value."],
  [{ values: "a\na" }, "A value is there twice."],
  [{ values: "a\nb" }, null],
  [{ kind: "number", min: "x" }, "Write the bounds as numbers, or leave them empty."],
  [{ kind: "number", min: "2", max: "1" }, "The least value is above the greatest."],
  [{ kind: "text" }, null],
])("of a new label with %j it says %s", (change, problem) =>
  expect(problemOfNew(draft(change), ["severity"])).toBe(problem),
);
