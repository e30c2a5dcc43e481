/** A component held against the contract, from its bytes to its behaviour. Nothing is installed and nothing stays. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Capabilities, SettingFormat } from "../../../capabilities/capabilities.ts";
import { settingValues } from "../../../capabilities/settings.ts";
import type { PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { readable } from "../../calls/crash.ts";
import { filesIn } from "../../calls/files/sources.ts";
import { openCallFiles } from "../../calls/files.ts";
import { openCallState } from "../../calls/state.ts";
import { type Candidate, digestOf } from "../../catalog/catalog.ts";
import { examine, type Introduce } from "../../catalog/install.ts";
import { assertAsked, inspect } from "../../compile/component.ts";
import { type ComponentSource, createComponent, isPrepared, knownOutline } from "../../compile/transpile.ts";
import { createPool, type Pool } from "../../sandbox/pool.ts";
import type { Component } from "../../sandbox/processes.ts";
import { locateFault } from "../trace/located.ts";
import { hasPlaces, locate, type Origin, readMap } from "../trace/source-map.ts";
import { compareGrants } from "./grants.ts";
import { probe } from "./probes.ts";
import type { Finding, Report } from "./report.ts";
import { reviewSchema } from "./schema.ts";
import { describeShape } from "./shape.ts";

export interface CheckOptions {
  readonly component: Uint8Array;
  readonly capabilitiesText: string;
  readonly recordings: readonly string[];
  readonly privateHosts: PrivateHosts;
  /** A code cache that may have the component's code already; nothing is added to it. */
  readonly codeFolder: string;
  readonly progress: (line: string) => void;
  /** All calls together may take this long. */
  readonly callsMs?: number;
  /** Ends the tool's process, and with it the check. */
  readonly signal?: AbortSignal;
}

const SLOW_START_MS = 1000;

export async function checkConformance(options: CheckOptions): Promise<Report> {
  const { component: bytes } = options;
  const cache = await mkdtemp(join(tmpdir(), "postern-check-"));
  const pool = readablePool(createPool({ size: 1, keepsSpare: true }), bytes);
  const end = () => void pool.close();
  options.signal?.addEventListener("abort", end, { once: true });
  let late: NodeJS.Timeout | undefined;
  let tooLate: Fault | undefined;
  const found: Finding[] = [];
  const told = { digest: digestOf(bytes), bytes: bytes.length };
  try {
    const { candidate, component } = await load(options, pool, cache, found);
    options.progress("trying it");
    const { callsMs } = options;
    if (callsMs !== undefined)
      late = setTimeout(() => {
        tooLate = new Fault(
          "invalid",
          "tool_too_slow",
          `took longer than ${callsMs / 1000} seconds together. Do they loop?`,
        );
        end();
      }, callsMs);
    found.push(...(await behave(options, pool, component, candidate)));
    if (tooLate !== undefined) throw tooLate;
    const { description, schema, grants } = candidate;
    const ok = !found.some(({ verdict }) => verdict === "fail");
    return { ok, ...told, findings: found, description, schema, grants };
  } catch (caught) {
    const error = tooLate ?? locateFault(caught, bytes);
    if (!(error instanceof Fault)) throw error;
    const subject = SUBJECTS[error.code] ?? "component";
    return { ok: false, ...told, findings: [...found, { subject, verdict: "fail", detail: error.message }] };
  } finally {
    clearTimeout(late);
    options.signal?.removeEventListener("abort", end);
    await pool.close();
    await rm(cache, { recursive: true, force: true });
  }
}

function readablePool(pool: Pool, component: Uint8Array): Pool {
  let origin: Origin | undefined;
  return {
    ...pool,
    async call(call) {
      const outcome = readable(await pool.call(call));
      if (outcome.ok || !hasPlaces(outcome.message)) return outcome;
      origin ??= readMap(component);
      return { ...outcome, message: locate(outcome.message, origin) };
    },
  };
}

