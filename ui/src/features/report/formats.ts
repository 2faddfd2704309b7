// Pure. Formats of a report, in display order.
import { count, counted } from "../../domain/format";
import type { ReportFormat, ReportRequest } from "../../generated";
import type { CodeLanguage } from "../../components/code/tokens";
import type { ReportRoute } from "../../app/route";

export interface Format {
  id: ReportFormat;
  title: string;
  about: string;
  language: CodeLanguage;
}

export const FORMATS: readonly Format[] = [
  {
    id: "html",
    title: "HTML",
    about: "One page that opens anywhere, offline too, and prints well.",
    language: "plain",
  },
  {
    id: "markdown",
    title: "Markdown",
    about: "For issues, pull requests and notes.",
    language: "plain",
  },
  { id: "csv", title: "CSV", about: "One line for each run, for spreadsheets.", language: "plain" },
  {
    id: "json",
    title: "JSON",
    about: "Everything as one document, for programs.",
    language: "json",
  },
  {
    id: "jsonl",
    title: "JSONL",
    about: "One document for each run, line by line.",
    language: "json",
  },
  { id: "junit", title: "JUnit", about: "For build servers: runs as tests.", language: "plain" },
  {
    id: "stabletoolbench",
    title: "StableToolBench",
    about: "The result file of one system, model and test set, as the benchmark writes it.",
    language: "json",
  },
  {
    id: "parquet",
    title: "Parquet",
    about: "One row for each run with its scores, for notebooks and databases.",
    language: "plain",
  },
  {
    id: "azure",
    title: "azure-ai-evaluation",
    about:
      "A row for each run with its query, response and expected answer, and all scores and judgements.",
    language: "json",
  },
];

export const formatOf = (id: ReportFormat): Format =>
  FORMATS.find((format) => format.id === id) ?? (FORMATS[0] as Format);

/** The request of an address. Formats that list runs always include them. */
export function requestOf(
  route: ReportRoute,
  theme: "light" | "dark" | null,
  sensitive = false,
): ReportRequest {
  const lists =
    route.format === "csv" ||
    route.format === "jsonl" ||
    route.format === "junit" ||
    route.format === "stabletoolbench" ||
    route.format === "azure" ||
    route.format === "parquet";
  const word = (text: string) => (text === "" ? null : text);
  return {
    format: route.format,
    filter: route.q,
    scorer: word(route.scorer),
    baseline: word(route.baseline),
    title: route.title,
    runs: lists || route.runs,
    published: route.published,
    sets: route.sets,
    theme,
    redact: route.redact,
    include_sensitive: sensitive,
  };
}

/** True if a format has the trend over sets of runs. */
export const hasTrend = (id: ReportFormat): boolean =>
  id === "html" || id === "markdown" || id === "json";

/** True if a format lists runs only on request. */
export const mayLeaveRuns = (id: ReportFormat): boolean =>
  id === "html" || id === "markdown" || id === "json";

/** The contents of a report as a page: the first links to its own parts, with their titles. */
export function contentsOf(html: string): { id: string; title: string }[] {
  const from = html.indexOf('href="#summary"');
  if (from < 0) return [];
  // The links follow each other, and nothing from runs is among them.
  const list = html.slice(Math.max(0, from - 3), from + 2_000);
  const found = /^(?:\s*<a href="#[a-z]+">[^<>&]+<\/a>)+/u.exec(list)?.[0] ?? "";
  return [...found.matchAll(/href="#([a-z]+)">([^<]+)</gu)].map(([, id = "", title = ""]) => ({
    id,
    title,
  }));
}

/** A report as a page without its own contents, for a place that shows them beside it. */
export function withoutContents(html: string): string {
  const link = html.indexOf('href="#summary"');
  const [from, to] = [html.lastIndexOf("<nav", link), html.indexOf("</nav>", link)];
  return link < 0 || from < 0 || to < 0
    ? html
    : html.slice(0, from) + html.slice(to + "</nav>".length);
}

/** What a report leaves out, as the end of a sentence; empty if it covers all failed runs. */
export function causesText(unread: number, failed: number | undefined): string {
  if (unread === 0) return "";
  return failed === undefined
    ? ` without the causes of ${counted(unread, "failed run")}`
    : ` with the causes of ${count(Math.max(0, failed - unread))} of ${counted(failed, "failed run")}`;
}
