// Texts about the progress of launches, evaluations and judging, for the footer, the launch page
// and the run page.
import { count, counted, money } from "./format";
import type {
  EvaluationView,
  GenerationView,
  JudgingView,
  LaunchRun,
  LaunchRunState,
  LaunchState,
  LaunchView,
  SplitLaunch,
  SplitPart,
  SplitPartState,
  SplitState,
} from "../generated";
import type { Live } from "../backend/live";

/** Active runs come first in a launch; this bounds their number. */
const MAX_ACTIVE_RUNS = 200;

export const isActive = (launch: { state: LaunchState }): boolean =>
  launch.state === "running" || launch.state === "stopping";

export const LAUNCH_STATES: Record<LaunchState, { word: string; tone: "right" | "part" | "busy" }> =
  {
    running: { word: "Running", tone: "busy" },
    stopping: { word: "Stopping", tone: "part" },
    stopped: { word: "Stopped", tone: "part" },
    done: { word: "Done", tone: "right" },
  };

export const RUN_STATES: Record<
  LaunchRunState,
  {
    word: string;
    icon: "queue" | "play" | "speech" | "dash" | "diamond" | "stop" | "file";
    tone: "right" | "part" | "busy" | "err" | "muted";
  }
> = {
  waiting: { word: "Queued", icon: "queue", tone: "muted" },
  running: { word: "Running", icon: "play", tone: "busy" },
  answered: { word: "Answered", icon: "speech", tone: "muted" },
  no_answer: { word: "No answer", icon: "dash", tone: "part" },
  error: { word: "Error", icon: "diamond", tone: "err" },
  stopped: { word: "Stopped", icon: "stop", tone: "part" },
  elsewhere: { word: "Elsewhere", icon: "file", tone: "err" },
};

export const isSplitActive = (launch: Pick<SplitLaunch, "state">): boolean =>
  launch.state !== "unfinished" && launch.state !== "done";

export const SPLIT_STATES: Record<SplitState, { word: string; tone: "right" | "part" | "busy" }> = {
  waiting: { word: "Waiting", tone: "busy" },
  running: { word: "Running", tone: "busy" },
  stopping: { word: "Stopping", tone: "part" },
  unfinished: { word: "Ended, with runs left", tone: "part" },
  done: { word: "Done", tone: "right" },
};

export const PART_STATES: Record<
  SplitPartState,
  {
    word: string;
    icon: "queue" | "play" | "check" | "diamond" | "stop";
    tone: "right" | "part" | "busy" | "err" | "muted";
  }
> = {
  waiting: { word: "Waiting", icon: "queue", tone: "muted" },
  running: { word: "Running", icon: "play", tone: "busy" },
  stopping: { word: "Stopping", icon: "stop", tone: "part" },
  ended: { word: "Ended", icon: "check", tone: "muted" },
  lost: { word: "Lost", icon: "diamond", tone: "err" },
};

const look = (state: SplitPartState) => ({
  icon: PART_STATES[state].icon,
  tone: PART_STATES[state].tone,
});

/** Word and icon of a part. One that ended before its runs were complete does not look done. */
export const partLook = (part: SplitPart) => {
  const isComplete = part.total !== null && part.done >= part.total;
  return part.state === "ended" && !isComplete
    ? ({ word: "Ended", icon: "half", tone: "part" } as const)
    : PART_STATES[part.state];
};

/** Numbers of parts by state, without those that are 0. */
export const partCounts = (launch: SplitLaunch) =>
  (
    [
      { word: "running", value: launch.running, ...look("running") },
      { word: "lost", value: launch.lost, ...look("lost") },
      { word: "waiting", value: launch.waiting, ...look("waiting") },
      { word: "ended", value: launch.ended, ...look("ended") },
    ] as const
  ).filter((one) => one.value > 0);

/** Numbers of runs of a split launch by what became of them, without those that are 0. */
export function splitPieces(launch: SplitLaunch): { word: string; value: number; tone: string }[] {
  const { total, done, failed, at_work, left_out } = launch;
  return [
    { word: "complete", value: done, tone: "done" },
    { word: "failed", value: failed, tone: "failed" },
    { word: "not possible", value: left_out, tone: "stopped" },
    { word: "running", value: at_work, tone: "running" },
    {
      word: "left",
      value: Math.max(0, total - done - failed - at_work - left_out),
      tone: "waiting",
    },
  ].filter((piece) => piece.value > 0);
}

/** Launches of both kinds, newest first. */
export const launchesByTime = (
  launches: readonly LaunchView[],
  splits: readonly SplitLaunch[],
): { began: number; plain: LaunchView | null; split: SplitLaunch | null }[] =>
  [
    ...launches.map((plain) => ({ began: plain.began_ms, plain, split: null })),
    ...splits.map((split) => ({ began: split.began_ms, plain: null, split })),
  ].sort((one, other) => other.began - one.began);

/** All active split launches in a few words; null if there are none. */
export function splitsSummary(
  splits: readonly SplitLaunch[],
): { launch: string; text: string } | null {
  const working = splits.filter(isSplitActive);
  const [first] = working;
  if (first === undefined) return null;
  const sum = (pick: (one: SplitLaunch) => number) =>
    working.reduce((total, one) => total + pick(one), 0);
  return {
    launch: first.id,
    text: `${count(sum((one) => one.running))} of ${counted(
      sum((one) => one.parts),
      "part",
    )} running, ${count(sum((one) => one.done))} of ${count(sum((one) => one.total))}`,
  };
}

