/** The webhook channel on the real kernel, store and agent, and a client that sends what it is told to. */
import { createHmac, randomUUID } from "node:crypto";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import type { BootOptions, Running } from "../../../kernel/kernel.ts";
import type { Variables } from "../../../kernel/settings/env.ts";
import { type BootedKernel, bootKernel } from "./kernel.ts";
import { SECRET, WEBHOOK_SETTINGS, webhookPlugins } from "./webhook-plugins.ts";

export { SECRET };

export interface WebhookResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
  readonly json: any;
}

export interface Webhook {
  readonly kernel: BootedKernel;
  readonly url: string;
  /** Posts to /webhook with the right content type and secret, unless told otherwise. */
  post(body: unknown, headers?: Record<string, string>): Promise<WebhookResponse>;
  get(path: string, headers?: Record<string, string>): Promise<WebhookResponse>;
  send(request: Sending): Promise<WebhookResponse>;
}

export interface Sending {
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer | string | undefined;
}

export async function bootWebhook(
  variables: Variables = {},
  options: Partial<BootOptions> = {},
): Promise<Webhook> {
  const kernel = await bootKernel(webhookPlugins, { ...WEBHOOK_SETTINGS, ...variables }, options);
  const url = webhookUrl(kernel);
  return { kernel, url, ...client(url) };
}

function webhookUrl({ states }: Pick<Running, "states">): string {
  const detail = states.find(({ name }) => name === "webhook")?.detail ?? "";
  return /http:\/\/\S+/.exec(detail)?.[0] ?? "";
}

export function client(url: string): Pick<Webhook, "post" | "get" | "send"> {
  const to = (sending: Sending) => send(url, sending);
  return {
    send: to,
    post: (body, headers = {}) =>
      to({
        method: "POST",
        path: "/webhook",
        headers: { "content-type": "application/json", "x-webhook-secret": SECRET, ...headers },
        body: typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      }),
    get: (path, headers = { "x-webhook-secret": SECRET }) => to({ method: "GET", path, headers }),
  };
}

/** Node's own client, which lets a test send headers and bodies that `fetch` would correct. */
function send(url: string, { method, path, headers = {}, body }: Sending): Promise<WebhookResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(`${url}${path}`, { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", reject);
      answer.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = text !== "" && answer.headers["content-type"]?.includes("json") === true;
        resolve({
          status: answer.statusCode ?? 0,
          headers: answer.headers,
          text,
          json: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

export function signature(body: string | Buffer, secret = SECRET): string {
  return `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
}

/** The headers of Standard Webhooks, made without the library that checks them. */
export function standardHeaders(
  body: string,
  secret = SECRET,
  { id = `msg_${randomUUID()}`, offSecs = 0 }: { readonly id?: string; readonly offSecs?: number } = {},
): Record<string, string> {
  const [, encoded] = /^whsec_([A-Za-z0-9+/=]+)$/.exec(secret) ?? [];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, "base64");
  const at = Math.floor(Date.now() / 1000) + offSecs;
  const signed = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": `v1,${signed}` };
}

/** Polls the job until it has completed. */
export async function completed({ get }: Pick<Webhook, "get">, id: string): Promise<WebhookResponse["json"]> {
  for (;;) {
    const { json } = await get(`/jobs/${id}`);
    if (json.status === "completed") return json;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The settings that make the agent ask this model. */
export function scripted({ url }: { readonly url: string }): Variables {
  return { MODEL_PROVIDER: "openai-compatible", MODEL_BASE_URL: url, MODEL_NAME: "scripted" };
}
