// The scorecard of attacks as tables.
import type {
  AttackGroup,
  AttackRate,
  AttackTarget,
  ScanPlan,
  ScanTarget,
  SensitiveRuns,
} from "../generated";
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
  const named = (names: readonly string[]) => names.join(", ") || "not named";
  const what = `${counted(scan.attacks, "attack")}: ${named(scan.categories)}; strategies: ${named(scan.strategies)}`;
  const at = ({ model, address }: ScanTarget) =>
    address === null ? "" : ` (${model === null ? "" : `${model} at `}${address})`;
  const whom = scan.targets.map(
    (one) => `${counted(one.attacks, "attack")} to ${one.target}${at(one)}`,
  );
  const leading = scan.attackers.map((one) => {
    const name = one.target.slice(one.target.indexOf("/") + 1);
    const most = counted(one.requests ?? 0, "request");
    return (
      `${counted(one.attacks, "conversation")} led by ${name}${at(one)}: ` +
      `it gets the objectives and the answers, at most ${most}`
    );
  });
  return [what, ...whom, ...leading];
}

/** Everybody who receives something of a plan's attacks: the targets, and the models that lead. */
export const receivers = (scan: ScanPlan | null): ScanTarget[] =>
  scan === null ? [] : [...scan.targets, ...scan.attackers];

/** The receivers of a plan, as one text: equal if the same addresses and models get something. */
export const targetKey = (scan: ScanPlan | null): string =>
  JSON.stringify(
    receivers(scan)
      .map(({ target, model, address }) => JSON.stringify([target, model, address]))
      .sort(),
  );

/** True if somebody still has to confirm a receiver. */
export const isUnconfirmed = (scan: ScanPlan | null): boolean =>
  receivers(scan).some(({ confirmed }) => !confirmed);

/** True if the folder has runs whose texts are left out of what is written for others. */
export const hasSensitive = (runs: SensitiveRuns | undefined): boolean =>
  runs !== undefined && (runs.all || runs.tasks.length > 0 || runs.formats.length > 0);