/** Cost so far and its limit. */
export function formatSpent(launch: Pick<LaunchView, "cost" | "max_cost" | "unpriced">): string {
  const most = launch.max_cost === null ? "" : ` of ${money(launch.max_cost)}`;
  // Replies without a known price alone do not tell the cost.
  const known = launch.cost === 0 && launch.unpriced > 0 ? "unknown" : money(launch.cost);
  return `${known}${most}`;
}
export const formatUnpriced = (launch: Pick<LaunchView, "unpriced">): string =>
  launch.unpriced === 0
    ? ""
    : `without ${counted(launch.unpriced, "reply", "replies")} of unknown cost`;

/** All active launches in a few words; null if there are none. */
export function launchesSummary(
  launches: readonly LaunchView[],
): { launch: string; text: string } | null {
  const working = launches.filter(isActive);
  const [first] = working;
  if (first === undefined) return null;
  const sum = (pick: (launch: LaunchView) => number) =>
    working.reduce((total, launch) => total + pick(launch), 0);
  const [finished, total] = [
    sum((launch) => launch.done + launch.failed + launch.elsewhere),
    sum((launch) => launch.total),
  ];
  const cost = formatSpent({
    cost: sum((launch) => launch.cost),
    unpriced: sum((launch) => launch.unpriced),
    max_cost: null,
  });
  const activity = working.every((launch) => launch.state === "stopping") ? "stopping" : "running";
  return {
    launch: first.id,
    text: `${count(sum((launch) => launch.running))} ${activity}, ${count(finished)} of ${count(total)} · ${cost === "unknown" ? "cost unknown" : cost}`,
  };
}

/** All active evaluations in a few words; null if there are none. */
export function evaluationsSummary(
  evaluations: readonly EvaluationView[],
): { evaluation: string; text: string } | null {
  const working = evaluations.filter(isActive);
  const [first] = working;
  if (first === undefined) return null;
  const sum = (pick: (one: EvaluationView) => number) =>
    working.reduce((total, one) => total + pick(one), 0);
  const activity = working.every((one) => one.state === "stopping") ? "stopping" : "running";
  const many = working.length > 1 ? `${count(working.length)} evaluations` : "evaluation";
  return {
    evaluation: first.id,
    text: `${many} ${activity}, ${count(sum(endedCount))} of ${count(sum((one) => one.total))}`,
  };
}

/** All active judging in a few words; null if there is none. */
export function judgingsSummary(
  judgings: readonly JudgingView[],
): { judging: string; text: string } | null {
  const working = judgings.filter(isActive);
  const [first] = working;
  if (first === undefined) return null;
  const sum = (pick: (one: JudgingView) => number) =>
    working.reduce((total, one) => total + pick(one), 0);
  const activity = working.every((one) => one.state === "stopping") ? "stopping" : "running";
  const many = working.length > 1 ? `${count(working.length)} judgings` : "judging";
  const cost = formatSpent({
    cost: sum((one) => one.cost),
    unpriced: working.filter((one) => one.unpriced).length,
    max_cost: null,
  });
  return {
    judging: first.id,
    text:
      `${many} ${activity}, ${count(sum((one) => one.done + one.failed + one.skipped))} of ` +
      `${count(sum((one) => one.total))} · ${cost === "unknown" ? "cost unknown" : cost}`,
  };
}

/** The active generation in a few words; null if there is none. There is one at most. */
export function generationsSummary(generations: readonly GenerationView[]): string | null {
  const working = generations.find(isActive);
  if (working === undefined) return null;
  const activity = working.state === "stopping" ? "stopping" : "generating tasks";
  return `${activity}, ${count(working.done)} of ${count(working.total)}`;
}

/** Number of finished rows of an evaluation. */
export const endedCount = (one: Pick<EvaluationView, "done" | "failed">): number =>
  one.done + one.failed;

/** The runs of active launches that run or are queued. */
function activeRuns(live: Live): { launch: LaunchView; run: LaunchRun }[] {
  return (live.query("launches", {}).data ?? [])
    .filter(isActive)
    .flatMap((launch) =>
      (
        live.query("launch", { id: launch.id, span: { offset: 0, limit: MAX_ACTIVE_RUNS } }).data
          ?.runs ?? []
      )
        .filter((run) => run.state === "running" || run.state === "waiting")
        .map((run) => ({ launch, run })),
    );
}

/**
 * Finds a run that runs or is queued in an active launch. Reading it in a template keeps it fresh.
 */
export function findActiveRun(
  live: Live,
  run: string,
): { launch: LaunchView; run: LaunchRun } | null {
  return activeRuns(live).find((one) => one.run.run === run) ?? null;
}

/** States of the runs of active launches, by id. Their files only show that they have not ended. */
export function activeStates(live: Live): ReadonlyMap<string, LaunchRunState> {
  return new Map(activeRuns(live).map(({ run }) => [run.run, run.state]));
}

/** Current activity of a run in one line; empty for a queued one. */
export function describeActivity(run: LaunchRun): string {
  if (run.state === "waiting") return "";
  return (
    [run.turn > 0 ? `turn ${count(run.turn)}` : "", run.doing ?? ""].filter(Boolean).join(" · ") ||
    "starting"
  );
}
