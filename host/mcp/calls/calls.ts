/** One call of a server's tool, from the model's words to an outcome and a receipt. Whatever a server does is an outcome. */
import { randomUUID } from "node:crypto";
import { limitWords, RATE_LIMIT_EXCEEDED } from "../../../kernel/net/rate-limit.ts";
import {
  type CallOptions,
  type CallOutcome,
  Fault,
  type JsonSchema,
  type Log,
  type Mask,
  reason,
  type Store,
  type ToolCall,
  type ToolOutcome,
} from "../../../kernel/plugin.ts";
import { createLimiter } from "../../../kernel/store/limits/limiter.ts";
import { invalidParams } from "../../../kernel/vocabulary/schema/params.ts";
import type { Receipt, Receipts } from "../../receipts.ts";
import type { CheckJson } from "../../sandbox/json-check.ts";
import type { CallAnswer } from "../connections/connection.ts";
import type { Connections } from "../connections/connections.ts";
import { ConnectionFailed } from "../connections/failure.ts";
import { stateOf } from "../tools/agreement.ts";
import type { Definition } from "../tools/definition.ts";
import type { ServerRows, StoredServer, StoredTool } from "../tools/rows.ts";
import { toOutcome } from "./result.ts";

export interface ForeignRun {
  readonly outcome: CallOutcome;
  readonly receipt?: Receipt;
}

export interface ForeignCalls {
  call(call: ToolCall, options: CallOptions): Promise<ForeignRun>;
  /** The outcome of a call that would be refused before anything is sent. */
  refusal(call: ToolCall): Promise<ToolOutcome | undefined>;
  close(): Promise<void>;
}

export interface ForeignCallsParts {
  readonly rows: ServerRows;
  readonly connections: Connections;
  readonly checkJson: CheckJson;
  readonly receipts: Receipts;
  readonly store: Store;
  readonly mask: Mask;
  readonly log: Log;
}

interface Ready {
  readonly server: StoredServer;
  readonly tool: StoredTool;
  readonly definition: Definition;
}

type Refusal = Extract<ToolOutcome, { status: "error" }>;

/** What the receipt tells of the request. */
interface Traffic {
  bytes: number;
  millis: number;
  error?: string;
}

