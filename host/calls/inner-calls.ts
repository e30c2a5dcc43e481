/** The calls of other tools that a tool makes are checked here; whether one is made is for the agent to say. */
import { ANY_TOOL } from "../../capabilities/capabilities.ts";
import { distinctOrigins } from "../../kernel/kit/turns.ts";
import { type Origin, reason, type ToolCall } from "../../kernel/plugin.ts";
import type { Catalog, InstalledTool } from "../catalog/catalog.ts";
import type { InnerReply, InnerRequest } from "../sandbox/protocol.ts";
import type { CallOptions, InnerOutcome } from "../services.ts";
import type { Receipt } from "./receipts.ts";

const MAX_CALLS = 100;
const MAX_AT_ONCE = 8;
const MAX_NAME = 64;
const MAX_OUTPUT_BYTES = 1 << 20;
const MAX_MESSAGE = 500;

type Made = NonNullable<Receipt["calls"]>[number];

export type InnerCalls = ReturnType<typeof openInnerCalls>;

/** `id`: the receipt of the tool's own call. `read`: whose words it has read in files so far. */
export function openInnerCalls(
  tool: InstalledTool,
  id: string,
  { innerCall }: Pick<CallOptions, "innerCall">,
  catalog: Pick<Catalog, "find">,
  read: () => readonly Origin[],
) {
  const heard: Origin[] = [];
  const made: Made[] = [];
  const waiting: (() => void)[] = [];
  let running = 0;

  async function refuse({ name }: ToolCall): Promise<InnerOutcome | undefined> {
    const { agentTools } = tool.capabilities;
    if (made.length > MAX_CALLS)
      return refusal("too_many_calls", `A run may call at most ${MAX_CALLS} tools.`);
    if (name === tool.name) return refusal("not_allowed", "A tool cannot call itself.");
    if (!agentTools.includes(name) && !agentTools.includes(ANY_TOOL))
      return refusal("not_allowed", `${tool.name} may call only these tools: ${agentTools.join(", ")}.`);
    if (((await catalog.find(name))?.capabilities.agentTools.length ?? 0) > 0)
      return refusal("not_allowed", `${name} calls tools itself, so that no tool may call it.`);
    return undefined;
  }

  async function make(call: ToolCall, signal: AbortSignal): Promise<InnerOutcome> {
    if (innerCall === undefined)
      return refusal("not_allowed", "Other tools can only be called in a conversation.");
    if (running >= MAX_AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    running++;
    try {
      if (signal.aborted) return refusal("cancelled", "The call was cancelled.");
      return await innerCall(call, { parent: id, signal, origins: read() });
    } catch (error) {
      return refusal("unavailable", reason(error));
    } finally {
      running--;
      waiting.shift()?.();
    }
  }

  return {
    async answer({ name, body }: InnerRequest, signal: AbortSignal): Promise<InnerReply> {
      const at = made.length;
      const begun = performance.now();
      // What is beyond the limit is not even listed.
      const call = {
        id: `${id}.${at + 1}`,
        name: name.slice(0, MAX_NAME),
        params: Buffer.from(body).toString(),
      };
      made.push({ tool: call.name, status: "error", code: "unfinished", millis: 0 });
      const outcome = bounded((await refuse(call)) ?? (await make(call, signal)));
      heard.push(...(outcome.origins ?? []));
      const millis = Math.round(performance.now() - begun);
      const { receipt } = outcome;
      made[at] = outcome.ok
        ? { tool: call.name, status: "ok", millis, receipt }
        : {
            ...{ tool: call.name, status: "error", code: outcome.code, millis, receipt },
            message: outcome.message.slice(0, MAX_MESSAGE),
          };
      if (!outcome.ok) return { ok: false, error: outcome.message };
      return { ok: true, body: Buffer.from(outcome.output) };
    },
    /** Whose words they brought. */
    origins: () => distinctOrigins(heard),
    /** For the receipt, in the order in which they were asked for. */
    made: () => made.slice(0, MAX_CALLS),
  };
}

function refusal(code: string, message: string): InnerOutcome {
  return { ok: false, code, message };
}

function bounded(outcome: InnerOutcome): InnerOutcome {
  if (!outcome.ok || Buffer.byteLength(outcome.output) <= MAX_OUTPUT_BYTES) return outcome;
  const { receipt, origins } = outcome;
  return { ...refusal("too_large", "The tool answered with more than 1 MiB."), receipt, origins };
}
