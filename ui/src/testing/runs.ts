// Runs for tests and a backend that serves them in pieces.
import type { Backend } from "../backend/backend";
import { Fixture, runRow } from "./fakeBackend";
import type {
  EditableStep,
  Language,
  Part,
  RunOutline,
  RunRow,
  RunView,
  Step,
  StepGroup,
  StepPart,
} from "../generated";

export const text = (
  id: string,
  label: string,
  body: string,
  language: Language = "plain",
): Part => ({
  id,
  label,
  bytes: body.length,
  body: { kind: "text", language, text: body, whole: true },
});
export const value = (id: string, label: string, body: unknown): Part => ({
  id,
  label,
  bytes: 9,
  body: { kind: "value", text: JSON.stringify(body, null, 2), whole: true },
});
export const table = (id: string, label: string, total: number): Part => ({
  id,
  label,
  bytes: 9,
  body: {
    kind: "table",
    columns: [{ name: "id", numeric: true }],
    rows: Array.from({ length: Math.min(10, total) }, (_, i) => [
      { text: String(i), kind: "number" as const },
    ]),
    total,
  },
});
export const step = (
  index: number,
  turn: number,
  kind: Step["kind"],
  parts: Part[],
  change: Partial<Step> = {},
): Step => ({
  index,
  turn,
  kind,
  title: null,
  call_id: null,
  failed: null,
  nudge: false,
  model: null,
  seconds: null,
  tokens: null,
  depth: 0,
  parts,
  ...change,
});

/** The group that a step opens. */
export const group = (step: number, steps: number, change: Partial<StepGroup> = {}): StepGroup => ({
  step,
  name: null,
  steps,
  failed: 0,
  seconds: null,
  tokens: null,
  end: "ended",
  prompt: null,
  ...change,
});

export const SMALL: Step[] = [
  step(0, 1, "user", [text("p0", "message", "Which tickets are open?")]),
  step(1, 2, "assistant", [text("p1", "message", "I look **first**.", "markdown")], {
    seconds: 3.1,
    tokens: 412,
  }),
  step(
    2,
    2,
    "tool_call",
    [text("p2", "sql", "SELECT id FROM ticket", "sql"), table("p3", "result", 30)],
    { title: "query_tickets", failed: false, seconds: 0.041 },
  ),
  step(
    3,
    2,
    "tool_call",
    [
      text("p4", "sql", "SELECT plan FROM nowhere", "sql"),
      text("p5", "error", "no such table: nowhere"),
    ],
    { title: "query_plans", failed: true },
  ),
  step(4, 3, "user", [text("p6", "message", "actually use the tool")], { nudge: true }),
  step(5, 4, "unknown", [value("p7", "value", { checkpoint: 12345678901234 })], {
    title: "checkpoint",
  }),
  step(6, 4, "error", [text("p8", "error", "The provider answered 429.")]),
];

export function view(
  steps: Step[],
  row: Partial<RunRow> = {},
  change: Partial<RunView> = {},
): RunView {
  return {
    row: runRow(0, { state: "answered", reason: null, missing_calls: [], ...row }),
    layout: "Tool-calling transcript",
    version: "v1",
    total_steps: steps.length,
    steps,
    groups: [],
    pace: null,
    tree: null,
    answer: null,
    answer_mark: "mark1",
    task: null,
    facts: [],
    own_names: null,
    lineage: { origin: null, edited: null, forks: [], fork_count: 0, tree: [] },
    files: [{ path: "results/a.yaml", full_path: "/home/me/results/a.yaml", size: 99, runs: 1 }],
    notes: [],
    ...change,
  };
}

/**
 * Gives jsdom a layout: a window of 800, and list items 60 high. Returns the function that removes
 * it.
 */
