/** A recorded call played again with a component that may not be installed: no network, no secrets, no receipt. */
import type { Capabilities } from "../../capabilities/capabilities.ts";
import type { PrivateHosts } from "../../kernel/kit.ts";
import { reason } from "../../kernel/plugin.ts";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import { type AllowedRequest, rule } from "../broker/policy.ts";
import { NotRecorded, playBack, type Recording } from "../broker/recording.ts";
import type { Pool, PoolOutcome } from "../sandbox/pool.ts";
import type { Component } from "../sandbox/processes.ts";

export interface ReplayParts {
  readonly pool: Pool;
  readonly component: Component;
  readonly capabilities: Capabilities;
  readonly privateHosts: PrivateHosts;
}

export interface Replayed {
  readonly outcome: PoolOutcome;
  readonly allowed: readonly { readonly request: AllowedRequest; readonly asked: ToolRequest }[];
  /** Sentences: what the capabilities file does not grant. */
  readonly refused: readonly string[];
  /** Sentences: what was asked for and not recorded. */
  readonly unanswered: readonly string[];
}

/** `name`: of the recording. */
export async function replayCall(
  { pool, component, capabilities, privateHosts }: ReplayParts,
  recording: Recording,
  name: string,
): Promise<Replayed> {
  const tape = playBack(recording, name);
  const allowed: Replayed["allowed"][number][] = [];
  const refused: string[] = [];
  const unanswered: string[] = [];
  const answer = (asked: ToolRequest): ToolReply => {
    const ruling = rule(capabilities.http, asked, privateHosts);
    if (!ruling.ok) {
      refused.push(`${asked.method} ${asked.url.split("?")[0]}: ${ruling.error}`);
      return { ok: false, error: ruling.error };
    }
    allowed.push({ request: ruling.request, asked });
    try {
      return { ok: true, ...tape.play(ruling.request) };
    } catch (error) {
      if (error instanceof NotRecorded) unanswered.push(error.message);
      return { ok: false, error: reason(error) };
    }
  };
  const outcome = await pool.call({
    component,
    params: JSON.stringify(recording.params ?? {}),
    timeoutMs: capabilities.limits.timeoutSecs * 1000,
    http: async (request) => answer(request),
    secrets: capabilities.secretNames,
  });
  return { outcome, allowed, refused, unanswered };
}
