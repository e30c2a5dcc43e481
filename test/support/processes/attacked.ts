/** A real `postern serve` with every channel that listens, for all attacks of one file. */

import { freePort } from "../servers/port.ts";
import { client, SECRET, type Webhook } from "../services/webhook.ts";
import { copyCode, fixture } from "../tools/components.ts";
import type { Later } from "../undo.ts";
import { postern } from "./postern.ts";
import { type Served, servePostern } from "./served.ts";

export const TOKEN = "~the-operator-under-attack";

export interface Reply {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  readonly json: any;
}

export interface Attacked {
  readonly served: Served;
  readonly webhook: Pick<Webhook, "post" | "get" | "send"> & { readonly url: string };
  /** Sends JSON or a form to the gateway as the operator, or as whoever holds the token. */
  send(method: string, path: string, body?: unknown, token?: string): Promise<Reply>;
  /** Installs a component of the fixtures under a name, with what may change things. */
  install(
    name: string,
    component: string,
    options?: { readonly host?: string; readonly capabilities?: string; readonly replace?: boolean },
  ): Promise<void>;
  /** Runs a command on the same home. */
  run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

export async function serveUnderAttack(
  later: Later,
  env: Readonly<Record<string, string>> = {},
): Promise<Attacked> {
  const port = await freePort();
  const served = await servePostern(
    {
      GATEWAY_AUTH_TOKEN: TOKEN,
      CHAT_RATE_LIMIT: "1000000",
      HTTP_ENABLED: "true",
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: String(port),
      HTTP_WEBHOOK_SECRET: SECRET,
      HTTP_RATE_LIMIT: "1000000",
      ...env,
    },
    later,
  );
  const url = `http://127.0.0.1:${port}`;
  const run: Attacked["run"] = (...args) => postern(args, { env: { POSTERN_HOME: served.home } });
  const send: Attacked["send"] = async (method, path, body, token = TOKEN) => {
    const isForm = body instanceof FormData;
    const isJson = body !== undefined && !isForm;
    const answer = await fetch(`${served.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isJson && { "content-type": "application/json" }),
      },
      ...(isForm && { body }),
      ...(isJson && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const hasJson = answer.headers.get("content-type")?.includes("json") === true;
    return { status: answer.status, text, json: hasJson ? JSON.parse(text) : undefined };
  };
  return {
    served,
    webhook: { url, ...client(url) },
    send,
    async install(name, component, { host = "notes.example", capabilities, replace = true } = {}) {
      const bytes = await fixture(component);
      await copyCode(bytes, served.home);
      const http = { allowlist: [{ host, path_prefix: "/", methods: ["POST"] }] };
      const form = new FormData();
      form.set("name", name);
      form.set("component", new Blob([new Uint8Array(bytes)]));
      form.set(
        "capabilities",
        capabilities ?? JSON.stringify({ version: "1.0.0", wit_version: "0.1.0", http }),
      );
      form.set("replace", String(replace));
      const { status, text } = await send("POST", "/api/tools", form);
      if (status !== 201) throw new Error(text);
    },
    run,
  };
}
