// Pure. What the picker of labels offers for a run: values of labels that exist, and a new label.
import type { LabelSchema } from "../../generated";
import { sift } from "../../components/fuzzy";
import { visibleLine } from "../../components/visible/visible";
import { wrongLabel } from "./review.svelte";

/** Schema of a label that a run has or has not. */
export const YES_NO: LabelSchema = { kind: "category", values: ["yes", "no"] };
const [YES, NO] = ["yes", "no"];

export interface GivenLabel {
  name: string;
  schema: LabelSchema;
}

export type LabelChoice = { text: string } & (
  | { kind: "give"; name: string; value: string }
  /** The run has this value, which is taken away. */
  | { kind: "take"; name: string }
  /** The value is written in the field of the label. */
  | { kind: "write"; name: string }
  | { kind: "create"; name: string }
  /** Opens the form of a label with values. */
  | { kind: "form" }
);

const isNamed = (name: string, sought: string): boolean =>
  sought.toLowerCase().startsWith(`${name.toLowerCase()}:`);
const isYesNo = (schema: LabelSchema): boolean =>
  schema.kind === "category" &&
  schema.values.length === 2 &&
  [YES, NO].every((value) => schema.values.includes(value));

/**
 * The choices of one label for what is typed, which may have its value, as `points: 4`. That a
 * label does not hold is rarely said, so it is offered only where something is typed.
 */
function choicesOf({ name, schema }: GivenLabel, given: string, sought: string): LabelChoice[] {
  const said = isNamed(name, sought) ? sought.slice(name.length + 1).trim() : "";
  const one = (value: string, text: string): LabelChoice =>
    given === value ? { kind: "take", name, text } : { kind: "give", name, value, text };
  const title = visibleLine(name);
  if (isYesNo(schema))
    return sought === "" && given !== NO
      ? [one(YES, title)]
      : [one(YES, title), one(NO, `${title}: ${NO}`)];
  if (schema.kind === "category")
    return [...new Set(schema.values)].map((value) =>
      one(value, `${title}: ${visibleLine(value)}`),
    );
  if (said !== "" && wrongLabel(schema, said) === null)
    return [{ kind: "give", name, value: said, text: `${title}: ${visibleLine(said)}` }];
  return [{ kind: "write", name, text: `${title}: ${given === "" ? "…" : visibleLine(given)}` }];
}

/**
 * The choices for what is typed, the best first. A word that names no label is offered as a new
 * one, which the run then has: first, unless a choice holds it as it is typed. `taken` are all
 * names of labels, also of those of a filter.
 */
export function labelChoices(
  labels: readonly GivenLabel[],
  given: Readonly<Record<string, string>>,
  typed: string,
  taken: readonly string[],
): LabelChoice[] {
  const sought = typed.trim();
  const all = labels.flatMap((label) => choicesOf(label, given[label.name] ?? "", sought));
  const isNew =
    sought !== "" &&
    !taken.some((name) => name.toLowerCase() === sought.toLowerCase() || isNamed(name, sought));
  const found = sift(all, sought, ({ text }) => text);
  const isHeld = found.some(({ text }) => text.toLowerCase().includes(sought.toLowerCase()));
  const created: LabelChoice[] = isNew
    ? [{ kind: "create", name: sought, text: `Create label “${visibleLine(sought)}”` }]
    : [];
  return [
    ...(isHeld ? [...found, ...created] : [...created, ...found]),
    { kind: "form", text: "New label with values…" },
  ];
}