export function layOut(): () => void {
  const before = globalThis.ResizeObserver;
  globalThis.ResizeObserver = class {
    constructor(private readonly fn: ResizeObserverCallback) {}
    observe(target: Element) {
      const height =
        target.getAttribute("role") === "feed" || target.matches(".lines, .scroll") ? 800 : 60;
      queueMicrotask(() =>
        this.fn(
          [{ target, contentRect: { width: 1200, height } } as unknown as ResizeObserverEntry],
          this,
        ),
      );
    }
    unobserve = () => undefined;
    disconnect = () => undefined;
  };
  const parent = Object.getOwnPropertyDescriptor(HTMLElement.prototype, "offsetParent");
  Object.defineProperty(HTMLElement.prototype, "offsetParent", {
    configurable: true,
    get: () => document.body,
  });
  const rect = Object.getOwnPropertyDescriptor(Element.prototype, "getBoundingClientRect");
  Element.prototype.getBoundingClientRect = () => ({
    x: 0,
    y: 0,
    top: 0,
    left: 0,
    bottom: 60,
    right: 1200,
    width: 1200,
    height: 60,
    toJSON: () => "",
  });
  window.innerWidth = 1400;
  Element.prototype.scrollTo ??= () => undefined;
  Element.prototype.scrollBy ??= () => undefined;
  return () => {
    globalThis.ResizeObserver = before;
    if (rect) Object.defineProperty(Element.prototype, "getBoundingClientRect", rect);
    if (parent) Object.defineProperty(HTMLElement.prototype, "offsetParent", parent);
  };
}

/** The outline of the steps of a run, each of them a mark. */
export function outlineOf({ version, steps, total_steps }: RunView): RunOutline {
  const failures = steps
    .filter((step) => step.failed === true || step.kind === "error")
    .map((step) => step.index);
  return {
    version,
    total_steps,
    marks: steps.map(({ index, kind, title, failed, depth, seconds, tokens }) => ({
      step: index,
      steps: 1,
      kind,
      title,
      failures: failed === true || kind === "error" ? 1 : 0,
      nested: depth > 0,
      seconds,
      tokens,
    })),
    failures,
    failure_count: failures.length,
  };
}

/** What the engine offers to edit of a step. */
function editableOf(step: Step | undefined): EditableStep {
  const textOf = (label: string) => {
    const body = step?.parts.find((part) => part.label === label)?.body;
    return body?.kind === "text" ? body.text : "";
  };
  const field = (part: StepPart, text: string, argument: string | null = null) => ({
    part,
    text,
    argument,
  });
  const spoken = step?.kind === "user" || step?.kind === "assistant";
  const call = step?.kind === "tool_call";
  return {
    fields: spoken
      ? [field("message", textOf("message"))]
      : call
        ? [
            step.failed === true
              ? field("arguments", '{\n  "sql": "SELECT plan FROM nowhere",\n  "limit": 3\n}')
              : field("arguments", textOf("sql"), "sql"),
            field("result", step.failed === true ? "" : '[{"id": 1}]'),
            field("error", textOf("error")),
          ]
        : [],
    needs_message: false,
    why_not: null,
  };
}

/** A backend whose run can be changed by the test. */
export class OneRun extends Fixture {
  constructor(
    public run: RunView,
    host: Backend["host"] = "served",
  ) {
    super(undefined, undefined, host);
    this.replies.open_run = () => this.run;
    this.replies.read_steps = ({ span }) => ({
      version: this.run.version,
      total_steps: this.run.total_steps,
      steps: this.run.steps.slice(span.offset, span.offset + span.limit),
    });
    this.replies.editable_step = ({ step }) => editableOf(this.run.steps[step]);
    this.replies.run_outline = () => outlineOf(this.run);
    this.replies.read_text = ({ part }) => ({
      text: `text of ${part}\nsecond line`,
      offset: 0,
      next: null,
      total: 20,
    });
    this.replies.read_rows = ({ request }) => ({
      rows: Array.from({ length: request.span.limit }, (_, i) => [
        {
          text: String(request.descending ? 999 - i : request.span.offset + i),
          kind: "number" as const,
        },
      ]),
      total: 30,
    });
    this.replies.read_csv = () => "id\n0\n";
    this.replies.find_in_run = ({ text: sought }) => ({
      total: 1,
      matches: [
        { step: 2, part: "p2", offset: 0, row: null, pieces: [{ text: sought, hit: true }] },
      ],
    });
  }
}
