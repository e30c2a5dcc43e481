/** Recorded calls played again, and what they asked for held against what the capabilities file grants. */
import { basename } from "node:path";
import type { Capabilities } from "../../../capabilities/capabilities.ts";
import { hostMatches, pathMatches } from "../../../capabilities/match.ts";
import { hostAndPort, type PrivateHosts } from "../../../kernel/net/address.ts";
import { type JsonSchema, reason } from "../../../kernel/plugin.ts";
import { credentialsFor } from "../../broker/credentials.ts";
import type { ToolReply, ToolRequest } from "../../broker/grant.ts";
import { type AllowedRequest, rule } from "../../broker/policy.ts";
import { readRecording, replayFrom } from "../../broker/recording.ts";
import type { Component } from "../../compile/transpile.ts";
import type { Pool, PoolOutcome } from "../../sandbox/pool.ts";
import { type Finding, plural } from "./report.ts";

export interface Replays {
  readonly pool: Pool;
  readonly component: Component;
  readonly schema: JsonSchema;
  readonly capabilities: Capabilities;
  readonly recordings: readonly string[];
  readonly privateHosts: PrivateHosts;
}

/** What all recordings together asked for. */
interface Seen {
  readonly allowed: AllowedRequest[];
  /** Sentences, each once. */
  readonly refused: Set<string>;
  /** As `host:port`: reached only because the operator of this machine excepts them. */
  readonly excepted: Set<string>;
  readonly secretsAsked: Set<string>;
}

const NO_EXCEPTIONS: PrivateHosts = new Set();

export async function compareGrants(replays: Replays): Promise<{
  readonly findings: readonly Finding[];
  readonly memoryPeakBytes: number;
}> {
  const { recordings, capabilities } = replays;
  if (recordings.length === 0) {
    const detail = "not compared with actual use: pass --replay with recorded calls";
    return { findings: [{ subject: "grants", verdict: "note", detail }], memoryPeakBytes: 0 };
  }
  const seen: Seen = { allowed: [], refused: new Set(), excepted: new Set(), secretsAsked: new Set() };
  const findings: Finding[] = [];
  let memoryPeakBytes = 0;
  for (const file of recordings) {
    const { finding, peak } = await replay(file, replays, seen);
    findings.push(finding);
    memoryPeakBytes = Math.max(memoryPeakBytes, peak);
  }
  for (const name of seen.secretsAsked)
    if (!capabilities.secretNames.includes(name))
      seen.refused.add(`asking whether \`${name}\` is set: it is not in secrets.allowed_names`);
  const unused = [...findUnusedHttp(capabilities, seen.allowed), ...findUnusedSecrets(capabilities, seen)];
  const calls = plural(recordings.length, "recorded call");
  return {
    findings: [
      ...findings,
      ...[...seen.refused].map(
        (detail): Finding => ({ subject: "used, not granted", verdict: "warn", detail }),
      ),
      ...unused.map(
        (what): Finding => ({
          subject: "granted, not used",
          verdict: "warn",
          detail: `${what}: not used in ${calls}`,
        }),
      ),
      ...[...seen.excepted].map(
        (host): Finding => ({
          subject: "private hosts",
          verdict: "note",
          detail: `${host} works only where the operator lists it in TOOLS_PRIVATE_HOSTS, as you do`,
        }),
      ),
      ...(seen.refused.size + unused.length === 0
        ? [{ subject: "grants", verdict: "ok", detail: `exactly what ${calls} used` } as const]
        : []),
    ],
    memoryPeakBytes,
  };
}

async function replay(
  file: string,
  replays: Replays,
  seen: Seen,
): Promise<{ readonly finding: Finding; readonly peak: number }> {
  const subject = basename(file);
  const { params } = await readRecording(file);
  if (params === undefined) {
    const detail = 'it says no params, so it cannot be played: add "params", or record it again';
    return { finding: { subject, verdict: "warn", detail }, peak: 0 };
  }
  const text = JSON.stringify(params);
  const mistake = await replays.pool.check(replays.component, JSON.stringify(replays.schema), text);
  if (mistake !== undefined) {
    const detail = `its params do not match the schema: ${mistake}`;
    return { finding: { subject, verdict: "warn", detail }, peak: 0 };
  }
  const first = await play(file, text, replays, seen);
  const second = await play(file, text, replays, seen);
  const peak = Math.max(first.memoryPeakBytes, second.memoryPeakBytes);
  return { finding: { subject, ...judge(first, second) }, peak };
}

function judge(first: PoolOutcome, second: PoolOutcome): Pick<Finding, "verdict" | "detail"> {
  if (!first.ok) {
    return { verdict: first.code === "tool_error" ? "note" : "fail", detail: `error: ${first.message}` };
  }
  const shown = first.output.length > 120 ? `${first.output.slice(0, 119)}…` : first.output;
  return second.ok && second.output !== first.output
    ? {
        verdict: "note",
        detail: `a different answer the second time; it depends on time or chance: ${shown}`,
      }
    : { verdict: "ok", detail: shown };
}

async function play(file: string, params: string, replays: Replays, seen: Seen): Promise<PoolOutcome> {
  const { pool, component, capabilities, privateHosts } = replays;
  const tape = await replayFrom(file);
  const answer = (request: ToolRequest): ToolReply => {
    const ruling = rule(capabilities.http, request, privateHosts);
    if (!ruling.ok) {
      seen.refused.add(`${request.method} ${request.url.split("?")[0]}: ${ruling.error}`);
      return { ok: false, error: ruling.error };
    }
    seen.allowed.push(ruling.request);
    if (!rule(capabilities.http, request, NO_EXCEPTIONS).ok)
      seen.excepted.add(hostAndPort(ruling.request.url));
    try {
      return { ok: true, ...tape.play(ruling.request) };
    } catch (error) {
      return { ok: false, error: reason(error) };
    }
  };
  const outcome = await pool.call({
    component,
    params,
    timeoutMs: capabilities.limits.timeoutSecs * 1000,
    http: async (request) => answer(request),
    secrets: capabilities.secretNames,
  });
  for (const name of outcome.secretsAsked) seen.secretsAsked.add(name);
  return outcome;
}

function findUnusedSecrets({ secretNames, http }: Capabilities, { secretsAsked }: Seen): readonly string[] {
  return secretNames
    .filter((name) => !secretsAsked.has(name))
    .map((name) => {
      const isCredential = http?.credentials.some(({ secretName }) => secretName === name) ?? false;
      return `asking whether \`${name}\` is set${isCredential ? "" : ", which no credential uses either"}`;
    });
}

function findUnusedHttp({ http }: Capabilities, allowed: readonly AllowedRequest[]): readonly string[] {
  if (http === undefined) return [];
  const rules = http.allowlist.flatMap(({ host, pathPrefix, methods }) =>
    methods
      .filter(
        (method) =>
          !allowed.some(
            (request) =>
              request.method === method &&
              hostMatches(host, request.url.hostname) &&
              pathMatches(pathPrefix, decodeURI(request.url.pathname)),
          ),
      )
      .map((method) => `${method} https://${host}${pathPrefix}${pathPrefix.endsWith("/") ? "*" : ""}`),
  );
  const credentials = http.credentials
    .filter((credential) => !allowed.some(({ url }) => credentialsFor(http, url).includes(credential)))
    .map(({ name, secretName }) => `the credential "${name}" (\`${secretName}\`)`);
  return [...rules, ...credentials];
}