const SUBJECTS: Readonly<Record<string, string>> = {
  foreign_import: "imports",
  missing_export: "exports",
  wrong_types: "types",
  wrong_wit_version: "WIT version",
  tool_wit_version: "WIT version",
  tool_capabilities: "capabilities",
  tool_description: "description",
  tool_schema: "schema",
  cannot_describe_itself: "start",
  tool_too_slow: "calls",
};

async function load(
  { component: bytes, capabilitiesText, progress, privateHosts, codeFolder }: CheckOptions,
  pool: Pool,
  cache: string,
  found: Finding[],
): Promise<{ readonly candidate: Candidate; readonly component: Component }> {
  const sourceOf = (sha256: string, { limits: { memoryMb }, files }: Capabilities): ComponentSource => {
    const own = { sha256, memoryMb, preopens: files };
    const source = { ...own, read: async () => bytes, cache: codeFolder, onProgress: progress };
    return isPrepared(source) ? source : { ...source, cache };
  };
  const introduce: Introduce = async (_, sha256, capabilities) => {
    const source = sourceOf(sha256, capabilities);
    const info = await inspect(bytes, await knownOutline(source));
    assertAsked(info, capabilities);
    found.push(...describeShape(bytes, info));
    const component = createComponent(source);
    const wasPrepared = isPrepared(source);
    const began = performance.now();
    const code = await component.load();
    const loaded = performance.now();
    const introduction = await pool.describe({ ...component, load: async () => code });
    const millis = Math.round(performance.now() - loaded);
    found.push({
      subject: "start",
      verdict: millis > SLOW_START_MS ? "warn" : "ok",
      detail: `${millis} ms to the first answer; ${
        wasPrepared ? "prepared before" : `prepared at install in ${((loaded - began) / 1000).toFixed(1)} s`
      }`,
    });
    return { ...introduction, denied: info.denied };
  };
  const candidate = await examine(bytes, capabilitiesText, introduce, privateHosts);
  return { candidate, component: createComponent(sourceOf(candidate.digest, candidate.capabilities)) };
}

const EXAMPLES: Readonly<Record<SettingFormat, string>> = {
  text: "text",
  host: "host.invalid",
  url: "https://host.invalid",
  number: "1",
  boolean: "true",
};

async function behave(
  { recordings, privateHosts }: CheckOptions,
  pool: Pool,
  component: Component,
  { description, schema, capabilities, capabilitiesText }: Candidate,
): Promise<readonly Finding[]> {
  // No call reaches a tool without its required settings, so the probes have some, too.
  const examples = capabilities.settings.flatMap(({ name, format, isRequired }) =>
    isRequired ? [[name, EXAMPLES[format]]] : [],
  );
  const settings = { ...Object.fromEntries(examples), ...settingValues(capabilities) };
  const { secretNames: secrets, state, files } = capabilities;
  const openState = () => state && openCallState(state.maxMb, async () => new Map());
  const openFiles = () => openCallFiles("", files, filesIn(new Map()));
  const timeoutMs = capabilities.limits.timeoutSecs * 1000;
  const known = { secrets, settings, timeoutMs, openState, openFiles };
  const probed = await probe(pool, component, schema, known);
  const compared = await compareGrants({
    ...{ pool, component, schema, capabilities, capabilitiesText, recordings, privateHosts },
  });
  const peak = Math.max(probed.memoryPeakBytes, compared.memoryPeakBytes);
  const { memoryMb } = capabilities.limits;
  const memory: Finding = {
    subject: "memory",
    verdict: peak > memoryMb * 2 ** 20 * 0.8 ? "warn" : "ok",
    detail: `at most ${(peak / 2 ** 20).toFixed(1)} MiB of ${memoryMb} MiB`,
  };
  return [...reviewSchema(description, schema), memory, ...probed.findings, ...compared.findings];
}
