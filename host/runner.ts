/** One tool call, from the model's words to an outcome and a receipt. Whatever a tool does is an outcome. */
import { randomUUID } from "node:crypto";
import { type Mask, reason, type ToolCall, type ToolOutcome } from "../kernel/plugin.ts";
import type { Broker } from "./broker.ts";
import type { Catalog, InstalledTool } from "./catalog.ts";
import type { BrokeredCall, Grant } from "./grant.ts";
import { compileParamsCheck, type ParamsCheck } from "./params.ts";
import type { Pool, PoolReport } from "./pool.ts";
import type { Receipt, Receipts } from "./receipts.ts";
import type { Tape } from "./recording.ts";
import { type Component, createComponent } from "./transpile.ts";

export interface RunOptions {
  readonly user: string;
  readonly signal?: AbortSignal;
  /** Keeps or plays back the HTTP exchanges. */
  readonly tape?: Tape;
}

export interface Run {
  readonly outcome: ToolOutcome;
  /** Absent where there was no tool to call. */
  readonly receipt?: Receipt;
}

export interface RunnerParts {
  /** Where compiled code is kept. */
  readonly cache: string;
  readonly catalog: Catalog;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly receipts: Receipts;
  readonly mask: Mask;
}

export type Runner = (call: ToolCall, options: RunOptions) => Promise<Run>;

interface Prepared {
  readonly component: Component;
  readonly check: ParamsCheck;
}

const NOTHING_RAN: PoolReport = { logs: [], droppedLogs: 0, memoryPeakBytes: 0, millis: 0 };

export function createRunner(parts: RunnerParts): Runner {
  const { cache, catalog, pool, broker, receipts, mask } = parts;
  const prepared = new Map<string, Prepared & { readonly tool: InstalledTool }>();

  function prepare(tool: InstalledTool): Prepared {
    const known = prepared.get(tool.name);
    if (known?.tool === tool) return known;
    const component = createComponent({
      sha256: tool.digest,
      read: () => catalog.read(tool),
      cache,
      memoryMb: tool.capabilities.limits.memoryMb,
    });
    if (known !== undefined && known.component.key !== component.key) pool.forget(known.component);
    const made = { tool, component, check: compileParamsCheck(tool.schema) };
    prepared.set(tool.name, made);
    return made;
  }

  async function attempt(
    tool: InstalledTool,
    grant: Grant,
    brokered: BrokeredCall,
    params: string,
    { signal, tape }: RunOptions,
  ): Promise<{ readonly outcome: ToolOutcome; readonly report: PoolReport }> {
    const fail = (code: string, message: string) => ({
      outcome: { status: "error", code, message, receipt: grant.id } as const,
      report: NOTHING_RAN,
    });
    const { component, check } = prepare(tool);
    const verdict = check(params);
    if (!verdict.ok) return fail("invalid_params", `Invalid parameters: ${verdict.detail}`);
    const missing =
      tape?.type === "player" ? undefined : await broker.missingCredential(tool.name, tool.capabilities);
    if (missing !== undefined) {
      return {
        outcome: { status: "unauthenticated", tool: tool.name, ...missing },
        report: NOTHING_RAN,
      };
    }
    const ended = await pool.call({
      component,
      params,
      timeoutMs: grant.deadline - Date.now(),
      http: (request, over) => brokered.send(request, over),
      secrets: await broker.existingSecrets(tool.capabilities),
      ...(signal && { signal }),
    });
    return ended.ok
      ? { outcome: { status: "ok", output: ended.output, receipt: grant.id }, report: ended }
      : { ...fail(ended.code, mask.hide(ended.message)), report: ended };
  }

  return async (call, options) => {
    const tool = await catalog.find(call.name);
    if (tool === undefined) {
      const gone = prepared.get(call.name);
      if (gone !== undefined) pool.forget(gone.component);
      prepared.delete(call.name);
      const message = `There is no tool named "${call.name}".`;
      return { outcome: { status: "error", code: "no_such_tool", message } };
    }
    const at = Date.now();
    const grant: Grant = {
      id: randomUUID(),
      tool: tool.name,
      user: options.user,
      capabilities: tool.capabilities,
      deadline: at + tool.capabilities.limits.timeoutSecs * 1000,
    };
    const brokered = broker.open(grant, options.tape);
    const { outcome, report } = await attempt(tool, grant, brokered, call.params, options).catch(
      (error: unknown) => ({
        outcome: {
          status: "error",
          code: "unavailable",
          message: mask.hide(reason(error)),
          receipt: grant.id,
        } as const,
        report: NOTHING_RAN,
      }),
    );
    const receipt: Receipt = {
      id: grant.id,
      at: new Date(at).toISOString(),
      tool: tool.name,
      digest: tool.digest,
      user: options.user,
      millis: Date.now() - at,
      ...summary(outcome),
      requests: brokered.traffic,
      credentials: [...new Set(brokered.traffic.flatMap(({ credentials }) => credentials))],
      memoryPeak: report.memoryPeakBytes,
      logs: report.logs.map(({ level, message }) => ({ level, message: mask.hide(message) })),
      logsDropped: report.droppedLogs,
    };
    receipts.add(receipt);
    return { outcome, receipt };
  };
}

function summary(outcome: ToolOutcome): Pick<Receipt, "status" | "code" | "message"> {
  const { status } = outcome;
  switch (status) {
    case "ok":
      return { status };
    case "error":
      return { status, code: outcome.code, message: outcome.message };
    case "unauthenticated":
      return { status, code: "unauthenticated", message: outcome.message };
  }
}
