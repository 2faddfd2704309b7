// Launches for tests: options, plan and progress.
import type {
  Act,
  Choice,
  LaunchOptions,
  LaunchPlan,
  LaunchRun,
  LaunchView,
  PlannedRun,
} from "../generated";

export const choice = (
  name: string,
  detail = "",
  why: string | null = null,
  fix: string | null = null,
): Choice => ({ name, detail, why_not: why === null ? null : { message: why, fix } });

export const OPTIONS: LaunchOptions = {
  tasks: [
    {
      id: "churn_risk",
      name: null,
      tags: ["sql"],
      variations: ["last 20", "last 30", "all"],
      repeat: 1,
      user: null,
    },
    {
      id: "support/prioritize_tickets",
      name: "Prioritize tickets",
      tags: ["sql", "python"],
      variations: ["last 20", "last 30"],
      repeat: 2,
      user: null,
    },
    { id: "resolution_time", name: null, tags: [], variations: ["all"], repeat: 1, user: null },
  ],
  systems: [
    choice(
      "promptql",
      "PromptQL API",
      "No address is set for it.",
      "Write `systems.promptql.base_url` into the workspace file.",
    ),
    choice("tool_calling", "the model with the tools of the workspace"),
    choice("tool_calling_python", "the same, with Python"),
  ],
  models: [
    choice("claude", "anthropic, claude-3-5-sonnet"),
    choice("o1", "openai, o1", "The key OPENAI_API_KEY is not set.", "Set it in Settings."),
    choice("replay", "answers from recorded transcripts; not a model"),
  ],
  tools: [choice("query_tickets", "sql")],
  concurrency: 4,
  max_cost: null,
  user_model: null,
  search: null,
  wrong: [],
  why_not: null,
};

export function planned(
  index: number,
  act: Act,
  why: string,
  change: Partial<PlannedRun> = {},
): PlannedRun {
  return {
    path: `churn_risk-tool_calling-claude-variation${index % 3}-run${index}.yaml`,
    run: `r${index}`,
    task: "churn_risk",
    system: "tool_calling",
    model: "claude",
    variation: index % 3,
    repeat: index,
    act,
    why,
    differs: null,
    ...change,
  };
}
export const plan = (
  owed: PlannedRun[],
  skipped: PlannedRun[] = [],
  change: Partial<LaunchPlan> = {},
): LaunchPlan => ({
  owed,
  owed_total: owed.length,
  skipped,
  skipped_total: skipped.length,
  estimate: { known: 0, calls: null, tokens: null, cost: null },
  unbound: null,
  blocked: [],
  blocked_total: 0,
  user_models: [],
  notes: [],
  unpriced: null,
  problems: [],
  invalid: null,
  scan: null,
  ...change,
});

export const launchRun = (index: number, change: Partial<LaunchRun> = {}): LaunchRun => ({
  run: `r${index}`,
  path: `churn_risk-tool_calling-claude-variation${index % 3}-run${index}.yaml`,
  state: "running",
  turn: 2,
  doing: "asking claude",
  tokens: 1_200,
  cost: 0.02,
  seconds: 12,
  ...change,
});
export const launched = (id: string, change: Partial<LaunchView> = {}): LaunchView => ({
  id,
  what: "3 tasks · promptql/claude",
  began_ms: Date.UTC(2025, 0, 20, 12),
  ended_ms: null,
  state: "running",
  why: null,
  total: 10,
  waiting: 5,
  running: 2,
  done: 2,
  failed: 1,
  stopped: 0,
  elsewhere: 0,
  tokens: 45_000,
  cost: 0.42,
  unpriced: 0,
  max_cost: null,
  notes: [],
  more_notes: 0,
  runs: [],
  ...change,
});
