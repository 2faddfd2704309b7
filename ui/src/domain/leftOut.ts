// Pure. Kinds of runs that statistics leave out, with the filter that shows them.
import type { LeftOut } from "../generated";
import { both } from "./filter";

export type LeftOutCounts = Partial<LeftOut>;

export const LEFT_OUT: {
  field: keyof LeftOut;
  one: string;
  many: string;
  /** Shows these runs. */ filter: string;
  /** Leaves them out of a list. */ without: string;
  why: string;
}[] = [
  {
    field: "forks_left_out",
    one: "run (fork, continued or older copy)",
    many: "runs (forks, continued or older copies)",
    filter: "forked:yes",
    without: "forked:no",
    why: "Forks, runs with messages from a person, and older copies are not counted here",
  },
  {
    field: "replays_left_out",
    one: "replay",
    many: "replays",
    filter: "model:replay",
    without: "-model:replay",
    why: "Replays repeat what another model said, so they are not counted here",
  },
  {
    field: "evaluations_left_out",
    one: "row of an evaluation",
    many: "rows of evaluations",
    filter: "format:evaluated",
    without: "-format:evaluated",
    why: "Rows of data that evaluators looked at are no runs of the benchmark",
  },
];

/** The filter of the counted runs among those of a filter. */
export const countedOnly = (q: string, counts: LeftOutCounts): string =>
  LEFT_OUT.filter((kind) => (counts[kind.field] ?? 0) > 0).reduce(
    (all, kind) => both(all, kind.without),
    q,
  );
