// Pure. Names of imported runs: what a dialog asks for, and what a new name means. Names of columns.
import type { Facet, OwnName, RunNames, RunRow, RunView } from "../generated";

export type NameKey = keyof RunNames;

export const NAME_TITLES: Record<NameKey, string> = {
  task: "Task",
  system: "System",
  model: "Model",
};

export const NAME_KEYS: readonly NameKey[] = ["task", "system", "model"];

/**
 * The variation of a run in words: its name, else its number; nothing for the only variation of a
 * task. Imported runs have one, and of a suite with several ones each has a name.
 */
export function variationText(
  row: Pick<RunRow, "variation" | "variation_name" | "format" | "scoring" | "member">,
): string {
  if (row.variation_name !== null) return row.variation_name;
  const isKnown = row.format !== null || row.scoring !== null || row.member !== null;
  const isOnly = row.variation === 0 && isKnown;
  return row.variation === null || isOnly ? "" : `variation ${row.variation}`;
}

/** What a run is called: its task, else the first message of its user, else its file. */
export const runName = (row: Pick<RunRow, "task" | "prompt" | "path">): string =>
  row.task ?? row.prompt ?? row.path;

/** True for the name of a column of one's own: `answer.items[0].id`, `fact:run.version`. */
export const isOwnName = (word: string): word is OwnName =>
  /^(?:answer(?:[.[].*)?|(?:fact|label|score|verdict):.+)$/su.test(word);

/** Most names that are offered for completion. */
const MOST_NAMES = 200;

/** Names as typed: without spaces around them; null where a field is empty. */
export function typedNames(fields: Record<NameKey, string>): RunNames {
  const typed = (text: string) => text.trim() || null;
  return {
    task: typed(fields.task),
    system: typed(fields.system),
    model: typed(fields.model),
  };
}

/** Names that other runs have, for completion; most frequent first. */
export function knownNames(facets: readonly Facet[], key: NameKey): string[] {
  const values = facets.find((one) => one.key === key)?.values ?? [];
  return values.slice(0, MOST_NAMES).map((one) => one.value);
}

/** Names in the file of an imported run that are not the names of the run. */
export function correctedNames(
  view: Pick<RunView, "own_names" | "row">,
): { key: NameKey; own: string | null }[] {
  const own = view.own_names;
  if (own === null) return [];
  return NAME_KEYS.filter((key) => own[key] !== view.row[key]).map((key) => ({
    key,
    own: own[key],
  }));
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

/** True for the file of a sub-agent, which the run that started it holds, too. */
export const isSubAgent = (row: { format: string | null; path: string }): boolean =>
  row.format === "claude_code" && /(?:^|\/)agent-[^/]*\.jsonl/u.test(row.path);
