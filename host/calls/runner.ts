/** One tool call, from the model's words to an outcome and a receipt. Whatever a tool does is an outcome. */
import { randomUUID } from "node:crypto";

import { settingValues } from "../../capabilities/settings.ts";
import { invalidParams } from "../../kernel/kit/schema.ts";
import { distinctOrigins } from "../../kernel/kit/turns.ts";
import { reason, type ToolCall, type ToolOutcome } from "../../kernel/plugin.ts";
import type { Grant, TrafficEntry } from "../broker/grant.ts";
import type { InstalledTool } from "../catalog/catalog.ts";
import { explainNeeds, unsetSettings } from "../catalog/settings.ts";
import {
  type ComponentSource,
  createComponent,
  isPrepared,
  prepare as prepareCode,
} from "../compile/transpile.ts";
import type { PoolReport } from "../sandbox/pool.ts";
import type { Component } from "../sandbox/processes.ts";
import type { Extras } from "../services.ts";
import { readable } from "./crash.ts";
import { type InnerCalls, openInnerCalls } from "./inner-calls.ts";
import type { RunnerParts, RunOptions } from "./parts.ts";
import type { Receipt } from "./receipts.ts";
import { applySettings } from "./replay.ts";
import { keepFiles, keepState, namesOf, openFiles, openState } from "./storage.ts";

export interface Run {
  readonly outcome: ToolOutcome & Pick<Extras, "origins">;
  readonly receipt?: Receipt;
}

interface Prepared {
  readonly component: Component;
  readonly schema: string;
  /** Transpiles it where that was not done yet: calls wait for it together, and it counts for no call's time. */
  ready(signal?: AbortSignal, onPreparing?: RunOptions["onPreparing"]): Promise<void>;
}

interface Attempt {
  readonly outcome: Run["outcome"];
  readonly report: PoolReport;
  readonly traffic: readonly TrafficEntry[];
  readonly calls?: ReturnType<InnerCalls["made"]>;
  readonly files?: Receipt["files"];
}

const NOTHING_RAN = {
  report: { logs: [], droppedLogs: 0, memoryPeakBytes: 0, secretsAsked: [], millis: 0 },
  traffic: [],
} as const;

