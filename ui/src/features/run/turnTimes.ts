// Pure. Time per turn as bars, relative to the longest turn, with labels.
import { count, seconds } from "../../domain/format";
import type { TurnTime } from "../../generated";

export interface TurnBar {
  /** Index of its first step. */
  step: number;
  /** Percent of the width; 0 for unrecorded times, which the label tells apart. */
  model: number;
  tools: number;
  /** Short duration. */
  took: string;
  /** The bar in a sentence. */
  says: string;
}

const turnTotal = (turn: TurnTime) => (turn.model ?? 0) + (turn.tools ?? 0);
const sideText = (name: string, value: number | null) =>
  `${name} ${value === null ? "unknown" : seconds(value)}`;

export function bars(turns: readonly TurnTime[]): TurnBar[] {
  const longest = turns.reduce((most, turn) => Math.max(most, turnTotal(turn)), 0);
  const part = (value: number | null) => (longest > 0 ? (100 * (value ?? 0)) / longest : 0);
  return turns.map((turn) => ({
    step: turn.step,
    model: part(turn.model),
    tools: part(turn.tools),
    took: seconds(turnTotal(turn)),
    says: `Step ${count(turn.step + 1)}, turn ${count(turn.turn)}: ${sideText("model", turn.model)}, ${sideText("tools", turn.tools)}`,
  }));
}

/** Totals of all turns; unrecorded sides are left out. */
export function formatTotals(turns: readonly TurnTime[]): string {
  const sum = (of: (turn: TurnTime) => number | null) =>
    turns
      .map(of)
      .reduce<number | null>((all, one) => (one === null ? all : (all ?? 0) + one), null);
  const [model, tools] = [sum((turn) => turn.model), sum((turn) => turn.tools)];
  return [
    model === null ? "" : `model ${seconds(model)}`,
    tools === null ? "" : `tools ${seconds(tools)}`,
  ]
    .filter(Boolean)
    .join(", ");
}
