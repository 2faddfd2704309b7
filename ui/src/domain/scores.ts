// Pure. Icon, word and colour of scores, verdicts and failures.
import { counted, fixed } from "./format";
import type {
  FailureClass,
  RunRow,
  ScoreStanding,
  RunScore,
  StoredBrief,
  StoredCount,
  StoredResult,
  StoredVerdict,
  Verdict,
} from "../generated";
import type { IconName } from "../components/Icon.svelte";

export type Tone = "right" | "part" | "wrong" | "err" | "muted";
interface ScoreBadge {
  word: string;
  icon: IconName;
  tone: Tone;
}

export const VERDICTS: Record<Verdict, ScoreBadge> = {
  right: { word: "Right", icon: "check", tone: "right" },
  partly: { word: "Partly right", icon: "half", tone: "part" },
  wrong: { word: "Wrong", icon: "cross", tone: "wrong" },
};

export const CLASSES: Record<Exclude<FailureClass, "wrong_answer">, string> = {
  no_answer: "No answer",
  missing_tool_call: "Missing tool call",
  tool_error: "Tool error",
  gave_up: "Gave up",
  system_error: "System error",
  timeout: "Timeout",
};

/** The failure class, else the grade; for wrong answers the grade says more. */
export const badgeWord = ({ word, tone }: ScoreBadge, found: FailureClass | null): string =>
  found === null || found === "wrong_answer" || tone === "right" ? word : CLASSES[found];

/** Badges for runs without a score. */
export const STANDINGS: Record<Exclude<ScoreStanding, "scored">, ScoreBadge> = {
  error: { word: "System error", icon: "diamond", tone: "err" },
  no_expected: { word: "No expected output", icon: "dash", tone: "muted" },
  not_ended: { word: "Not finished", icon: "pause", tone: "muted" },
  waiting: { word: "Not scored yet", icon: "pause", tone: "muted" },
  failed: { word: "Scorer failed", icon: "warning", tone: "err" },
};

/** Default limits without a threshold: below is wrong, from here on is right. */
export const WRONG_BELOW = 0.5;
export const RIGHT_FROM = 0.95;

/** A score of another tool that says nothing about passing: more may be better or worse. */
const UNGRADED: ScoreBadge = { word: "Score", icon: "dash", tone: "muted" };

/**
 * Grade of one score. The threshold decides; without one, only a nearly full score is right. A score that
 * a file of another tool brings is graded by its threshold alone.
 */
export function grade(score: number, passed: boolean | null, isImported = false): ScoreBadge {
  if (isImported && passed === null) return UNGRADED;
  if (passed ?? score >= RIGHT_FROM) return VERDICTS.right;
  return score < WRONG_BELOW ? VERDICTS.wrong : VERDICTS.partly;
}

/**
 * Badges of imported verdicts; their numbers are not interpreted. A failed evaluator says nothing
 * about the answer.
 */
export const STORED: Readonly<Record<StoredResult, ScoreBadge>> = {
  pass: { word: "passes", icon: "check", tone: "right" },
  fail: { word: "does not pass", icon: "cross", tone: "wrong" },
  open: { word: "no verdict", icon: "dash", tone: "muted" },
  error: { word: "evaluator failed", icon: "warning", tone: "err" },
  none: { word: "no result", icon: "half", tone: "part" },
};

/** Counts the verdicts of a run like its row does. */
export function countVerdicts(stored: readonly Pick<StoredVerdict, "result">[]): StoredCount {
  const number = (result: StoredResult) => stored.filter((one) => one.result === result).length;
  const passed = number("pass");
  return { passed, decided: passed + number("fail"), errors: number("error") };
}

/** What evaluators say of a run together; null where none of them decides. */
export function verdictsBadge({ passed, decided, errors }: StoredCount): ScoreBadge | null {
  if (decided === 0)
    return errors === 0 ? null : { ...STORED.error, word: counted(errors, "evaluator error") };
  const failed = decided - passed;
  const look = STORED[failed === 0 ? "pass" : "fail"];
  const verb = failed === 0 ? "Passes" : "Fails";
  if (decided === 1) return { ...look, word: `${verb} its evaluator` };
  return { ...look, word: `${verb} ${failed || passed} of ${counted(decided, "evaluator")}` };
}

/** True of a score that a file brings; its rule has no version. */
export const isFromFile = ({ version }: Pick<RunScore, "version">): boolean => version === 0;

/** The verdict in the file that is this score. */
export const verdictOf = (
  score: RunScore,
  stored: readonly StoredVerdict[],
): StoredVerdict | undefined =>
  isFromFile(score)
    ? stored.find(
        (one) =>
          one.evaluator === score.scorer &&
          (one.score === null || Number(one.score) === score.score),
      )
    : undefined;

/**
 * Scores and verdicts of a run, each once: a verdict that is a score is only a score, and a score that
 * an error withholds is only the verdict that the file has.
 */
export function ratingsOnce<S extends RunScore, V extends StoredVerdict>(
  scores: readonly S[],
  stored: readonly V[],
): { scores: S[]; verdicts: V[] } {
  const counted = scores.filter((one) => one.standing === "scored");
  return {
    scores: scores.filter(
      (one, at) =>
        at === 0 ||
        one.standing === "scored" ||
        !isFromFile(one) ||
        stored.every(({ evaluator }) => evaluator !== one.scorer),
    ),
    verdicts: stored.filter((one) => counted.every((score) => verdictOf(score, stored) !== one)),
  };
}

