/** One call of a server's tool, from the model's words to an outcome and a receipt. Whatever a server does is an outcome. */

import { randomUUID } from "node:crypto";
import { invalidParams, limitWords, RATE_LIMIT_EXCEEDED, type SealingKey } from "../../../kernel/kit.ts";
import {
  type CallOptions,
  type CallOutcome,
  Fault,
  type JsonSchema,
  type Log,
  type Mask,
  type Reply,
  reason,
  type Store,
  type ToolCall,
  type ToolOutcome,
} from "../../../kernel/plugin.ts";
import { createLimiters } from "../../broker/rate-limits.ts";
import type { Receipt, Receipts } from "../../calls/receipts.ts";
import type { CheckJson } from "../../sandbox/json-check.ts";
import type { Connections } from "../session/sessions.ts";
import { stateForCalls } from "../tools/agreement.ts";
import type { Definition } from "../tools/definition.ts";
import type { ServerRows } from "../tools/rows.ts";
import { createDialogue } from "./dialogue.ts";
import { type Traffic, writeReceipt } from "./receipt.ts";
import { isRefusal, type Ready, type Refusal, refuse } from "./refusal.ts";

export interface ForeignRun {
  readonly outcome: CallOutcome;
  readonly receipt?: Receipt;
}

export interface ForeignCalls {
  call(call: ToolCall, options: CallOptions): Promise<ForeignRun>;
  /** Goes on with a call that asked something. */
  resume(
    call: ToolCall,
    resume: string,
    replies: readonly Reply[],
    options: CallOptions,
  ): Promise<ForeignRun>;
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
  /** Seals what questions are gone on with. */
  readonly key: SealingKey;
  readonly mask: Mask;
  readonly log: Log;
}

const CHECK_MILLIS = 10_000;

export function createForeignCalls(parts: ForeignCallsParts): ForeignCalls {
  const { rows, checkJson, receipts, store, mask, log } = parts;
  const limiters = createLimiters(store, "mcp");

  async function ready(name: string): Promise<Ready | Refusal> {
    const found = await rows.tool(name);
    if (found === undefined) return refuse("no_such_tool", `There is no tool named "${name}".`);
    const { server, tool } = found;
    const state = stateForCalls(server, tool);
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
  ): Promise<Params | Refusal> {
    let value: unknown;
    try {
      value = JSON.parse(params);
    } catch (error) {
      return invalidParams(`not JSON: ${reason(error)}`);
    }
    const mistakes = await check(exactSchema ?? schema, value, signal);
    if (mistakes.length > 0) return invalidParams(mistakes.join("; "));
    return { params: value as Params["params"] };
  }

  async function check(schema: JsonSchema, value: unknown, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await checkJson(schema, value, { signal });
    } catch (error) {
      if (error instanceof Fault && error.kind === "invalid") return [error.message];
      throw error;
    }
  }

  const dialogue = createDialogue({ ...parts, ready, check });

  async function attempt(
    found: Ready,
    call: ToolCall,
    options: CallOptions,
    traffic: Traffic,
  ): Promise<CallOutcome> {
    const { server, definition } = found;
    const read = await readParams(
      definition,
      call.params,
      options.signal ?? AbortSignal.timeout(CHECK_MILLIS),
    );
    if (isRefusal(read)) return read;
    const verdict = await limiters.find(server.name, server.file.rateLimit).take(options.user);
    if (!verdict.ok) return refuse(RATE_LIMIT_EXCEEDED, limitWords(verdict));
    return dialogue.begin(found, call, read.params, options, traffic);
  }

  async function run(call: ToolCall, options: CallOptions, act: Act): Promise<ForeignRun> {
    const found = await ready(call.name);
    if (isRefusal(found) && found.code === "no_such_tool") return { outcome: found };
    const id = randomUUID();
    const at = Date.now();
    const traffic: Traffic = { bytes: 0, millis: 0 };
    const ended: CallOutcome = isRefusal(found)
      ? found
      : await act(found, traffic).catch((error: unknown) =>
          options.signal?.aborted === true
            ? refuse("cancelled", "The call was cancelled.")
            : refuse("unavailable", reason(error)),
        );
    const outcome = withReceipt(ended, id, mask);
    const seen = isRefusal(found) ? undefined : found;
    const receipt = writeReceipt({ id, at, call, options, found: seen, outcome, traffic });
    await receipts.add(receipt, (error) =>
      log.error({ error, receipt }, `the receipt for a call of ${call.name} could not be stored`),
    );
    return { outcome, receipt };
  }

  return {
    call: (call, options) => run(call, options, (found, traffic) => attempt(found, call, options, traffic)),
    resume: (call, text, replies, options) =>
      run(call, options, (found, traffic) => dialogue.goOn(found, call, text, replies, options, traffic)),
    async refusal(call) {
      const found = await ready(call.name);
      if (isRefusal(found)) return found.code === "no_such_tool" ? undefined : found;
      const params = await readParams(found.definition, call.params, AbortSignal.timeout(CHECK_MILLIS));
      return isRefusal(params) ? params : undefined;
    },
    async close() {
      dialogue.close();
      await limiters.close();
    },
  };
}

/** Others' words may be in what went wrong. */
function withReceipt(ended: CallOutcome, receipt: string, { hide }: Mask): CallOutcome {
  if (ended.status === "ok") return { ...ended, receipt };
  return ended.status === "error" ? { ...ended, message: hide(ended.message), receipt } : ended;
}

interface Params {
  readonly params: Readonly<Record<string, unknown>>;
}

type Act = (found: Ready, traffic: Traffic) => Promise<CallOutcome>;