export function createRunner(parts: RunnerParts) {
  const { cache, catalog, pool, broker, receipts, switches, workspace, mask, log } = parts;
  const prepared = new Map<string, Prepared & { readonly tool: InstalledTool }>();

  function prepare(tool: InstalledTool): Prepared {
    const known = prepared.get(tool.name);
    if (known?.tool === tool) return known;
    const source: ComponentSource = {
      sha256: tool.digest,
      read: () => catalog.read(tool),
      isChecked: true,
      cache,
      memoryMb: tool.capabilities.limits.memoryMb,
      preopens: tool.capabilities.files,
    };
    const component = createComponent(source);
    if (known !== undefined && known.component.key !== component.key) pool.forget(known.component);
    const made = { tool, component, schema: JSON.stringify(tool.schema), ready: codeOf(source) };
    prepared.set(tool.name, made);
    return made;
  }

  function codeOf(source: ComponentSource): Prepared["ready"] {
    let made: Promise<void> | undefined;
    let isMade = false;
    return async (signal, onPreparing) => {
      if (isMade) return;
      isMade = made === undefined && isPrepared(source);
      if (isMade) return;
      made ??= prepareCode(source).then(() => {
        isMade = true;
      });
      const making = made;
      onPreparing?.(true);
      making.catch(() => {
        made = undefined;
      });
      const cancelled = Promise.withResolvers<void>();
      signal?.addEventListener("abort", () => cancelled.resolve(), { once: true });
      try {
        await Promise.race([making, cancelled.promise]);
      } finally {
        onPreparing?.(false);
      }
    };
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
    const { user, signal, tape, trace, checkAddress, onPreparing } = options;
    // What a recorded call was made with goes before what the operator has given since.
    const played = tape?.type === "player" ? tape.settings : undefined;
    const theirs =
      played === undefined
        ? await parts.ownSettings.apply(tool, user)
        : { ...tool, user, ownOnly: false, capabilities: applySettings(tool.capabilitiesText, played) };
    const { capabilities, ownOnly } = theirs;
    const off = await switchedOff(tool);
    if (off !== undefined) return failed(id, off.code, off.message);
    const { component, schema, ready } = prepare(tool);
    await ready(signal, onPreparing);
    const missing = tape?.type === "player" ? undefined : await broker.missingCredential(theirs);
    if (missing !== undefined) {
      const detail = await pool.check(component, schema, params);
      if (detail !== undefined) return refused(id, detail);
      return { ...NOTHING_RAN, outcome: { status: "unauthenticated", tool: tool.name, ...missing } };
    }
    const unset = tape?.type === "player" ? undefined : notSetUp(theirs);
    if (unset !== undefined) return failed(id, unset.code, unset.message);
    if (capabilities.files.length > 0 && workspace === undefined && tape?.type !== "player")
      return failed(id, "no_workspace", explainNoWorkspace(tool.name));
    const secrets = await broker.existingSecrets(theirs);
    const settings = settingValues(capabilities);
    const timeoutMs = capabilities.limits.timeoutSecs * 1000;
    const { name, digest } = tool;
    const deadline = Date.now() + timeoutMs;
    const grant: Grant = {
      ...{ id, tool: name, digest, user, ownOnly, capabilities, deadline, trace, checkAddress },
    };
    const brokered = broker.open(grant, tape);
    const remembered = openState(parts, tool, options);
    const files = openFiles(parts, tool, options);
    const inner =
      capabilities.agentTools.length > 0
        ? openInnerCalls(tool, id, options, catalog, () => files?.origins() ?? [])
        : undefined;
    const originsRead = () => distinctOrigins([...(files?.origins() ?? []), ...(inner?.origins() ?? [])]);
    try {
      const ended = readable(
        await pool.call({
          ...{ component, params, schema, timeoutMs, secrets, settings, signal },
          http: brokered.send,
          state: remembered?.answer,
          files: files?.answer,
          inner: inner?.answer,
        }),
      );
      const { traffic } = brokered;
      const lost = ended.ok
        ? ((await keepFiles(parts, tool, files, originsRead(), options)) ??
          (await keepState(parts, tool, remembered, options)))
        : undefined;
      const calls = inner?.made();
      const seen = {
        report: ended,
        traffic,
        calls,
        files: files && namesOf(files, ended.ok && lost === undefined),
      };
      if (lost !== undefined) return { ...failed(id, lost.code, lost.message), ...seen };
      if (!ended.ok && ended.code === "invalid_params") return refused(id, ended.message);
      // What it says of a failure may quote what it read, too.
      const origins = originsRead().length > 0 ? { origins: originsRead() } : {};
      const outcome: Run["outcome"] = ended.ok
        ? { status: "ok", output: ended.output, receipt: id, ...origins }
        : { ...failed(id, ended.code, mask.hide(ended.message)).outcome, ...origins };
      return { outcome, ...seen };
    } finally {
      files?.close();
    }
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
    const { outcome, report, traffic, files, calls } = await attempt(tool, id, call.params, options).catch(
      (error: unknown): Attempt => failed(id, "unavailable", mask.hide(reason(error))),
    );
    const receipt: Receipt = {
      id,
      at: new Date(at).toISOString(),
      tool: tool.name,
      digest: tool.digest,
      user: options.user,
      channel: options.channel,
      ruling: options.ruling,
      parent: options.parent,
      ...(calls !== undefined && calls.length > 0 && { calls }),
      millis: Date.now() - at,
      ...summary(outcome),
      requests: traffic,
      files,
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
    /** The outcome of a call that would be refused, for its params or because the tool is off; it leaves no receipt. */
    async refusal(call: ToolCall, user: string): Promise<ToolOutcome | undefined> {
      const tool = await catalog.find(call.name);
      if (tool === undefined) return undefined;
      const off = await switchedOff(tool);
      if (off !== undefined) return off;
      const { component, schema, ready } = prepare(tool);
      await ready();
      const detail = await pool.check(component, schema, call.params);
      if (detail !== undefined) return invalidParams(detail);
      const theirs = await parts.ownSettings.apply(tool, user);
      const missing = await broker.missingCredential(theirs);
      if (missing !== undefined) return { status: "unauthenticated", tool: tool.name, ...missing };
      return notSetUp(theirs);
    },
    async died(component: Component, why: string): Promise<void> {
      for (const { tool, component: own } of prepared.values())
        if (own.key === component.key) await switches.died(tool, why);
    },
    /** Loads the tool that is likeliest to be called first, so that its first call is as quick as the next ones, and transpiles the others where that was not done yet. */
    async warmUp(): Promise<void> {
      const installed = await catalog.list();
      const off = await Promise.all(installed.map(switches.off));
      const tools = installed.filter((_, at) => off[at] === undefined);
      const [last] = await receipts.list({ limit: 1 });
      // One, whatever is installed: memory is for tools in use.
      const tool = tools.find(({ name }) => name === last?.tool) ?? tools[0];
      if (tool === undefined) return;
      await pool.describe(prepare(tool).component);
      for (const other of tools) await prepare(other).ready();
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

function notSetUp(tool: InstalledTool) {
  const unset = unsetSettings(tool.capabilities);
  if (unset.length === 0) return undefined;
  return { status: "error", code: "not_set_up", message: explainNeeds(tool, unset) } as const;
}

function explainNoWorkspace(tool: string): string {
  return `${tool} uses files of the workspace, and the workspace is off here, so it was not called. \`postern doctor\` says why it is off.`;
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
