// Pure. A new label that people give: what it becomes, and what is wrong with it.
import type { LabelSchema } from "../../generated";

/** The fields of the form, as typed. */
export interface NewLabelDraft {
  name: string;
  kind: LabelSchema["kind"];
  /** One on each line. */
  values: string;
  min: string;
  max: string;
}

const bound = (text: string): number | null => (text.trim() === "" ? null : Number(text));

export function newSchema({ kind, values, min, max }: NewLabelDraft): LabelSchema {
  switch (kind) {
    case "category":
      return {
        kind,
        values: values
          .split("\n")
          .map((line) => line.trim())
          .filter((line) => line !== ""),
      };
    case "number":
      return { kind, min: bound(min), max: bound(max) };
    case "text":
      return { kind };
  }
}

/** What is wrong with a draft, as a sentence; null if it can be added. */
export function problemOfNew(draft: NewLabelDraft, taken: readonly string[]): string | null {
  const name = draft.name.trim();
  if (name === "") return "Write a name.";
  if (taken.some((other) => other.toLowerCase() === name.toLowerCase()))
    return "There is a label of this name. Choose another.";
  const schema = newSchema(draft);
  if (schema.kind === "category") {
    if (schema.values.length === 0) return "Write at least one value.";
    if (new Set(schema.values).size < schema.values.length) return "A value is there twice.";
  }
  if (schema.kind === "number") {
    const { min, max } = schema;
    if ([min, max].some((one) => one !== null && !Number.isFinite(one)))
      return "Write the bounds as numbers, or leave them empty.";
    if (min !== null && max !== null && min > max) return "The least value is above the greatest.";
  }
  return null;
}
