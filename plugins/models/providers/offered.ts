/** Which models a server offers, as every server of this kind tells at `/models`. */
import type { Endpoint } from "./endpoint.ts";

const TIMEOUT_MS = 3000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_NAMES = 500;

/** The answer of the server, whatever it is. */
export function askModels({ baseUrl, key }: Pick<Endpoint, "baseUrl" | "key">): Promise<Response> {
  let url = baseUrl;
  while (url.endsWith("/")) url = url.slice(0, -1);
  return fetch(`${url}/models`, {
    headers:
      key === undefined
        ? {}
        : { authorization: `Bearer ${key}`, "x-api-key": key, "anthropic-version": "2023-06-01" },
    // The key is for this server.
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
}

/** None where it does not say. */
export async function listModels(endpoint: Pick<Endpoint, "baseUrl" | "key">): Promise<readonly string[]> {
  try {
    const response = await askModels(endpoint);
    const body = response.ok ? await readText(response) : undefined;
    if (body === undefined) {
      await response.body?.cancel();
      return [];
    }
    const { data } = JSON.parse(body) as { readonly data?: unknown };
    if (!Array.isArray(data)) return [];
    const names = data.map((one: unknown) => (Object(one) as { readonly id?: unknown }).id);
    return names
      .filter((name): name is string => typeof name === "string" && name.length <= 200)
      .slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

async function readText(response: Response): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}