/** A score as written in a file, long fractions shortened. */
export const writtenScore = (score: string): string =>
  /^-?\d+\.\d{4,}(e-?\d+)?$/iu.test(score) ? fixed(Number(score), 3) : score;

/** Word and number of an imported verdict; empty if it has neither. */
export const importedText = ({ word, score }: Pick<StoredBrief, "word" | "score">): string =>
  [word, score === null ? null : writtenScore(score)].filter((text) => text !== null).join(" · ");

/**
 * What evaluators say of a row that they were applied to, as its result page shows it; none for a
 * run that has a scorer.
 */
export const evaluatorScores = (row: Pick<RunRow, "scoring" | "verdicts">): string[] =>
  row.scoring !== null
    ? []
    : row.verdicts.flatMap(({ score, word }) => {
        const text = score === null || score === "" ? word : writtenScore(score);
        return text === null || text === "" ? [] : [text];
      });

/** Two decimals, so that scores align; 1.00 and 0.00 only for exact values. */
export function scoreText(score: number): string {
  const text = fixed(score, 2);
  if (text === "1.00" && score < 1) return ">0.99";
  return text === "0.00" && score > 0 ? "<0.01" : text;
}

/** The engine's reason that only repeats the badge. */
const NOTHING_EXPECTED = "There is no expected output.";

type Scored = Pick<RunRow, "scoring" | "score" | "passed" | "score_reason" | "class" | "format">;

/** True if a reason only repeats the badge word. */
export const repeatsWord = (reason: string | null, word: string): boolean =>
  (reason ?? "").replace(/\.$/, "").toLowerCase() === word.toLowerCase();

/**
 * Badge, score and reason of a run; null without a scoring, for example without a task. `why` holds
 * the reason of the failure.
 */
export function scoreBadge(row: Scored): (ScoreBadge & { score: string; why: string }) | null {
  if (row.scoring === null) return null;
  const said = (look: ScoreBadge, score: string) => ({
    ...look,
    score,
    why:
      repeatsWord(row.score_reason, look.word) || row.score_reason === NOTHING_EXPECTED
        ? ""
        : (row.score_reason ?? ""),
  });
  if (row.scoring !== "scored" || row.score === null)
    return said(STANDINGS[row.scoring === "scored" ? "failed" : row.scoring], "");
  const look = grade(row.score, row.passed, row.format !== null);
  return said({ ...look, word: badgeWord(look, row.class) }, scoreText(row.score));
}

/** Like `scoreBadge`, next to the state of the run: a waiting run gets no second badge. */
export const scoreBadgeBesideState = (
  row: Scored & Pick<RunRow, "state">,
): ReturnType<typeof scoreBadge> =>
  row.scoring === "not_ended" && row.state === "waiting" ? null : scoreBadge(row);

const SCORER_HINTS: Record<string, string> = {
  exact: "1 if the answer equals the expected one, else 0",
  fields: "share of correct expected fields; extra rows are penalised",
  numeric: "1 for the right number, less with distance",
  prefix_list: "share of the expected list matched from its start",
  similar_list: "each item is penalised by its distance from its expected position",
  kendall_tau: "order of the items; compatible with the published benchmark's score",
  text: "text similarity; compatible with azure-ai-evaluation",
  text_similarity: "text similarity; compatible with azure's text similarity grader",
  string_check: "text comparison; compatible with azure's string check grader",
  tool_calls: "share of the expected tool calls made",
  api_calls:
    "share of the right APIs that were called, each counted once; function names count as their API",
  finish: "1 if the run ended by calling Finish, else 0",
  seed_heuristic: "not a judge: a heuristic of length, excuses, Finish and API call score",
  python: "a program of the suite, run in the sandbox",
  judge: "a model judges the answer in several rounds",
};

/** Hints for options that change what is counted. */
const VARIANT_HINTS: Record<string, string> = {
  "api_calls: seed":
    "share of calls as in the original, which cuts names at the first underscore and misses most functions",
  "finish: official": "1 if Finish is the last tool call, with any arguments, else 0",
  "finish: document": "1 if Finish was called, with any arguments, else 0",
  "finish: seed": "always 0, because the original checks the wrong field for Finish",
  "seed_heuristic: seed": "not a judge: the original heuristic, including its bugs",
};

/** Describes a scorer in a few words; empty if unknown. */
export const describeScorer = (scorer: string): string =>
  VARIANT_HINTS[scorer] ?? SCORER_HINTS[scorer.split(":", 1)[0]?.trim() ?? ""] ?? "";

const VERDICT = "verdict:";
/** Returns the evaluator that a scorer stands for; null for a scorer of tasks. */
export const evaluatorOf = (scorer: string): string | null =>
  scorer.startsWith(VERDICT) ? scorer.slice(VERDICT.length) : null;
/** Returns the scorer that stands for an evaluator. */
export const scorerOf = (evaluator: string): string => `${VERDICT}${evaluator}`;

/**
 * Returns the scorer to begin with where only evaluators say which runs pass: the first of them. Null
 * where tasks have scorers, and where the verdicts are those of evaluations, which are not counted.
 */
export function firstEvaluator(
  known: { scorers: readonly string[]; evaluations_left_out: number } | null | undefined,
): string | null {
  const [first] = known?.scorers ?? [];
  return first !== undefined && evaluatorOf(first) !== null && known?.evaluations_left_out === 0
    ? first
    : null;
}
