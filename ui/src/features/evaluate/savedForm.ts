// The evaluation form saved across navigation and reload. Per folder; gone with the tab.
import { BLANK_FORM, type ChosenEvaluator, type EvaluateForm } from "./evaluateForm";

interface SavedForm {
  form: EvaluateForm;
  /** Id of the data file. */
  data: string;
}

const KEY = "touchstone.evaluate";
const EMPTY: SavedForm = { form: BLANK_FORM, data: "" };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const texts = (value: unknown): Record<string, string> =>
  isRecord(value)
    ? Object.fromEntries(
        Object.entries(value).filter(
          (pair): pair is [string, string] => typeof pair[1] === "string",
        ),
      )
    : {};
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

function evaluators(value: unknown): ChosenEvaluator[] {
  const known = list(value).filter(
    (one): one is Record<string, unknown> => isRecord(one) && text(one["kind"]) !== "",
  );
  return known.map((one, at) => ({
    key: at + 1,
    kind: text(one["kind"]),
    name: text(one["name"]),
    threshold: text(one["threshold"]),
    mapping: texts(one["mapping"]),
    values: texts(one["values"]),
  }));
}

/**
 * Parses a saved form and ignores invalid values. Confirmations to replace a file or repeat
 * requests are not restored.
 */
export function parseSavedForm(stored: string | null, folder: string): SavedForm {
  let value: unknown;
  try {
    value = JSON.parse(stored ?? "null");
  } catch {
    return EMPTY;
  }
  if (!isRecord(value) || value["folder"] !== folder || !isRecord(value["form"])) return EMPTY;
  const { model, rounds, budget, out, switches, evaluators: chosen } = value["form"];
  const words = { model: text(model), rounds: text(rounds), budget: text(budget), out: text(out) };
  return {
    data: text(value["data"]),
    form: {
      ...BLANK_FORM,
      ...words,
      switches: list(switches).filter((one): one is string => typeof one === "string"),
      evaluators: evaluators(chosen),
    },
  };
}

let left: (SavedForm & { folder: string }) | null = null;

export const savedForm = {
  load(folder: string): SavedForm {
    if (left?.folder === folder) return left;
    let stored: string | null = null;
    try {
      stored = sessionStorage.getItem(KEY);
    } catch {
      // Storage is disabled.
    }
    return parseSavedForm(stored, folder);
  },
  save(folder: string, now: SavedForm): void {
    left = { folder, ...now };
    try {
      sessionStorage.setItem(KEY, JSON.stringify(left));
    } catch {
      // Storage is full or disabled: the form lasts until a reload.
    }
  },
};
