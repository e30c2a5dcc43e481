/** Opens the host of a folder with the defaults for what it was not given. */
import { resolve } from "node:path";
import { claimFolder, makeFolders } from "../../kernel/kit/files.ts";
import { parsePrivateHosts } from "../../kernel/kit/outbound.ts";
import { createMask } from "../../kernel/kit/secrets.ts";
import { Fault, type Log, reason, type ToolOutcome } from "../../kernel/plugin.ts";
// The library puts the host on a store, as main.ts does for the service.
import { openHomeStore } from "../../plugins/store/sqlite/home-store.ts";
import type { Offer, Proposal } from "../installer.ts";
import { installed } from "../setup.ts";
import { readReference } from "../sources/local.ts";
import { createToolHost, runEvery, type ToolHostParts } from "../tool-host.ts";
import type {
  CallOptions,
  InstallOptions,
  ToolEvent,
  ToolFiles,
  ToolHost,
  ToolHostOptions,
} from "./contract.ts";

const nothing = () => {};
const SILENT: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing };

export async function open(options: ToolHostOptions): Promise<ToolHost> {
  const folder = resolve(options.folder);
  const { values = {}, log = SILENT, files, limits } = options;
  const undo: (() => unknown)[] = [claim(folder)];
  let closed: Promise<void> | undefined;
  const asked = new Set<(no: false) => void>();
  const close = () => {
    closed ??= (async () => {
      for (const answer of asked) answer(false);
      await runEvery(undo.reverse());
    })();
    return closed;
  };
  const ask: Ask = async (question) => {
    if (closed !== undefined) return false;
    const { promise: refused, resolve } = Promise.withResolvers<boolean>();
    asked.add(resolve);
    try {
      return await Promise.race([question(), refused]);
    } finally {
      asked.delete(resolve);
    }
  };
  /** Calls that are ended by closing still store what came of them. */
  const running = new Set<Promise<unknown>>();
  const whileOpen: WhileOpen = (work) => {
    if (closed !== undefined)
      return Promise.reject(new Fault("unavailable", "tool_host_closed", "The tool host is closed."));
    const run = work();
    const ended = run.then(nothing, nothing).then(() => void running.delete(ended));
    running.add(ended);
    return run;
  };
  try {
    const mask = createMask();
    for (const value of Object.values(values)) mask.add(value);
    const own = options.store ?? openHomeStore(folder);
    if (options.store === undefined) undo.push(() => (own as ReturnType<typeof openHomeStore>).close());
    const parts = await createToolHost({
      config: {
        privateHosts: readPrivateHosts(options.privateHosts),
        workers: options.workers,
        ...(options.processes !== undefined && { processes: options.processes }),
        memoryBytes: options.memoryMb === undefined ? undefined : options.memoryMb * 2 ** 20,
        ...(options.indexes && { indexes: options.indexes }),
        npmRegistry: options.npmRegistry,
        variable: (name) => (Object.hasOwn(values, name) ? values[name] : undefined),
      },
      ...{ home: folder, store: own, mask, log },
      ...(limits && { storage: limits }),
      workspace: files,
    });
    undo.push(() => Promise.all(running), parts.close);
    return faceOf(parts, options, { whileOpen, ask, close });
  } catch (error) {
    await close().catch(nothing);
    throw error;
  }
}

type WhileOpen = <Result>(work: () => Promise<Result>) => Promise<Result>;
/** The answer is no once the host closes, as closing waits for what asks. */
type Ask = (question: () => boolean | Promise<boolean>) => Promise<boolean>;

