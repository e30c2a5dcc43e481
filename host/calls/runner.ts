/** One tool call, from the model's words to an outcome and a receipt. Whatever a tool does is an outcome. */
import { randomUUID } from "node:crypto";
import { type CallTrace, invalidParams } from "../../kernel/kit.ts";
import { type Log, type Mask, reason, type ToolCall, type ToolOutcome } from "../../kernel/plugin.ts";
import type { Broker } from "../broker/broker.ts";
import type { Grant, TrafficEntry } from "../broker/grant.ts";
import type { Tape } from "../broker/recording.ts";
import type { Catalog, InstalledTool } from "../catalog/catalog.ts";
import { createComponent } from "../compile/transpile.ts";
import type { Pool, PoolReport } from "../sandbox/pool.ts";
import type { Component } from "../sandbox/processes.ts";
import { readable } from "./crash.ts";
import type { Receipt, Receipts } from "./receipts.ts";
import type { Switches } from "./switches.ts";

export interface RunOptions {
  readonly user: string;
  readonly channel?: string;
  readonly signal?: AbortSignal;
  readonly ruling?: NonNullable<Receipt["ruling"]>;
  /** Keeps or plays back the HTTP exchanges. */
  readonly tape?: Tape;
  readonly trace?: CallTrace;
}

export interface Run {
  readonly outcome: ToolOutcome;
  /** Absent where there was no tool to call. */
  readonly receipt?: Receipt;
}

export interface RunnerParts {
  readonly cache: string;
  readonly catalog: Catalog;
  readonly pool: Pool;
  readonly broker: Broker;
  readonly receipts: Receipts;
  readonly switches: Switches;
  readonly mask: Mask;
  readonly log: Log;
}

export interface Runner {
  run(call: ToolCall, options: RunOptions): Promise<Run>;
  /** The outcome of a call that would be refused, for its params or because the tool is off; it leaves no receipt. */
  refusal(call: ToolCall): Promise<ToolOutcome | undefined>;
  /** A component took its process down. */
  died(component: Component, why: string): Promise<void>;
  /** Loads the tool that is likeliest to be called first, so that its first call is as quick as the next ones. */
  warmUp(): Promise<void>;
}

interface Prepared {
  readonly component: Component;
  readonly schema: string;
}

interface Attempt {
  readonly outcome: ToolOutcome;
  readonly report: PoolReport;
  readonly traffic: readonly TrafficEntry[];
}

const NOTHING_RAN = {
  report: { logs: [], droppedLogs: 0, memoryPeakBytes: 0, secretsAsked: [], millis: 0 },
  traffic: [],
} as const;

export function createRunner(parts: RunnerParts): Runner {
  const { cache, catalog, pool, broker, receipts, switches, mask, log } = parts;
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
    const made = { tool, component, schema: JSON.stringify(tool.schema) };
    prepared.set(tool.name, made);
    return made;
  }

  async function switchedOff(tool: InstalledTool) {
    const off = await switches.off(tool);
    if (off === undefined) return undefined;
    const { name } = tool;
    const message = `${name} is switched off. ${off.why} The operator can switch it on again: postern tool enable ${name}`;
    return { status: "error", code: "switched_off", message } as const;
  }

  async function attempt(
    tool: InstalledTool,
    id: string,
    params: string,
    options: RunOptions,
  ): Promise<Attempt> {
    const { user, signal, tape, trace } = options;
    const { capabilities } = tool;
    const off = await switchedOff(tool);
    if (off !== undefined) return failed(id, off.code, off.message);
    const { component, schema } = prepare(tool);
    const missing = tape?.type === "player" ? undefined : await broker.missingCredential(tool);
    if (missing !== undefined) {
      const detail = await pool.check(component, schema, params);
      if (detail !== undefined) return refused(id, detail);
      return { ...NOTHING_RAN, outcome: { status: "unauthenticated", tool: tool.name, ...missing } };
    }
    const secrets = await broker.existingSecrets(tool);
    const timeoutMs = capabilities.limits.timeoutSecs * 1000;
    const { name, digest } = tool;
    const deadline = Date.now() + timeoutMs;
    const grant: Grant = { id, tool: name, digest, user, capabilities, deadline, trace };
    const brokered = broker.open(grant, tape);
    const ended = readable(
      await pool.call({
        component,
        params,
        schema,
        timeoutMs,
        http: brokered.send,
        secrets,
        signal,
      }),
    );
    if (!ended.ok && ended.code === "invalid_params") return refused(id, ended.message);
    const { traffic } = brokered;
    return ended.ok
      ? { outcome: { status: "ok", output: ended.output, receipt: id }, report: ended, traffic }
      : { ...failed(id, ended.code, mask.hide(ended.message)), report: ended, traffic };
  }

  async function run(call: ToolCall, options: RunOptions): Promise<Run> {
    const tool = await catalog.find(call.name);
    if (tool === undefined) {
      const gone = prepared.get(call.name);
      if (gone !== undefined) pool.forget(gone.component);
      prepared.delete(call.name);
      const message = `There is no tool named "${call.name}".`;
      return { outcome: { status: "error", code: "no_such_tool", message } };
    }
    const id = randomUUID();
    const at = Date.now();
    const { outcome, report, traffic } = await attempt(tool, id, call.params, options).catch(
      (error: unknown) => failed(id, "unavailable", mask.hide(reason(error))),
    );
    const receipt: Receipt = {
      id,
      at: new Date(at).toISOString(),
      tool: tool.name,
      digest: tool.digest,
      user: options.user,
      channel: options.channel,
      ruling: options.ruling,
      millis: Date.now() - at,
      ...summary(outcome),
      requests: traffic,
      credentials: [...new Set(traffic.flatMap(({ credentials }) => credentials))],
      memoryPeak: report.memoryPeakBytes,
      logs: report.logs.map(({ level, message }) => ({ level, message: mask.hide(message) })),
      logsDropped: report.droppedLogs,
    };
    await receipts.add(receipt, (error) =>
      log.error({ error, receipt }, `the receipt for a call of ${tool.name} could not be stored`),
    );
    return { outcome, receipt };
  }

  return {
    run,
    async refusal(call) {
      const tool = await catalog.find(call.name);
      if (tool === undefined) return undefined;
      const off = await switchedOff(tool);
      if (off !== undefined) return off;
      const { component, schema } = prepare(tool);
      const detail = await pool.check(component, schema, call.params);
      return detail === undefined ? undefined : invalidParams(detail);
    },
    async died(component, why) {
      for (const { tool, component: own } of prepared.values())
        if (own.key === component.key) await switches.died(tool, why);
    },
    async warmUp() {
      const installed = await catalog.list();
      const off = await Promise.all(installed.map(switches.off));
      const tools = installed.filter((_, at) => off[at] === undefined);
      const [last] = await receipts.list({ limit: 1 });
      // One, whatever is installed: memory is for tools in use.
      const tool = tools.find(({ name }) => name === last?.tool) ?? tools[0];
      if (tool !== undefined) await pool.describe(prepare(tool).component);
    },
  };
}

function refused(receipt: string, detail: string): Attempt {
  const { code, message } = invalidParams(detail);
  return failed(receipt, code, message);
}

function failed(receipt: string, code: string, message: string): Attempt {
  return { ...NOTHING_RAN, outcome: { status: "error", code, message, receipt } };
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
