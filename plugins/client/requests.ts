/** Requests to the gateway of a service elsewhere. Its refusals are thrown as the faults that they were there. */
import type { TSchema } from "typebox";
import type { Outbound } from "../../kernel/kit/outbound.ts";
import { type Check, compileCheck, type Declared, fromWire, wireSchema } from "../../kernel/kit/schema.ts";
import { tryJson } from "../../kernel/kit/text.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { ServiceLocation } from "./address.ts";
import { readFault } from "./refusal.ts";

export type Requests = ReturnType<typeof createRequests>;

type Line = `${"GET" | "POST" | "PATCH" | "DELETE"} /${string}`;

interface Given {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: unknown;
  readonly form?: FormData;
}

const TIMEOUT_MS = 60_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MAX_DOWNLOAD_BYTES = 1024 * 1024 * 1024;

export const encoded = encodeURIComponent;

/** Headers carry bytes: letters of any script go as UTF-8. */
export const bearer = (token: string): string => `Bearer ${Buffer.from(token).toString("latin1")}`;

const checks = new WeakMap<TSchema, Check>();

/** Compiles the check of what a declaration is on the wire, once. */
export function checkOf(schema: TSchema): Check {
  const check = checks.get(schema) ?? compileCheck(wireSchema(schema));
  checks.set(schema, check);
  return check;
}

export function createRequests(
  place: () => ServiceLocation,
  outbound: Outbound,
  refused: (origin: string) => Fault,
) {
  function locate(path: string, query: Given["query"] = {}) {
    const { origin, token } = place();
    const url = new URL(path, origin);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, String(value));
    return { url, authorization: bearer(token) };
  }

  async function send(line: Line, { query, body, form }: Given = {}): Promise<{ url: URL; text: string }> {
    const [method, path = ""] = line.split(" ");
    const { url, authorization } = locate(path, query);
    const sent = form === undefined ? jsonOf(body) : await encode(form);
    const reply = await outbound
      .send({ method, url, authorization, ...sent, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER_BYTES })
      .catch((error: unknown) => {
        const unsure =
          method === "GET" ? "" : " It may have arrived all the same: look before you try again.";
        throw new Fault("unavailable", "service_unreachable", `${reason(error)}${unsure}`);
      });
    const text = Buffer.from(reply.body).toString();
    if (reply.status === 401) throw refused(url.origin);
    if (reply.status >= 300)
      throw readFault(url.host, reply.status, text, [reply.headers["retry-after"] ?? ""].flat()[0]);
    return { url, text };
  }

  return {
    /** Sends a request and returns its answer, which fits this declaration. */
    async ask<Schema extends TSchema>(line: Line, answer: Schema, given?: Given): Promise<Declared<Schema>> {
      const { url, text } = await send(line, given);
      const value = tryJson(text);
      const [mistake] = checkOf(answer)(value);
      if (mistake)
        throw new Fault(
          "unavailable",
          "not_postern",
          `${url.host} answered with something that this Postern cannot read. Have both the same version?`,
        );
      return fromWire(answer, value);
    },
    /** The same, for a request without an answer. */
    async tell(line: Line, given?: Given): Promise<void> {
      await send(line, given);
    },
    async download(path: string, query: Given["query"]): Promise<Response> {
      const { url, authorization } = locate(path, query);
      const answer = await outbound.fetch(
        url,
        { headers: { authorization } },
        { maxBytes: MAX_DOWNLOAD_BYTES, timeoutMs: TIMEOUT_MS },
      );
      if (!answer.ok) throw readFault(url.host, answer.status, await answer.text());
      return answer;
    },
  };
}

/** Returns what the request came to, and undefined where there is no such thing. */
export async function orNone<Result>(asked: Promise<Result>): Promise<Result | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Fault && error.kind === "missing") return undefined;
    throw error;
  }
}

function jsonOf(body: unknown): { body?: string; headers?: Record<string, string> } {
  if (body === undefined) return {};
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}

async function encode(form: FormData): Promise<{ body: Uint8Array; headers: Record<string, string> }> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "";
  return { body: new Uint8Array(await encoded.arrayBuffer()), headers: { "content-type": type } };
}
