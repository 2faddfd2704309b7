// Pure. Other words for actions, by which the palette finds them.

const APPEARANCE = "theme colour color scheme mode";
const JUDGE = "llm grade evaluate rate score";

/** Words by the id of an action. */
const SYNONYMS: Readonly<Record<string, string>> = {
  sheet: "shortcuts keyboard hotkeys bindings help",
  guide: "help tutorial docs documentation introduction",
  overview: "matrix leaderboard dashboard home results table",
  runs: "list table results transcripts",
  tasks: "suites benchmark questions prompts",
  report: "export csv html markdown json jsonl junit parquet share download save print",
  trust: "agreement kappa reviewers raters reliability",
  history: "trend time drift regression baseline gate changed since compare days",
  launch: "run start execute benchmark experiment",
  launches: "progress jobs running queue",
  "stop-all": "cancel abort kill pause",
  evaluate: "csv jsonl dataset evaluators metrics azure",
  problems: "errors warnings broken damaged diagnostics",
  start: "folder recent project demo",
  "pick-folder": "open project directory",
  settings: "preferences options configuration api keys models doctor theme",
  "compare-with": "diff side by side",
  "theme-system": `${APPEARANCE} auto`,
  "theme-light": `${APPEARANCE} bright white`,
  "theme-dark": `${APPEARANCE} night black`,
  larger: "zoom in bigger font",
  smaller: "zoom out font",
  "usual-size": "reset zoom font",
  "review-runs": "queue annotate label rate grade human verdict",
  "queue-advance": "auto advance automatically",
  views: "saved filters queries presets bookmarks",
  columns: "hide show fields table",
  "run-fork": "branch copy duplicate continue differently edit",
  "run-nudge": "message reply chat nudge continue",
  "run-continue": "resume unpause",
  "run-again": "restart repeat retry run again",
  "run-export": "csv json download convert save harbor atif inspect openai",
  "run-find": "search",
  "run-raw": "source file yaml json",
  "run-link": "url address share permalink",
  "run-side": "sidebar details panel",
  "run-tree": "search branches paths",
  "run-judge": JUDGE,
  "run-difference": "diff mismatch wrong",
  "run-answer": "expected diff output result",
  "run-failure": "error failed problem exception",
  "run-failure-back": "error failed problem exception",
  "run-failed-next": "error wrong problem",
  "run-failed-previous": "error wrong problem",
  "review-right": "correct good approve pass verdict",
  "review-partly": "partial verdict",
  "review-wrong": "incorrect bad reject fail verdict",
  "review-note": "comment annotate",
};

/** Other words for an action. */
export const synonymsOf = (id: string): string[] => SYNONYMS[id]?.split(" ") ?? [];
