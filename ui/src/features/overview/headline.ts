// Pure. The causes of failures that the headline of the overview names.
import { causeOf } from "../../domain/failures";
import type { FailureMap } from "../../generated";

const CAUSES = 2;
/**
 * The most frequent kinds of causes, with the cause in the address of Failures. Errors, which say
 * nothing about an answer, are named only if nothing else is.
 */
export function topCauses({ kinds, clusters }: Pick<FailureMap, "kinds" | "clusters">) {
  const found = kinds.filter((kind) => kind.runs > 0);
  const wrong = found.filter((kind) => !kind.is_error);
  return (wrong.length > 0 ? wrong : found)
    .toSorted((a, b) => b.runs - a.runs)
    .slice(0, CAUSES)
    .map(({ kind, title, is_error, runs, causes }) => {
      // The list shows a kind with one cause as that cause.
      const only = causes <= 1 ? clusters.find((one) => one.kind === kind && one.runs > 0) : null;
      const cause = only ? causeOf(only) : JSON.stringify(["kind", kind, ""]);
      const name = only?.title ?? title;
      return { title: is_error ? `${name} (error)` : name, runs, cause };
    });
}

/** Runs that ended in an error, beside others that failed; 0 if none else did. */
export const errorsBeside = ({ kinds }: Pick<FailureMap, "kinds">): number =>
  kinds.some((kind) => kind.runs > 0 && !kind.is_error)
    ? kinds.filter((kind) => kind.is_error).reduce((sum, kind) => sum + kind.runs, 0)
    : 0;
