// Pure. The plan of a launch as text and as lines of one list.
import { count, counted, money, short } from "../../domain/format";
import { namesRuns, type DraftCell, type LaunchDraft } from "../../domain/launchDraft";
import { isAboutKey } from "../shared/keyBlocker";
import type { Act, Estimate, LaunchPlan, PlannedRun, TaskChoice } from "../../generated";

export const ACTS: Record<
  Act,
  { title: string; tone: "right" | "wrong" | "part" | "busy" | "err" | "muted" }
> = {
  start: { title: "Run from the start", tone: "busy" },
  start_over: { title: "Start over; the old file is moved aside", tone: "part" },
  continue: { title: "Continue", tone: "busy" },
  nothing: { title: "Complete", tone: "right" },
  damaged: { title: "Damaged", tone: "wrong" },
  elsewhere: { title: "Run by another process", tone: "muted" },
  refused: { title: "Refused", tone: "wrong" },
};

/** What is done with a group. What cannot be replayed is skipped, which is no failure. */
export const actOf = ({ act, why }: Group): (typeof ACTS)[Act] =>
  act === "refused" && why?.startsWith("There is no recording") === true
    ? { title: "Skipped: no recording", tone: "muted" }
    : ACTS[act];

/** More reasons than this are listed line by line. */
const MOST_REASONS = 8;
/** Groups up to this size are open by default. */
const SMALL = 12;
const MOST_LINES = 200;

export interface Group {
  key: string;
  act: Act;
  /** Null if each run has its own reason. */
  why: string | null;
  runs: PlannedRun[];
}

/** The reason without the file that it names at its end: `There is no recording to replay.` */
const withoutFile = (why: string): string => why.replace(/: \S+\.\w+\.$/u, ".");

/** Groups runs by action, and by reason if there are few. */
export function groups(runs: readonly PlannedRun[]): Group[] {
  const acts = new Map<Act, PlannedRun[]>();
  for (const run of runs) {
    const same = acts.get(run.act);
    if (same) same.push(run);
    else acts.set(run.act, [run]);
  }
  return [...acts].flatMap(([act, all]): Group[] => {
    const whys = new Map<string, PlannedRun[]>();
    for (const run of all) {
      const why = withoutFile(run.why);
      const same = whys.get(why);
      if (same) same.push(run);
      else whys.set(why, [run]);
    }
    if (whys.size > MOST_REASONS) return [{ key: act, act, why: null, runs: all }];
    return [...whys].map(([why, some]) => ({ key: `${act} ${why}`, act, why, runs: some }));
  });
}

/** True if the file exists but does not match, which leaves a choice. */
export const mismatched = (group: Group): boolean =>
  group.act === "refused" && group.runs.some((run) => run.differs !== null);

export type Line =
  | { kind: "section"; key: string; title: string; note: string }
  | { kind: "group"; key: string; group: Group; open: boolean }
  | { kind: "run"; key: string; run: PlannedRun; why: boolean; open: boolean }
  | { kind: "text"; key: string; text: string };

/** A difference as short lines. */
export function differenceLines(text: string, wide: number): string[] {
  const lines = text
    .replace(/\n+$/, "")
    .split("\n")
    .flatMap((line) => {
      const pieces: string[] = [];
      for (let at = 0; at === 0 || at < line.length; at += wide)
        pieces.push(line.slice(at, at + wide));
      return pieces;
    });
  return lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), `… ${counted(lines.length - MOST_LINES, "more line")}`];
}

export interface Folds {
  has(key: string): boolean;
}
/** Complete runs are only counted by default. */
const isOpen = (group: Group, flipped: Folds) =>
  (group.runs.length <= SMALL && group.act !== "nothing") !== flipped.has(group.key);

/**
 * The plan as lines of equal height: runs to do and skipped, by reason. `flipped` are folds toggled
 * by the user; `wide` is the number of diff characters that fit.
 */
export function lines(plan: LaunchPlan, flipped: Folds, wide: number): Line[] {
  const section = (
    name: string,
    title: string,
    runs: readonly PlannedRun[],
    total: number,
  ): Line[] => {
    if (total === 0) return [];
    const note = runs.length < total ? `first ${count(runs.length)} listed` : "";
    return [
      { kind: "section", key: name, title, note },
      ...groups(runs).flatMap((group) => groupLines(group, flipped, wide)),
    ];
  };
  return [
    ...section("owed", owedTitle(plan), plan.owed, plan.owed_total),
    ...section("skipped", `${count(plan.skipped_total)} skipped`, plan.skipped, plan.skipped_total),
  ];
}

