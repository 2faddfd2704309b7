// A scripted model with the OpenAI protocol on this machine. Replies can be held until the test
// releases them.
import { createServer } from "node:http";

const PATIENCE = 20_000;

/** A reply of the model: a tool call or an answer. */
export const calls = (name, sql, text = "Let me look.") => ({
  content: text,
  tool_calls: [
    {
      id: `call_${sql.length}`,
      type: "function",
      function: { name, arguments: JSON.stringify({ sql }) },
    },
  ],
});
export const says = (content) => ({ content });

/** `reply(asked)` returns a message or `{ status, error }`; `asked` is the request's JSON. */
export async function openProvider(reply) {
  const asked = [];
  const keys = new Set();
  const changed = new Set();
  let held = false;
  const free = new Set();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const body = JSON.parse(text);
    keys.add(request.headers.authorization);
    asked.push(body);
    for (const look of changed) look();
    if (held) await new Promise((go) => free.add(go));
    const said = reply(body);
    response.setHeader("content-type", "application/json");
    if (said.status !== undefined) {
      response.statusCode = said.status;
      return response.end(
        JSON.stringify({ error: { message: said.error, type: "invalid_request_error" } }),
      );
    }
    const finish_reason = said.tool_calls ? "tool_calls" : "stop";
    response.end(
      JSON.stringify({
        id: `chatcmpl-${asked.length}`,
        object: "chat.completion",
        model: body.model,
        choices: [{ index: 0, finish_reason, message: { role: "assistant", ...said } }],
        usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
      }),
    );
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const release = () => {
    held = false;
    for (const go of free) go();
    free.clear();
  };
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    asked,
    keys,
    /** Holds all replies from now on. */
    hold: () => (held = true),
    /** Releases the held replies. */
    release,
    /** Sends one reply to each waiting request and holds the next ones. */
    step: () => {
      const waiting = [...free];
      free.clear();
      for (const go of waiting) go();
    },
    /** Resolves when this many requests have arrived. */
    until: (count) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${asked.length} of ${count} requests came`)),
          PATIENCE,
        );
        const look = () => {
          if (asked.length < count) return;
          clearTimeout(late);
          changed.delete(look);
          resolve();
        };
        changed.add(look);
        look();
      }),
    close: () => {
      release();
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
