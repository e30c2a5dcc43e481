/** The real kernel with agent and gateway on a real port. Every JSON answer is held against the OpenAPI document. */
import { onTestFinished } from "vitest";
import WebSocket from "ws";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import gatewayPlugin from "../../../plugins/gateway/plugin.ts";
import pagePlugin from "../../../plugins/page/plugin.ts";
import store from "../../../plugins/store/plugin.ts";
import telemetry from "../../../plugins/telemetry/plugin.ts";
import type { ModelServer } from "../servers/model-server.ts";
import type { Later } from "../undo.ts";
import { type TestTool, toolsPlugin } from "./agent.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { type BootedKernel, bootKernel } from "./kernel.ts";
import { checksOf } from "./openapi.ts";
import { routePlugins } from "./route-plugins.ts";

export const OPERATOR_TOKEN = "the-operator-of-tests";

export interface GatewayOptions {
  readonly model?: ModelServer;
  readonly tools?: Readonly<Record<string, TestTool>>;
  readonly variables?: Variables;
  readonly plugins?: readonly AnyPlugin[];
  readonly home?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the schema has already checked
  readonly body: any;
  readonly text: string;
}

export interface Asking {
  readonly method?: string;
  readonly body?: unknown;
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestGateway {
  readonly url: string;
  readonly service: BootedKernel;
  ask(path: string, asking?: Asking): Promise<Answered>;
  /** Adds a user and answers a token of theirs. */
  addUser(id: string): Promise<string>;
  socket(options?: SocketOptions): Promise<TestSocket>;
}

export interface SocketOptions {
  readonly token?: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

// biome-ignore lint/suspicious/noExplicitAny: as above
export type Frame = any;

export interface TestSocket {
  readonly frames: readonly Frame[];
  readonly raw: WebSocket;
  /** The first frame from now or before for which this holds. */
  until(holds: (frame: Frame) => boolean): Promise<Frame>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export async function openGateway(options: GatewayOptions = {}, later?: Later): Promise<TestGateway> {
  const { model, tools, variables, plugins = [], home } = options;
  const all = [
    store as AnyPlugin,
    ...(tools ? [toolsPlugin(tools)] : []),
    telemetry as AnyPlugin,
    ...agentPlugins,
    gatewayPlugin as AnyPlugin,
    ...routePlugins,
    pagePlugin as AnyPlugin,
    ...plugins,
  ];
  const settings = {
    GATEWAY_PORT: "0",
    GATEWAY_AUTH_TOKEN: OPERATOR_TOKEN,
    ...(model ? { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" } : { MODEL_PROVIDER: "builtin" }),
    ...variables,
  };
  const service = await bootKernel(all, settings, home === undefined ? {} : { home }, later);
  const { url } = service.service("web");
  const headersOf = (token: string | undefined): Record<string, string> =>
    token ? { authorization: `Bearer ${token}` } : {};
  const fetchJson = async (path: string, asking: Asking): Promise<Answered> => {
    const { method = "GET", body, token = OPERATOR_TOKEN, headers } = asking;
    const answer = await fetch(url + path, {
      method,
      headers: {
        ...headersOf(token),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : text };
  };
  const [line = ""] = service.lines;
  const token = /\?token=(.+)$/.exec(line)?.[1] ?? OPERATOR_TOKEN;
  const checks = await checksOf(
    all,
    settings,
    async () => (await fetchJson("/api/openapi.json", { token })).text,
  );
  const ask: TestGateway["ask"] = async (path, asking = {}) => {
    const answer = await fetchJson(path, asking);
    checks.answer(asking.method ?? "GET", path, answer);
    return answer;
  };
  return {
    url,
    service,
    ask,
    async addUser(id) {
      await ask("/api/users", { method: "POST", body: { id } });
      const made = await ask("/api/tokens", { method: "POST", body: { user: id, name: "test" } });
      return made.body.token;
    },
    async socket({ token = OPERATOR_TOKEN, query = "", headers = {} } = {}) {
      const raw = new WebSocket(`${url.replace("http", "ws")}/api/chat/ws${query}`, {
        headers: { ...headersOf(token), ...headers },
      });
      onTestFinished(() => raw.terminate());
      const frames: Frame[] = [];
      const watchers = new Set<() => void>();
      raw.on("message", (data) => {
        const frame = JSON.parse(String(data));
        checks.frame(frame);
        frames.push(frame);
        for (const watcher of watchers) watcher();
      });
      const closed = new Promise<{ code: number; reason: string }>((resolve) => {
        raw.on("close", (code, reason) => resolve({ code, reason: String(reason) }));
      });
      await new Promise<void>((resolve, reject) => {
        raw.once("open", resolve);
        raw.once("unexpected-response", (_, response) => {
          let body = "";
          response.setEncoding("utf8").on("data", (chunk: string) => {
            body += chunk;
          });
          response.on("end", () => reject(new Error(`${response.statusCode} ${body}`)));
        });
        raw.on("error", reject);
      });
      return {
        frames,
        raw,
        closed,
        until: (holds) =>
          new Promise((resolve) => {
            const look = () => {
              const found = frames.find(holds);
              if (found === undefined) return;
              watchers.delete(look);
              resolve(found);
            };
            watchers.add(look);
            look();
          }),
      };
    },
  };
}
