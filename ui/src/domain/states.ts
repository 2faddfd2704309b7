// A state as a shape, a word and a colour. Pure.
import type { RunState } from "../generated/RunState";

interface StateBadge {
  word: string;
  icon: "speech" | "dash" | "pause" | "diamond" | "pen" | "torn" | "file";
  tone: "right" | "wrong" | "part" | "busy" | "err" | "muted";
}

/** A tick is only for what is right; that a run answered says nothing of that. */
export const STATES: Record<RunState, StateBadge> = {
  answered: { word: "Answered", icon: "speech", tone: "muted" },
  no_answer: { word: "No answer", icon: "dash", tone: "part" },
  waiting: { word: "Waiting", icon: "pause", tone: "busy" },
  error: { word: "Error", icon: "diamond", tone: "err" },
  writing: { word: "Writing", icon: "pen", tone: "busy" },
  damaged: { word: "Damaged", icon: "torn", tone: "wrong" },
  other: { word: "Not a run", icon: "file", tone: "muted" },
};

/** Nothing was counted in what could not be read as a run. */
export const isUnreadable = ({ state }: { state: RunState }): boolean =>
  state === "damaged" || state === "other";
