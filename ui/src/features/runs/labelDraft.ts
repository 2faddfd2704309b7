// Pure. What a label becomes while it is edited.
import type { LabelEdit, LabelSchema, LabelUses, LabelView } from "../../generated";
import { counted } from "../../domain/format";

/** The fields of the form, as typed. */
export interface LabelDraft {
  name: string;
  question: string;
  values: string;
  min: string;
  max: string;
}

const bound = (value: number | null): string => (value === null ? "" : String(value));

export function draftOf({ name, question, schema }: LabelView): LabelDraft {
  return {
    name,
    question: question ?? "",
    values: schema?.kind === "category" ? schema.values.join("\n") : "",
    min: schema?.kind === "number" ? bound(schema.min) : "",
    max: schema?.kind === "number" ? bound(schema.max) : "",
  };
}

const words = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
const number = (text: string): number | null => (text.trim() === "" ? null : Number(text));

function schemaOf(draft: LabelDraft, schema: LabelSchema): LabelSchema {
  if (schema.kind === "category") return { kind: "category", values: words(draft.values) };
  if (schema.kind === "number")
    return { kind: "number", min: number(draft.min), max: number(draft.max) };
  return schema;
}

export const editOf = (draft: LabelDraft, label: LabelView): LabelEdit => ({
  name: draft.name.trim(),
  question: label.question === null ? null : draft.question.trim(),
  schema: label.schema === null ? null : schemaOf(draft, label.schema),
});

/** What is wrong with a draft, as a sentence; null if it can be saved. */
export function problemOf(
  draft: LabelDraft,
  label: LabelView,
  all: readonly LabelView[],
): string | null {
  const { name, question, schema } = editOf(draft, label);
  if (name === "") return "Write a name.";
  const isTaken = (other: LabelView) =>
    other.name !== label.name && other.name.toLowerCase() === name.toLowerCase();
  if (all.some(isTaken)) return "There is a label of this name. Choose another.";
  if (question === "") return "Write a filter.";
  if (schema?.kind === "category") {
    if (schema.values.length === 0) return "Write at least one value.";
    if (new Set(schema.values).size < schema.values.length) return "A value is there twice.";
  }
  if (schema?.kind === "number") {
    const { min, max } = schema;
    if ([min, max].some((one) => one !== null && !Number.isFinite(one)))
      return "Write the bounds as numbers, or leave them empty.";
    if (min !== null && max !== null && min > max) return "The least value is above the greatest.";
  }
  return null;
}

/** What the label is, for one that people give. */
export function kindText({ schema }: LabelView): string {
  if (schema?.kind === "category") return `given by people: ${schema.values.join(", ")}`;
  if (schema?.kind === "number") {
    const { min, max } = schema;
    const from = min === null ? "" : ` from ${min}`;
    return `given by people: a number${from}${max === null ? "" : ` up to ${max}`}`;
  }
  return "given by people: a text";
}

/** What a change of a label concerns. */
export function usesText({ runs, labels, views }: LabelUses): string {
  const have =
    runs === 0 ? "No run has it." : `${counted(runs, "run")} ${runs === 1 ? "has" : "have"} it.`;
  const asked = labels.length === 0 ? "" : ` Labels that ask for it: ${labels.join(", ")}.`;
  const seen = views.length === 0 ? "" : ` Views that ask for it: ${views.join(", ")}.`;
  return `${have}${asked}${seen}`;
}
