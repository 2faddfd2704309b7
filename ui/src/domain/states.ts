// Pure. Icon, word and colour of run states.
import type { RunState } from "../generated";

interface StateBadge {
  word: string;
  icon: "speech" | "dash" | "pause" | "diamond" | "pen" | "torn" | "file";
  tone: "right" | "wrong" | "part" | "busy" | "err" | "muted";
}

/** The check mark is reserved for right answers; "answered" does not imply right. */
export const STATES: Record<RunState, StateBadge> = {
  answered: { word: "Answered", icon: "speech", tone: "muted" },
  no_answer: { word: "No answer", icon: "dash", tone: "part" },
  waiting: { word: "Paused", icon: "pause", tone: "busy" },
  error: { word: "Error", icon: "diamond", tone: "err" },
  writing: { word: "Writing", icon: "pen", tone: "busy" },
  damaged: { word: "Damaged", icon: "torn", tone: "wrong" },
  other: { word: "Not a run", icon: "file", tone: "muted" },
};

/** Unreadable files have no counts. */
export const isUnreadable = ({ state }: { state: RunState }): boolean =>
  state === "damaged" || state === "other";
