// The scorecard of attacks as tables.
import type { AttackGroup, AttackRate, AttackTarget, ScanPlan, SensitiveRuns } from "../generated";
import { counted } from "./format";

/** A row of rates; null where there are no attacks. */
export interface RateRow {
  name: string;
  rates: (AttackRate | null)[];
}

export interface RateTable {
  heads: string[];
  rows: RateRow[];
}

/** A share in per cent; a dash for none, which is not 0. */
export const percent = (share: number | null): string =>
  share === null ? "–" : `${Math.round(share * 100)} %`;

function table(cells: readonly { row: string; head: string; rate: AttackRate }[]): RateTable {
  const heads = [...new Set(cells.map(({ head }) => head))];
  const rows = [...new Set(cells.map(({ row }) => row))].map((name) => ({
    name,
    rates: heads.map(
      (head) => cells.find((cell) => cell.row === name && cell.head === head)?.rate ?? null,
    ),
  }));
  return { heads, rows };
}

/** Categories against complexities. */
export const jointTable = (joint: readonly AttackGroup[]): RateTable =>
  table(
    joint.map(({ name, rate }) => {
      const at = name.indexOf("/");
      return { row: name.slice(0, at), head: name.slice(at + 1), rate };
    }),
  );

/** Systems against strategies, with the baseline first. */
export const systemTable = (targets: readonly AttackTarget[]): RateTable =>
  table(
    [...targets]
      .sort((a, b) => Number(b.attack === "baseline") - Number(a.attack === "baseline"))
      .map(({ target, attack, rate }) => ({ row: target, head: attack, rate })),
  );

/** What a plan sends that attacks, and to whom, one line each. */
export function scanLines(scan: ScanPlan): string[] {
  const what = `${counted(scan.attacks, "attack")}: ${scan.categories.join(", ")}; strategies: ${scan.strategies.join(", ")}`;
  const whom = scan.targets.map(({ target, model, address, attacks }) => {
    const to = address === null ? "" : ` (${model === null ? "" : `${model} at `}${address})`;
    return `${counted(attacks, "attack")} to ${target}${to}`;
  });
  return [what, ...whom];
}

/** The targets of a plan, as one text: equal if the same addresses and models are attacked. */
export const targetKey = (scan: ScanPlan | null): string =>
  JSON.stringify(
    (scan?.targets ?? [])
      .map(({ target, model, address }) => JSON.stringify([target, model, address]))
      .sort(),
  );

/** True if somebody still has to confirm a target. */
export const isUnconfirmed = (scan: ScanPlan | null): boolean =>
  scan?.targets.some(({ confirmed }) => !confirmed) ?? false;

/** True if the folder has runs whose texts are left out of what is written for others. */
export const hasSensitive = (runs: SensitiveRuns | undefined): boolean =>
  runs !== undefined && (runs.all || runs.tasks.length > 0 || runs.formats.length > 0);
