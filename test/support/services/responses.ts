/** The Responses API over a real socket: the real kernel with gateway and agent, and a token for each user. */

import type { AnyPlugin, Sql } from "../../../kernel/plugin.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import { createAccounts } from "../../../plugins/accounts/records/accounts.ts";
import gateway from "../../../plugins/gateway/plugin.ts";
import responses from "../../../plugins/responses/plugin.ts";
import type { ResponseObject } from "../../../plugins/responses/wire/format.ts";
import store from "../../../plugins/store/plugin.ts";
import type { ModelServer } from "../servers/model-server.ts";
import { type TestTool, toolsPlugin } from "./agent.ts";
import { agentPlugins } from "./agent-plugins.ts";
import { type BootedKernel, bootKernel } from "./kernel.ts";
import { type Checks, checksOf } from "./openapi.ts";
import { routePlugins } from "./route-plugins.ts";

// No text of a test ends with its first letter: what might be the beginning of a secret is held back by the agent,
// and tests that look at single deltas would depend on it.
export const TOKEN = "~the-operator-of-this-test";

export interface ServiceOptions {
  readonly model?: ModelServer;
  readonly variables?: Variables;
  readonly tools?: Readonly<Record<string, TestTool>>;
  readonly home?: string;
  /** A composition that cannot pause a turn for the caller's own tools. */
  readonly unwired?: boolean;
}

export interface Service {
  readonly url: string;
  readonly kernel: BootedKernel;
  /** Sends JSON as the operator, or as whoever holds the token. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Response>;
  /** Creates a response and answers its object; anything but 200 is an error. */
  create(body: object, token?: string): Promise<ResponseObject>;
  retrieve(id: string, token?: string): Promise<ResponseObject>;
  /** A token of a user of that name. */
  tokenOf(user: string): Promise<string>;
  /** `send` holds every answer against the OpenAPI document already; this is for the rest. */
  readonly checks: Checks;
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { model, variables, tools, home, unwired = false } = options;
  const plugins = [
    store,
    ...(tools ? [toolsPlugin(tools)] : []),
    ...(unwired ? agentPlugins.map(withoutToolCalls) : agentPlugins),
    gateway,
    ...routePlugins,
    responses,
  ] as AnyPlugin[];
  const settings = {
    GATEWAY_PORT: "0",
    GATEWAY_AUTH_TOKEN: TOKEN,
    SERVICE_REBORN_WEBUI_TOKEN: TOKEN,
    CHAT_RATE_LIMIT: "10000",
    ...(model ? { MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" } : { MODEL_PROVIDER: "builtin" }),
    ...variables,
  };
  const kernel = await bootKernel(plugins, settings, home === undefined ? {} : { home });
  const { url } = kernel.service("web");
  const ask: Service["send"] = (method, path, body, headers) =>
    fetch(`${url}${path}`, {
      method,
      headers: { ...bearer(TOKEN), "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const checks = await checksOf(plugins, { ...settings, unwired: String(unwired) }, async () =>
    (await ask("GET", "/api/openapi.json")).text(),
  );
  const send: Service["send"] = async (method, path, body, headers) => {
    const answer = await ask(method, path, body, headers);
    const isJson = answer.headers.get("content-type")?.startsWith("application/json");
    checks.answer(method, path, { ...picked(answer), body: isJson ? await answer.clone().json() : "" });
    return answer;
  };
  const object = async (answer: Response): Promise<ResponseObject> => {
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as ResponseObject;
  };
  return {
    url,
    kernel,
    send,
    checks,
    create: async (body, token = TOKEN) =>
      object(await send("POST", "/api/v1/responses", { model: "any", ...body }, bearer(token))),
    retrieve: async (id, token = TOKEN) =>
      object(await send("GET", `/api/v1/responses/${id}`, undefined, bearer(token))),
    async tokenOf(user) {
      const accounts = await createAccounts(kernel.service("store"));
      if (!(await accounts.find(user))) await accounts.addUser(user, "user");
      return (await accounts.createToken(user, "test")).token;
    },
  };
}

/** What an SQLite store holds, without what its log has room for. */
export async function storeSize(sql: Sql): Promise<number> {
  const query = "SELECT page_count * page_size AS size FROM pragma_page_count(), pragma_page_size()";
  return (await sql.get<{ size: number }>(query))?.size ?? 0;
}

const picked = ({ status, headers }: Response) => ({ status, headers });

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** The same plugin, whose composition did not wire one of its services. */
function withoutToolCalls(plugin: AnyPlugin): AnyPlugin {
  return { ...plugin, provides: (plugin.provides ?? []).filter((service) => service !== "toolCalls") };
}

/** The text of every message of a response. */
export function textOf({ output }: ResponseObject): string {
  return output
    .map((item) => (item.type === "message" ? item.content.map(({ text }) => text).join("") : ""))
    .join("");
}

export interface WireEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [key: string]: unknown;
}

/** The events of a stream that has ended, with every frame's name checked against its data. */
export async function eventsOf(answer: Response): Promise<readonly WireEvent[]> {
  const frames = (await answer.text())
    .split("\n\n")
    .filter((frame) => frame !== "" && !frame.startsWith(":") && frame !== "data: [DONE]");
  return frames.map((frame) => {
    const [, name, data] = /^event: (.+)\ndata: (.+)$/.exec(frame) ?? [];
    const event = JSON.parse(data ?? "null") as WireEvent;
    if (event?.type !== name) throw new Error(`not a frame: ${frame}`);
    return event;
  });
}