function groupLines(group: Group, flipped: Folds, wide: number): Line[] {
  const open = isOpen(group, flipped);
  const head: Line = { kind: "group", key: group.key, group, open };
  if (!open) return [head];
  return [
    head,
    ...group.runs.flatMap((run): Line[] => {
      const shown = run.differs !== null && flipped.has(run.path);
      const own: Line = { kind: "run", key: run.path, run, why: group.why === null, open: shown };
      return shown
        ? [
            own,
            ...differenceLines(run.differs ?? "", wide).map((text, at): Line => ({
              kind: "text",
              key: `${run.path} ${at}`,
              text,
            })),
          ]
        : [own];
    }),
  ];
}

/** One line for each reason that blocks runs, and whether a key is what they lack. */
export const blockedLines = (plan: LaunchPlan): { text: string; isKey: boolean }[] =>
  plan.blocked.map(({ why, fix, runs }) => ({
    text: `Cannot start here: ${why} (${counted(runs, "run")}).${fix === null ? "" : ` ${fix}`}`,
    isKey: isAboutKey({ message: why.replaceAll("_", " "), fix }),
  }));
/** The systems and models that are chosen: `tool_calling · replay`. */
export const chosenText = (draft: LaunchDraft): string => {
  const cells = draft.runs.length > 0 ? [] : draft.cells;
  const named = (own: readonly string[], ofCells: (cell: DraftCell) => string) =>
    [...new Set([...(namesRuns(draft) ? [] : own), ...cells.map(ofCells)])].join(", ");
  return [named(draft.systems, ({ system }) => system), named(draft.models, ({ model }) => model)]
    .filter((part) => part !== "")
    .join(" · ");
};
/** How many runs start, and how many cannot: `11 to run, 10 cannot start here`. */
const owedTitle = (plan: LaunchPlan): string =>
  plan.blocked_total === 0
    ? `${count(plan.owed_total)} to run`
    : `${count(startable(plan))} to run, ${count(plan.blocked_total)} cannot start here`;
/** Number of runs that the button starts. */
export const startable = (plan: LaunchPlan): number => plan.owed_total - plan.blocked_total;

/** The estimate; unknown figures are called unknown. */
export function estimateWords(
  estimate: Estimate,
  owed: number,
): { figures: string; basis: string } {
  if (owed === 0) return { figures: "", basis: "" };
  if (estimate.known === 0)
    return {
      figures: "Calls, tokens and cost are unknown",
      basis: "no past runs of these tasks",
    };
  if (estimate.known >= owed && estimate.calls === 0)
    return { figures: "No API calls", basis: "answered by recorded runs" };
  const figures = [
    estimate.calls === null ? "calls unknown" : `about ${counted(estimate.calls, "call")}`,
    estimate.tokens === null ? "tokens unknown" : `${short(estimate.tokens)} tokens`,
    estimate.cost === null ? "cost unknown" : money(estimate.cost),
  ].join(" · ");
  return {
    figures,
    basis:
      estimate.known >= owed
        ? "from past runs of the same tasks"
        : `for ${count(estimate.known)} of the ${counted(owed, "run")}; no past runs of the others`,
  };
}

/** Warning if the estimate exceeds the limit. */
export const overLimit = (estimate: Estimate, limit: number | null): string =>
  limit !== null && estimate.cost !== null && estimate.cost > limit
    ? `Above the limit of ${money(limit)}: the launch will probably stop early.`
    : "";

/** Tasks that match all words and `tag:x`. */
export function sought(tasks: readonly TaskChoice[], find: string): TaskChoice[] {
  const words = find
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return [...tasks];
  return tasks.filter((task) => {
    const text = `${task.id} ${task.name ?? ""}`.toLowerCase();
    return words.every((word) =>
      word.startsWith("tag:")
        ? task.tags.some((tag) => tagWord(tag) === word)
        : text.includes(word),
    );
  });
}
/** A tag in the syntax of the filter. */
export const tagWord = (tag: string): string => `tag:${tag.toLowerCase().replace(/\s+/g, "_")}`;
export function flipTag(find: string, tag: string): string {
  const words = find.split(/\s+/).filter((word) => word !== "");
  const word = tagWord(tag);
  return (
    words.some((one) => one.toLowerCase() === word)
      ? words.filter((one) => one.toLowerCase() !== word)
      : [...words, word]
  ).join(" ");
}
export const tagsOf = (tasks: readonly TaskChoice[]): string[] =>
  [...new Set(tasks.flatMap((task) => task.tags))].sort((a, b) => a.localeCompare(b));

/** Variations of tasks by number; named if all tasks agree on the name. */
export function variationsOf(
  tasks: readonly TaskChoice[],
): { index: number; name: string | null; tasks: number }[] {
  const most = tasks.reduce((sum, task) => Math.max(sum, task.variations.length), 0);
  return Array.from({ length: most }, (_, index) => {
    const names = tasks
      .filter((task) => index < task.variations.length)
      .map((task) => task.variations[index] ?? "");
    const own = [...new Set(names.filter((name) => name !== ""))];
    return {
      index,
      name: own.length === 1 ? (own[0] ?? null) : null,
      tasks: names.length,
    };
  });
}
