/** Recorded calls played again, and what they asked for held against what the capabilities file grants. */
import { basename } from "node:path";
import type { Capabilities } from "../../../capabilities/capabilities.ts";
import { hostMatches, pathMatches } from "../../../capabilities/match.ts";
import { hostAndPort, type PrivateHosts } from "../../../kernel/kit/outbound.ts";
import type { JsonSchema } from "../../../kernel/plugin.ts";
import { credentialsFor } from "../../broker/credentials.ts";
import { type AllowedRequest, exceptionsFor, rule } from "../../broker/policy.ts";
import { type Recording, readRecording } from "../../broker/recording.ts";
import { type ReplayParts, replayCall } from "../../calls/replay.ts";
import type { PoolOutcome } from "../../sandbox/pool.ts";
import { type Finding, plural } from "./report.ts";

export interface Replays extends ReplayParts {
  readonly schema: JsonSchema;
  readonly recordings: readonly string[];
}

interface Seen {
  readonly allowed: AllowedRequest[];
  readonly refused: Set<string>;
  /** As `host:port`: reached only because the operator of this machine excepts them. */
  readonly excepted: Set<string>;
  readonly secretsAsked: Set<string>;
}

const NO_EXCEPTIONS: PrivateHosts = new Set();

export async function compareGrants(
  replays: Replays,
): Promise<{ readonly findings: readonly Finding[]; readonly memoryPeakBytes: number }> {
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
  const recording = await readRecording(file);
  const { params } = recording;
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
  const first = await play(recording, file, replays, seen);
  const second = await play(recording, file, replays, seen);
  const peak = Math.max(first.memoryPeakBytes, second.memoryPeakBytes);
  return { finding: { subject, ...judge(first, second) }, peak };
}

function judge(first: PoolOutcome, second: PoolOutcome): Pick<Finding, "verdict" | "detail"> {
  if (!first.ok)
    return { verdict: first.code === "tool_error" ? "note" : "fail", detail: `error: ${first.message}` };
  const shown = first.output.length > 120 ? `${first.output.slice(0, 119)}…` : first.output;
  return second.ok && second.output !== first.output
    ? {
        verdict: "note",
        detail: `a different answer the second time; it depends on time or chance: ${shown}`,
      }
    : { verdict: "ok", detail: shown };
}

async function play(recording: Recording, name: string, replays: Replays, seen: Seen): Promise<PoolOutcome> {
  const { outcome, capabilities, allowed, refused } = await replayCall(replays, recording, name);
  for (const sentence of refused) seen.refused.add(sentence);
  for (const { request, asked } of allowed) {
    seen.allowed.push(request);
    if (!rule(capabilities.http, asked, exceptionsFor(capabilities.http, NO_EXCEPTIONS)).ok)
      seen.excepted.add(hostAndPort(request.url));
  }
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
  // The operator chooses the host of a setting, so the author cannot know which requests it gets.
  const own = http.allowlist.filter(({ setting }) => setting === undefined);
  const rules = own.flatMap(({ host, pathPrefix, methods }) =>
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
