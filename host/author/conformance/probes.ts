/** How a tool takes params that no model should write: it is asked directly, past the host's own check. */
import type { JsonSchema } from "../../../kernel/plugin.ts";
import type { CallFiles } from "../../calls/files.ts";
import type { CallState } from "../../calls/state.ts";
import type { Pool, PoolCall, PoolOutcome } from "../../sandbox/pool.ts";
import type { Component } from "../../sandbox/processes.ts";
import type { Finding, Verdict } from "./report.ts";

const PROBE_MS = 10_000;

export async function probe(
  pool: Pool,
  component: Component,
  schema: JsonSchema,
  {
    openState,
    openFiles,
    ...known
  }: Pick<PoolCall, "secrets" | "settings" | "timeoutMs"> & {
    openState(): CallState | undefined;
    openFiles(): CallFiles;
  },
) {
  const text = JSON.stringify(schema);
  const isFit = async (params: string) => (await pool.check(component, text, params)) === undefined;
  const findings: Finding[] = [];
  let memoryPeakBytes = 0;
  for (const { subject, params } of [
    { subject: "malformed params", params: '{"' },
    { subject: "empty params", params: "{}" },
    ...violations(schema),
  ]) {
    const fits = await isFit(params);
    if (fits && subject !== "empty params") continue;
    const outcome = await pool.call({
      component,
      params,
      http: async () => ({ ok: false, error: "There is no network while a tool is checked." }),
      ...known,
      timeoutMs: Math.min(PROBE_MS, known.timeoutMs),
      state: openState()?.answer,
      files: openFiles().answer,
    });
    memoryPeakBytes = Math.max(memoryPeakBytes, outcome.memoryPeakBytes);
    findings.push({ subject, ...judge(outcome, fits) });
  }
  return { findings, memoryPeakBytes };
}

function violations(schema: JsonSchema): readonly { readonly subject: string; readonly params: string }[] {
  const properties = Object.keys((schema["properties"] ?? {}) as object);
  const required = (schema["required"] ?? []) as readonly string[];
  const wrong = Object.fromEntries(properties.map((name) => [name, { not: "what was asked for" }]));
  return [
    { subject: "params of wrong types", params: JSON.stringify(wrong) },
    { subject: "an unknown param", params: JSON.stringify({ "not a param": true }) },
    ...(required.length > 0
      ? [{ subject: "params that are null", params: JSON.stringify(nulls(required)) }]
      : []),
    { subject: "params that are a list", params: "[]" },
  ];
}

function nulls(names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

function judge(outcome: PoolOutcome, isFit: boolean): { readonly verdict: Verdict; readonly detail: string } {
  if (outcome.ok)
    return isFit
      ? { verdict: "ok", detail: "answered" }
      : { verdict: "note", detail: "accepted; the host rejects such params before the call" };
  const { code, message } = outcome;
  if (code === "tool_error") return { verdict: "ok", detail: `rejected with: ${message}` };
  if (isFit) return { verdict: "fail", detail: `its schema allows this, but it crashed: ${message}` };
  // It did answer, and the host would not have asked.
  if (code === "bad_response") return { verdict: "warn", detail: message };
  return { verdict: "fail", detail: `it crashed instead of returning an error: ${message}` };
}
