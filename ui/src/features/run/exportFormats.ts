// Pure. Formats that a run can be written in, in display order.
import type { ExportFormat } from "../../generated";

export const EXPORT_FORMATS: readonly { id: ExportFormat; title: string; about: string }[] = [
  {
    id: "atif",
    title: "Trajectory (ATIF)",
    about: "Harbor's format: steps with calls, results and sub-agents.",
  },
  {
    id: "openai",
    title: "OpenAI messages",
    about: "A chat with its tool calls. Everything else stands in its metadata.",
  },
  {
    id: "inspect_json",
    title: "Inspect log",
    about: "A log with one sample, its scores and its expected answer.",
  },
];

const SESSIONS = ["claude_code", "codex", "gemini_cli"];

/** True for a session of a coding agent, which is redacted unless the user decides otherwise. */
export const isSession = (format: string | null): boolean =>
  format !== null && SESSIONS.includes(format);
