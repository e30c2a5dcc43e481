/** Which models a server offers, as every server of this kind tells at `/models`. */
import type { OutboundReply } from "../../../kernel/kit.ts";
import { outbound } from "./connections.ts";
import type { Endpoint } from "./endpoint.ts";

const TIMEOUT_MS = 3000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_NAMES = 500;

/** The answer of the server, whatever it is. */
export async function askModels({ baseUrl, key }: Pick<Endpoint, "baseUrl" | "key">): Promise<OutboundReply> {
  let url = baseUrl;
  while (url.endsWith("/")) url = url.slice(0, -1);
  return outbound.send({
    url: new URL(`${url}/models`),
    headers:
      key === undefined
        ? {}
        : { authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": "2023-06-01" },
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
}

/** None where it does not say. */
export async function listModels(endpoint: Pick<Endpoint, "baseUrl" | "key">): Promise<readonly string[]> {
  try {
    const { status, body } = await askModels(endpoint);
    if (status < 200 || status > 299) return [];
    const { data } = JSON.parse(Buffer.from(body).toString()) as { readonly data?: unknown };
    if (!Array.isArray(data)) return [];
    const names = data.map((one: unknown) => (Object(one) as { readonly id?: unknown }).id);
    return names
      .filter((name): name is string => typeof name === "string" && name.length <= 200)
      .slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}