function faceOf(
  parts: ToolHostParts,
  { approve, log = SILENT }: ToolHostOptions,
  { whileOpen, ask, close }: { whileOpen: WhileOpen; ask: Ask; close: () => Promise<void> },
): ToolHost {
  const { catalog, setup, receipts } = parts;
  const listeners = new Set<(event: ToolEvent) => void>();
  const tell = (event: ToolEvent) => {
    for (const listener of listeners)
      try {
        listener(event);
      } catch (error) {
        log.error({ error }, "a listener of the tool host threw");
      }
  };
  const describe = async (name: string) => {
    const tool = await catalog.find(name);
    return tool && parts.describe(tool);
  };
  const install: ToolHost["install"] = async (what, { agree, signal, ...given }) => {
    const { name, ...offer } = await offerOf(parts, what, signal, given);
    const asks: string[] = [];
    const consent = { unsigned: () => true, privateHost: (ask: string) => asks.push(ask) > 0 };
    const proposal = await parts.installer.propose(name, offer, consent, given.progress, given.settings);
    const isAgreed = await agreeTo(proposal, asks, (grant) => ask(() => agree(grant)), parts.code);
    signal?.throwIfAborted();
    if (!isAgreed)
      throw new Fault("forbidden", "not_agreed", `Nobody agreed to ${name}. Nothing was installed.`);
    const tool = await parts.describe(await parts.installer.install(proposal, { replace: () => true }));
    tell({ type: "installed", tool });
    return tool;
  };
  const remove = async (name: string) => {
    const isRemoved = await parts.remove(name);
    if (isRemoved) tell({ type: "removed", tool: name });
    return isRemoved;
  };
  const call = async (name: string, params: string, options: CallOptions): Promise<ToolOutcome> => {
    const tool = approve && (await describe(name));
    if (approve && tool && !(await ask(() => approve({ tool, params, user: options.user })))) {
      const message = `The call of ${name} was not approved. It did not run.`;
      return { status: "error", code: "not_approved", message };
    }
    const { outcome, receipt } = await parts.run({ id: "", name, params }, options);
    if (receipt !== undefined) tell({ type: "called", receipt });
    return outcome;
  };
  return {
    install: (what, options) => whileOpen(() => install(what, options)),
    remove: (name) => whileOpen(() => remove(name)),
    list: (user) => whileOpen(() => parts.list(user)),
    describe: (name) => whileOpen(() => describe(name)),
    call: (name, params, { user, signal }) =>
      whileOpen(async () => call(name, jsonOf(params), { user, ...(signal && { signal }) })),
    secrets: {
      list: (tool) => whileOpen(async () => (await setup.of(tool)).secrets),
      set: (tool, secret, value) => whileOpen(() => setup.setSecret(tool, secret, value)),
      share: (tool, secret) => whileOpen(() => setup.shareSecret(tool, secret)),
    },
    settings: {
      list: (tool) => whileOpen(async () => (await setup.of(tool)).settings ?? []),
      set: (tool, setting, value, agree = () => false) =>
        whileOpen(async () => {
          await parts.configure(await installed(catalog, tool), { [setting]: value }, (more) =>
            ask(() => agree(more)),
          );
        }),
    },
    receipts: (query = {}) => whileOpen(() => receipts.list(query)),
    events(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function jsonOf(params: object | string): string {
  if (typeof params === "string") return params;
  let cause: unknown;
  try {
    const json: string | undefined = JSON.stringify(params);
    if (json !== undefined) return json;
  } catch (error) {
    cause = error;
  }
  const message = "The params cannot be written as JSON: use plain values, without BigInt and circles.";
  throw new Fault("invalid", "invalid_json", message, { param: "params", cause });
}

/** What was compiled to look at it is kept only if it is agreed to. */
async function agreeTo(
  { name, candidate, signature, replaces }: Proposal,
  asks: readonly string[],
  agree: InstallOptions["agree"],
  code: ToolHostParts["code"],
): Promise<boolean> {
  const { digest, description, capabilities, grants, origin } = candidate;
  let isAgreed = false;
  try {
    isAgreed = await agree({
      ...{ name, version: capabilities.version, description, digest },
      sentences: [...grants, ...asks],
      ...(origin && { origin }),
      ...(signature !== undefined && { signature }),
      ...(replaces && { replaces: { ...replaces, added: [...replaces.added, ...replaces.kept] } }),
    });
    return isAgreed;
  } finally {
    if (!isAgreed) await code.drop(digest);
  }
}

async function offerOf(
  { sources }: ToolHostParts,
  what: string | ToolFiles,
  signal: AbortSignal | undefined,
  { name, capabilities, progress = nothing }: Omit<InstallOptions, "agree">,
): Promise<Offer & { readonly name: string }> {
  if (typeof what !== "string")
    return { component: what.component, capabilitiesText: what.capabilities, name: name ?? "" };
  const fetched = await sources.fetch(readReference(what, process.cwd()), {
    progress,
    ...(signal && { signal }),
    ...(capabilities !== undefined && { capabilitiesText: capabilities }),
  });
  const origin = { ...fetched.origin, ...(capabilities !== undefined && { ownCapabilities: true }) };
  return { ...fetched, origin, name: name ?? fetched.name };
}

function claim(folder: string): () => void {
  let release: (() => void) | undefined;
  try {
    makeFolders(folder, 0o700);
    release = claimFolder(folder);
  } catch (error) {
    const message = `the folder ${folder} cannot be used: ${reason(error)}`;
    throw new Fault("config", "folder_unusable", message, { param: "folder", cause: error });
  }
  if (release !== undefined) return release;
  const message = `the folder ${folder} is in use: another tool host, or a Postern that runs, has it open. Close that one, or use another folder`;
  throw new Fault("config", "folder_in_use", message, { param: "folder" });
}

function readPrivateHosts(given: readonly string[] = []) {
  const hosts = parsePrivateHosts(given);
  if (hosts !== undefined) return hosts;
  throw new Fault("config", "private_hosts", "privateHosts: each has to be host:port", {
    param: "privateHosts",
  });
}
