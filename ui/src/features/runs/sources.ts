// Pure. Which tool a row comes from, and which columns say nothing of any row.
import type { FacetValue, RunRow } from "../../generated";
import { visibleLine } from "../../components/visible/visible";
import type { TableColumn } from "./columns";

/** Names of the tools by their formats, as in `touchstone formats`. */
const TOOLS: Readonly<Record<string, string>> = {
  agentdojo: "AgentDojo",
  agentv: "AgentV",
  azure_redteam: "Azure red team",
  bfcl: "BFCL",
  claude_code: "Claude Code",
  codex: "Codex",
  deepeval: "DeepEval",
  evaluated: "Evaluated row",
  evaluation: "Azure evaluation",
  gemini_cli: "Gemini CLI",
  harbor: "Harbor",
  inspect: "Inspect",
  langfuse: "Langfuse",
  lm_eval: "LM Eval Harness",
  mini_swe_agent: "mini-swe-agent",
  openai_agents_sdk: "OpenAI Agents",
  openhands: "OpenHands",
  otel: "OpenTelemetry",
  promptfoo: "promptfoo",
  swe_agent: "SWE-agent",
  tau2_bench: "tau2-bench",
  tau_bench: "tau-bench",
};

/** Column of the tool that recorded a run; a run of this program has none. */
export const SOURCE: TableColumn = {
  id: "source",
  title: "Source",
  width: 8,
  grow: 1,
  number: false,
  text: (row) => (row.format === null ? "–" : (TOOLS[row.format] ?? visibleLine(row.format))),
  hint: (row) => visibleLine(row.path),
  token: (row) => (row.format === null ? null : { key: "format", value: row.format }),
};

/** True if rows come from several tools, or have no system that would tell them apart. */
export function hasSources(
  formats: readonly Pick<FacetValue, "value">[],
  pages: Iterable<readonly RunRow[]>,
): boolean {
  const tools = formats.filter(({ value }) => Object.hasOwn(TOOLS, value)).length;
  if (tools > 1 || (tools === 1 && formats.length > 1)) return true;
  for (const rows of pages)
    if (rows.some((row) => row.format !== null && row.system === null)) return true;
  return false;
}

/** Columns that are of no use where they say nothing of any row. */
const FOLDED = [
  "variation",
  "system",
  "model",
  "stored",
  "labels",
  "turns",
  "tool_calls",
  "tokens",
  "cost",
  "seconds",
];
const isFoldable = (id: string) => FOLDED.includes(id) || id.startsWith("verdict:");
const saysNothing = (text: string) => text === "–" || text === "";

/** Per page, whether a column says something of one of its rows. A page never changes. */
const said = new WeakMap<readonly RunRow[], Map<string, boolean>>();

function isSaid(column: TableColumn, rows: readonly RunRow[]): boolean {
  const known = said.get(rows) ?? new Map<string, boolean>();
  said.set(rows, known);
  const found = known.get(column.id) ?? rows.some((row) => !saysNothing(column.text(row)));
  known.set(column.id, found);
  return found;
}

/** The columns without those that say nothing of any listed row, unless a person chose them. */
export function withoutEmpty(
  columns: readonly TableColumn[],
  pages: readonly (readonly RunRow[])[],
  shown: Readonly<Record<string, boolean>>,
): TableColumn[] {
  const isWanted = (column: TableColumn) =>
    shown[column.id] === true ||
    !isFoldable(column.id) ||
    pages.some((rows) => isSaid(column, rows));
  return pages.some((rows) => rows.length > 0) ? columns.filter(isWanted) : [...columns];
}
