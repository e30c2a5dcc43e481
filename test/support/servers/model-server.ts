/**
 * A scripted OpenAI-compatible chat-completions server on a real socket. Each request takes the next answer
 * of the script; when the script is at its end the server says "ok".
 *
 *   const model = await startModelServer();
 *   model.script({ text: ["Hel", "lo"] }, { calls: [{ name: "weather", arguments: { city: "Berlin" } }] });
 *   // MODEL_BASE_URL=model.url
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { TITLE_SYSTEM } from "../../../plugins/agent/context/prompt.ts";

export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  /** An object, or a text that is sent as it is, however malformed. */
  readonly arguments: unknown;
}

export interface ModelReply {
  /** A promise among the pieces holds the rest back until the test resolves it. */
  readonly text?: string | readonly (string | Promise<string>)[];
  /** Thoughts that come before the text, as `reasoning_content`. */
  readonly reasoning?: string | readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** The finish reason, where it is not "stop" or "tool_calls". */
  readonly finish?: string;
  readonly usage?: {
    readonly input: number;
    readonly output: number;
    readonly cached?: number;
    readonly written?: number;
    readonly cost?: number;
  };
  /** Answers with this status before any token. */
  readonly status?: number;
  /** The error that comes with the status. */
  readonly error?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before each token, for what has to be seen on its way. */
  readonly delay?: number;
  /** What happens after the text, in place of a proper end. */
  readonly end?: "cut" | "error" | "stall" | "empty";
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null | readonly { readonly text: string }[];
    readonly tool_calls?: readonly {
      readonly id: string;
      readonly function: { name: string; arguments: string };
    }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly description: string; readonly parameters: unknown };
  }[];
  readonly temperature?: number;
  readonly [field: string]: unknown;
}

export type Scripted = ModelReply | ((request: ChatRequest) => ModelReply);

export interface ModelServer {
  /** For MODEL_BASE_URL. */
  readonly url: string;
  readonly requests: readonly ChatRequest[];
  /** The `authorization` of each of them. */
  readonly keys: readonly (string | undefined)[];
  readonly headers: readonly IncomingMessage["headers"][];
  /** For a run of so many requests that they cannot all be kept. */
  forget(): void;
  script(...answers: Scripted[]): void;
  /** What every request gets once the script is at its end. */
  otherwise(answer: Scripted): void;
  /** The title that it gives to conversations; until then it refuses to name one. Such requests are no part of the script. */
  entitle(title: Scripted): void;
  /** Requests for a title. */
  readonly titled: readonly ChatRequest[];
  /** The names that it lists; "scripted" alone until then. */
  offer(...names: unknown[]): void;
  /** Ends every connection and the server. */
  close(): Promise<void>;
}

export async function startModelServer(port = 0): Promise<ModelServer> {
  const requests: ChatRequest[] = [];
  const keys: (string | undefined)[] = [];
  const headers: IncomingMessage["headers"][] = [];
  const script: Scripted[] = [];
  const titled: ChatRequest[] = [];
  let fallback: Scripted = { text: "ok" };
  let title: Scripted = { status: 400 };
  let offered: readonly unknown[] = ["scripted"];

  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", data: offered.map((id) => ({ id, object: "model" })) }));
      return;
    }
    readBody(request)
      .then(async (body) => {
        const asked = JSON.parse(body) as ChatRequest;
        if (asked.messages[0]?.content === TITLE_SYSTEM) {
          titled.push(asked);
          return await answer(response, typeof title === "function" ? title(asked) : title);
        }
        requests.push(asked);
        keys.push(request.headers.authorization);
        headers.push(request.headers);
        const next = script.shift() ?? fallback;
        await answer(response, typeof next === "function" ? next(asked) : next);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    keys,
    headers,
    forget: () => {
      for (const kept of [requests, keys, headers]) kept.length = 0;
    },
    script: (...answers) => void script.push(...answers),
    otherwise: (next) => {
      fallback = next;
    },
    titled,
    entitle: (next) => {
      title = next;
    },
    offer: (...names) => {
      offered = names;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(response: ServerResponse, scripted: ModelReply): Promise<void> {
  const { text = [], reasoning = [], calls = [], usage, status, headers = {}, delay = 0, end } = scripted;
  if (status !== undefined) {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    const { error = { message: `scripted ${status}`, type: "scripted" } } = scripted;
    response.end(JSON.stringify({ error }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
  const pieces = [text].flat();
  // What comes without a pause arrives together, as from a model that is quicker than the network.
  const isQuick = delay === 0 && end === undefined && pieces.every((piece) => typeof piece === "string");
  let held = "";
  const send = (body: object) => {
    const text = `data: ${JSON.stringify({ id: "chatcmpl-1", created: 1, model: "scripted", ...body })}\n\n`;
    if (isQuick) held += text;
    else response.write(text);
  };
  const choose = (delta: object, finish: string | null = null) =>
    send({ choices: [{ index: 0, delta, finish_reason: finish }] });

  for (const piece of [reasoning].flat()) choose({ role: "assistant", reasoning_content: piece });
  for (const piece of pieces) {
    if (delay > 0) await sleep(delay);
    // Nobody listens any more.
    if (response.destroyed) return;
    choose({ role: "assistant", content: await piece });
  }
  if (end === "stall") return;
  if (end === "cut") {
    response.destroy();
    return;
  }
  if (end === "error") {
    send({ error: { message: "scripted failure in the stream", type: "server_error" } });
    response.end();
    return;
  }
  for (const [index, call] of calls.entries()) {
    const written = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
    const half = Math.ceil(written.length / 2);
    const id = call.id ?? `call_${Math.random().toString(36).slice(2, 10)}`;
    choose({ tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }] });
    for (const piece of [written.slice(0, half), written.slice(half)]) {
      choose({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  }
  choose({}, scripted.finish ?? (calls.length > 0 ? "tool_calls" : "stop"));
  const { input, output, cached = 0, written, cost } = usage ?? { input: 10, output: 5 };
  send({
    choices: [],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
      cost,
    },
  });
  response.end(`${held}data: [DONE]\n\n`);
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}
