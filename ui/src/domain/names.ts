// Pure. Names of imported runs: what a dialog asks for, and what a new name means.
import type { Facet, RunNames } from "../generated";

export type NameKey = keyof RunNames;

export const NAME_TITLES: Record<NameKey, string> = {
  task: "Task",
  system: "System",
  model: "Model",
};

export const NAME_KEYS: readonly NameKey[] = ["task", "system", "model"];

/** Names as typed: without spaces around them; null where a field is empty. */
export function typedNames(fields: Record<NameKey, string>): RunNames {
  const typed = (text: string) => text.trim() || null;
  return {
    task: typed(fields.task),
    system: typed(fields.system),
    model: typed(fields.model),
  };
}

/** Number of other runs that have the new name already; 0 if the name is not new. */
export function mergedRuns(
  facets: readonly Facet[],
  key: NameKey,
  current: string | null,
  typed: string,
): number {
  const name = typed.trim();
  if (name === "" || name === current) return 0;
  const facet = facets.find((one) => one.key === key);
  return facet?.values.find((one) => one.value === name)?.count ?? 0;
}
