/** `tool dev`: on every change it builds a project, installs it into a separate home and replays its recordings. */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { type JsonOption, table } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { Engine } from "../../author/build/engines.ts";
import { watchFolder } from "../../author/changes.ts";
import { listRecordings, openProject, type Project } from "../../author/project.ts";
import { located, locateReceipts } from "../../author/trace/located.ts";
import type { Receipt } from "../../calls/receipts.ts";
import type { ServiceHost } from "../../service-host.ts";
import { readPrivateHosts } from "../host-access.ts";
import { print, progress, shorten } from "../terminal/terminal.ts";
import { buildWith } from "./build.ts";

interface DevOptions extends JsonOption {
  readonly engine: Engine;
}

interface Played {
  readonly recording: string;
  readonly output: string | null;
  readonly error: string | null;
  readonly receipt: Receipt | null;
}

const USER = "author";
const HOME = ".postern";
/** Folders that we, or a package manager, write to. */
const NOT_WATCHED = new Set(["dist", "node_modules", "target", "Cargo.lock", HOME, ".git"]);

export async function dev(context: CommandContext, directory: string, options: DevOptions): Promise<void> {
  const project = openProject(resolve(context.folder, directory));
  const home = join(project.folder, HOME);
  const privateHosts = await readPrivateHosts(context);
  const { openTemporaryHost } = await import("./temporary-host.ts");
  await context.with(
    ["store"],
    async ({ store }) => watch(context, project, await openTemporaryHost(home, store, privateHosts), options),
    { home },
  );
}

async function watch(
  context: CommandContext,
  project: Project,
  host: ServiceHost,
  options: DevOptions,
): Promise<void> {
  const { folder } = context;
  const home = join(project.folder, HOME);
  const changes = watchFolder(project.folder, NOT_WATCHED);
  const end = () => changes.end();
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    for (let goesOn = true; goesOn; goesOn = await changes.next()) {
      await round(project, host, options, context);
      const place = relative(folder, home);
      if ((await host.catalog.find(project.name)) !== undefined)
        progress(`chat with ${project.name}: POSTERN_HOME=${quote(place)} postern`);
      progress(
        `watching ${relative(folder, project.folder) || "."} with the home ${place}; press Ctrl+C to stop`,
      );
    }
  } finally {
    changes.end();
    process.off("SIGINT", end).off("SIGTERM", end);
    await host.close();
  }
}

function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** Problems of the project are printed, and the next change tries again. */
async function round(
  project: Project,
  host: ServiceHost,
  options: DevOptions,
  context: CommandContext,
): Promise<void> {
  try {
    await buildWith(options.engine, project, context);
    const component = await readFile(project.component);
    const capabilities = await readFile(project.capabilities, "utf8");
    const choices = (await host.catalog.find(project.name))?.choices;
    const candidate = await located(component, host.examine(component, capabilities, progress, choices));
    // In a home of its own, with secrets that were entered for this project.
    await host.place(project.name, candidate, true);
    const calls: Played[] = [];
    for (const file of await listRecordings(project)) calls.push(await play(file, project, host));
    print(options, { tool: project.name, digest: candidate.digest, calls }, () => render(calls));
  } catch (error) {
    if (!(error instanceof Fault) && (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    progress((error as Error).message);
  }
}

async function play(file: string, { name }: Project, host: ServiceHost): Promise<Played> {
  const { readRecording, replayFrom } = await import("../../broker/recording.ts");
  const { params = {} } = await readRecording(file);
  const { outcome, receipt: kept } = await host.run(
    { id: randomUUID(), name, params: JSON.stringify(params) },
    { user: USER, tape: await replayFrom(file) },
  );
  const [receipt] = await locateReceipts(host.catalog, kept === undefined ? [] : [kept]);
  const isOk = outcome.status === "ok";
  return {
    recording: basename(file),
    output: isOk ? outcome.output : null,
    error: isOk ? null : (receipt?.message ?? outcome.message),
    receipt: receipt ?? null,
  };
}

function render(calls: readonly Played[]): string {
  if (calls.length === 0)
    return 'No calls to replay. Record one with "postern tool run … --record recordings/<name>.json".';
  const rows = calls.map(({ recording, output, error, receipt }) => [
    recording,
    receipt?.code ?? receipt?.status ?? "",
    `${receipt?.millis ?? 0} ms`,
    `${((receipt?.memoryPeak ?? 0) / 2 ** 20).toFixed(1)} MiB`,
    receipt?.requests
      .map(({ method, host, status }) => `${method} ${host} ${status ?? "refused"}`)
      .join(", ") || "no requests",
    output ?? error ?? "",
  ]);
  const logs = calls.flatMap(({ recording, receipt }) =>
    (receipt?.logs ?? []).map(({ level, message }) => {
      // A stack trace is worth its lines.
      return `${recording}: ${level}: ${level === "error" ? message : shorten(message, 100)}`;
    }),
  );
  return [
    table(["RECORDING", "OUTCOME", "TIME", "MEMORY", "REQUESTS", "OUTPUT"], rows, {
      cut: ["OUTPUT"],
    }).trimEnd(),
    ...logs,
  ].join("\n");
}
