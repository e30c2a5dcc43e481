/** A recorded call played again with a component that may not be installed: no network, no secrets, no receipt. */
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { hostOfSetting, settingValues } from "../../capabilities/settings.ts";
import type { PrivateHosts } from "../../kernel/kit/outbound.ts";
import { type JsonSchema, reason } from "../../kernel/plugin.ts";
import type { ToolReply, ToolRequest } from "../broker/grant.ts";
import { type AllowedRequest, exceptionsFor, rule } from "../broker/policy.ts";
import { NotRecorded, parseRecording, playBack, type Recording } from "../broker/recording.ts";
import type { Candidate } from "../catalog/catalog.ts";
import type { CodeCache } from "../catalog/code-cache.ts";
import { readCapabilities } from "../catalog/install.ts";
import type { GivenSettings } from "../catalog/settings.ts";
import { createComponent } from "../compile/transpile.ts";
import type { Pool, PoolOutcome } from "../sandbox/pool.ts";
import type { Component } from "../sandbox/processes.ts";
import { filesIn } from "./files/sources.ts";
import { openCallFiles } from "./files.ts";
import { openCallState } from "./state.ts";

export interface ReplayParts {
  readonly pool: Pool;
  readonly component: Component;
  readonly capabilities: Capabilities;
  readonly capabilitiesText: string;
  readonly privateHosts: PrivateHosts;
}

export interface Replayed {
  readonly outcome: PoolOutcome;
  /** With the settings of the recording. */
  readonly capabilities: Capabilities;
  readonly allowed: readonly { readonly request: AllowedRequest; readonly asked: ToolRequest }[];
  readonly refused: readonly string[];
  readonly unanswered: readonly string[];
}

export async function replayCall(
  { pool, component, capabilities: installed, capabilitiesText, privateHosts }: ReplayParts,
  recording: Recording,
  name: string,
): Promise<Replayed> {
  const { settings } = recording;
  const capabilities = settings === undefined ? installed : applySettings(capabilitiesText, settings);
  const tape = playBack(recording, name);
  const allowed: Replayed["allowed"][number][] = [];
  const refused: string[] = [];
  const unanswered: string[] = [];
  const answer = (asked: ToolRequest): ToolReply => {
    const ruling = rule(capabilities.http, asked, exceptionsFor(capabilities.http, privateHosts));
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
  const { state: granted } = capabilities;
  const files = openCallFiles("", capabilities.files, filesIn(tape.files));
  const outcome = await pool.call({
    component,
    params: JSON.stringify(recording.params ?? {}),
    timeoutMs: capabilities.limits.timeoutSecs * 1000,
    http: async (request) => answer(request),
    secrets: capabilities.secretNames,
    settings: settingValues(capabilities),
    // The state belongs to this one call: its writes are dropped afterwards.
    state: granted && openCallState(granted.maxMb, async () => tape.state).answer,
    files: files.answer,
  });
  files.close();
  return { outcome, capabilities, allowed, refused, unanswered };
}

/** Nothing is dialled, so hosts that only an operator could allow are as good as others. */
export function applySettings(capabilitiesText: string, settings: GivenSettings): Capabilities {
  const hosts = readCapabilities(capabilitiesText, { settings, privateHosts: [] }).settings.flatMap(
    ({ format, value }) => (value === undefined ? [] : (hostOfSetting(format, value)?.hostAndPort ?? [])),
  );
  return readCapabilities(capabilitiesText, { settings, privateHosts: hosts });
}

export interface Answered {
  readonly recording: string;
  readonly ok: boolean;
  readonly detail?: string;
}

export type ReplayCandidate = (
  candidate: Candidate,
  recordings: readonly { readonly name: string; readonly text: string }[],
) => Promise<readonly Answered[]>;

export function createReplay(pool: Pool, code: CodeCache, privateHosts: PrivateHosts): ReplayCandidate {
  return async ({ component: bytes, digest, capabilities, capabilitiesText, schema }, recordings) => {
    const { memoryMb } = capabilities.limits;
    const component = createComponent({
      sha256: digest,
      read: async () => bytes,
      cache: code.folder,
      memoryMb,
      preopens: capabilities.files,
    });
    try {
      const parts = { pool, component, capabilities, capabilitiesText, privateHosts };
      const answers: Answered[] = [];
      for (const { name, text } of recordings) {
        const detail = await findProblem(parts, schema, name, text);
        answers.push({ recording: name, ok: detail === undefined, detail });
      }
      return answers;
    } finally {
      pool.forget(component);
    }
  };
}

async function findProblem(
  parts: ReplayParts,
  schema: JsonSchema,
  name: string,
  text: string,
): Promise<string | undefined> {
  let recording: Recording;
  try {
    recording = parseRecording(text, name);
  } catch (error) {
    return reason(error);
  }
  if (recording.params === undefined) return "it says no params, so it cannot be played";
  const params = JSON.stringify(recording.params);
  const mistake = await parts.pool.check(parts.component, JSON.stringify(schema), params);
  if (mistake !== undefined) return `its params do not match the schema: ${mistake}`;
  const { outcome, refused, unanswered } = await replayCall(parts, recording, name);
  if (outcome.ok) return undefined;
  const [missing] = [...refused, ...unanswered];
  if (missing !== undefined) return missing;
  // An error of the tool's own may be what was recorded.
  return outcome.code === "tool_error" ? undefined : outcome.message;
}