export function createForeignCalls(parts: ForeignCallsParts): ForeignCalls {
  const { rows, connections, checkJson, receipts, store, mask, log } = parts;
  const limiters = createLimiters(store);

  async function ready(name: string): Promise<Ready | Refusal> {
    const found = await rows.tool(name);
    if (found === undefined) return refuse("no_such_tool", `There is no tool named "${name}".`);
    const { server, tool } = found;
    const state = stateOf(server, tool);
    if (state === "off")
      return refuse(
        "switched_off",
        `${name} is not among the tools that the operator allows of ${server.name}.`,
      );
    if (state === "held")
      return refuse(
        "held_back",
        `${name} is held back: ${server.name} changed it, or offers it only now, and the operator has not seen that yet.`,
      );
    if (!tool.isThere || tool.agreed === undefined)
      return refuse("unavailable", `${server.name} no longer offers ${name}.`);
    return { server, tool, definition: tool.agreed };
  }

  async function readParams(
    { schema, exactSchema }: Definition,
    params: string,
    signal: AbortSignal,
  ): Promise<Readonly<Record<string, unknown>> | Refusal> {
    let value: unknown;
    try {
      value = JSON.parse(params);
    } catch (error) {
      return invalidParams(`not JSON: ${reason(error)}`);
    }
    const mistakes = await check(exactSchema ?? schema, value, signal);
    if (mistakes.length > 0) return invalidParams(mistakes.join("; "));
    return value as Readonly<Record<string, unknown>>;
  }

  async function check(schema: JsonSchema, value: unknown, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await checkJson(schema, value, { signal });
    } catch (error) {
      if (error instanceof Fault && error.kind === "invalid") return [error.message];
      throw error;
    }
  }

  async function attempt(
    { server, tool, definition }: Ready,
    call: ToolCall,
    options: CallOptions,
    traffic: Traffic,
  ): Promise<CallOutcome> {
    const { timeoutSecs } = server.file.limits;
    const deadline = AbortSignal.timeout(timeoutSecs * 1000);
    const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
    const params = await readParams(definition, call.params, signal);
    if (isRefusal(params)) return params;
    const verdict = await limiters.find(server).take(options.user);
    if (!verdict.ok) return refuse(RATE_LIMIT_EXCEEDED, limitWords(verdict));
    const began = performance.now();
    try {
      const lease = await connections.use(server, options.user, signal);
      // What this connection lists may be newer than what was read.
      const now = lease.definitionOf(tool.tool);
      if (now?.digest !== definition.digest) {
        const again = await ready(call.name);
        if (isRefusal(again)) return again;
        return refuse(
          "held_back",
          `${server.name} offers ${call.name} in another form to this user: it was not called.`,
        );
      }
      const end = lease.begin({ isWaiting: false, ask: async () => ({ action: "cancel" }) });
      try {
        const answer = await lease.connection.call(definition, params, { signal });
        return await judge(answer, definition, traffic, signal);
      } finally {
        end();
      }
    } catch (error) {
      if (options.signal?.aborted === true) return refuse("cancelled", "The call was cancelled.");
      if (deadline.aborted)
        return refuse("timeout", `${server.name} gave no complete answer within ${timeoutSecs} seconds.`);
      if (error instanceof ConnectionFailed) return failed(server, call.name, error);
      throw error;
    } finally {
      traffic.millis = Math.round(performance.now() - began);
    }
  }

  async function judge(
    answer: CallAnswer,
    { outputSchema }: Definition,
    traffic: Traffic,
    signal: AbortSignal,
  ): Promise<CallOutcome> {
    if (answer.type === "input_required")
      return refuse("unsupported", "The server asks a person something first, which is not possible here.");
    traffic.bytes = sizeOf(answer);
    const { structured, isError } = answer;
    const isChecked = outputSchema !== undefined && structured !== undefined && !isError;
    const mistakes = isChecked ? await check(outputSchema, structured, signal) : [];
    return toOutcome(answer, mistakes, mask);
  }

  async function run(call: ToolCall, options: CallOptions): Promise<ForeignRun> {
    const found = await ready(call.name);
    if (isRefusal(found) && found.code === "no_such_tool") return { outcome: found };
    const id = randomUUID();
    const at = Date.now();
    const traffic: Traffic = { bytes: 0, millis: 0 };
    const ended: CallOutcome = isRefusal(found)
      ? found
      : await attempt(found, call, options, traffic).catch((error: unknown) =>
          refuse("unavailable", mask.hide(reason(error))),
        );
    const outcome = ended.status === "ok" || ended.status === "error" ? { ...ended, receipt: id } : ended;
    const server = isRefusal(found) ? undefined : found.server;
    const receipt: Receipt = {
      id,
      at: new Date(at).toISOString(),
      tool: call.name,
      digest: isRefusal(found) ? "" : found.definition.digest,
      user: options.user,
      ...(options.channel && { channel: options.channel }),
      millis: Date.now() - at,
      ...summaryOf(outcome),
      requests:
        server === undefined || traffic.millis === 0
          ? []
          : [
              {
                method: "tools/call",
                host: hostOf(server),
                bytes: traffic.bytes,
                millis: traffic.millis,
                credentials: [],
                ...(outcome.status === "error" && { error: outcome.message.slice(0, 300) }),
              },
            ],
      credentials: [],
      memoryPeak: 0,
      logs: [],
      logsDropped: 0,
    };
    await receipts.add(receipt).catch((error: unknown) => {
      // What the server did is done; the model must still hear of it.
      log.error({ error, receipt }, `the receipt for a call of ${call.name} could not be stored`);
    });
    return { outcome, receipt };
  }

  return {
    call: run,
    async refusal(call) {
      const found = await ready(call.name);
      if (isRefusal(found)) return found.code === "no_such_tool" ? undefined : found;
      const params = await readParams(found.definition, call.params, AbortSignal.timeout(10_000));
      return isRefusal(params) ? params : undefined;
    },
    close: limiters.close,
  };
}

function failed(server: StoredServer, tool: string, { kind, message }: ConnectionFailed): ToolOutcome {
  switch (kind) {
    case "unauthenticated": {
      const { target } = server.file;
      const secret = target.type === "http" ? target.credential.secretName : server.name;
      return { status: "unauthenticated", tool, secret, message: `${server.name}: ${message}` };
    }
    case "refused":
      return refuse("tool_error", `${server.name}: ${message}`);
    case "timeout":
      return refuse("timeout", `${server.name}: ${message}`);
    case "unreachable":
      return refuse("unavailable", `${server.name} cannot be used: ${message}`);
  }
}

function refuse(code: string, message: string): Refusal {
  return { status: "error", code, message };
}

function isRefusal(value: object): value is Refusal {
  return (value as { status?: unknown }).status === "error" && "code" in value;
}

function summaryOf(outcome: CallOutcome): Pick<Receipt, "status" | "code" | "message"> {
  const { status } = outcome;
  if (status === "error") return { status, code: outcome.code, message: outcome.message };
  if (status === "unauthenticated") return { status, code: "unauthenticated", message: outcome.message };
  return { status };
}

function hostOf({ file: { target } }: StoredServer): string {
  return target.type === "http" ? new URL(target.url).host : "command";
}

function sizeOf(answer: CallAnswer): number {
  return Buffer.byteLength(JSON.stringify(answer));
}

/** One for each server and rate; the counts themselves are in the store, under the server's name. */
function createLimiters(store: Store) {
  const limiters = new Map<string, ReturnType<typeof createLimiter>>();
  return {
    find({ name, file }: StoredServer) {
      const { perMinute, perHour } = file.rateLimit;
      const key = `${name} ${perMinute} ${perHour}`;
      let limiter = limiters.get(key);
      if (limiter === undefined) {
        const windows = [
          { limit: perMinute, seconds: 60 },
          { limit: perHour, seconds: 3600 },
        ];
        limiter = createLimiter({ name: `mcp:${name}`, windows, store });
        limiters.set(key, limiter);
      }
      return limiter;
    },
    async close(): Promise<void> {
      await Promise.all([...limiters.values()].map((limiter) => limiter.close()));
    },
  };
}
