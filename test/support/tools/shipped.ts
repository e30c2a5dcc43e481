/** The tools of `components`, built from their sources as they are now and, where wanted, installed. */
import { execFile } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { replayFrom } from "../../../host/broker/recording.ts";
import type { Run } from "../../../host/calls/runner.ts";
import type { ToolHost } from "../../../host/tool-host.ts";
import { ROOT } from "../clone.ts";
import { alone } from "./alone.ts";
import { copyCode } from "./components.ts";
import { install, toolHost } from "./tool-host.ts";

const run = promisify(execFile);

export const capabilitiesOf = (name: string) =>
  readFileSync(join(ROOT, "capabilities", `${name}.json`), "utf8");

/** A recorded call of a shipped tool. */
export const recordingOf = (tool: string, name: string) =>
  join(ROOT, "test", "fixtures", "recordings", tool, `${name}.json`);

export async function builtComponent(name: string): Promise<Uint8Array> {
  const wasm = join(ROOT, "components", name, "dist", `${name}.wasm`);
  const sources = globSync(
    [
      `components/${name}/*.ts`,
      "components/build.ts",
      "host/author/build/*.ts",
      "wit/tool.wit",
      "wit/*.js",
      "package-lock.json",
    ],
    { cwd: ROOT },
  );
  const timeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newest = Math.max(...sources.map((file) => timeOf(join(ROOT, file))));
  await alone(async () => {
    // In a process of its own: the bundler leaves one running beside it.
    if (timeOf(wasm) < newest) await run(process.execPath, [join(ROOT, "components", "build.ts"), name]);
  });
  return readFileSync(wasm);
}

/** Builds what comes with Postern, and spares this home the seconds it takes to transpile it. */
export async function prepareShipped(home: string): Promise<void> {
  for (const name of ["convert", "weather"]) await copyCode(await builtComponent(name), home);
}

export interface InstalledShipped {
  readonly host: ToolHost;
  call(params: unknown, recording?: string): Promise<Run>;
}

export async function installShipped(name: string): Promise<InstalledShipped> {
  const host = await toolHost();
  await install(host, name, await builtComponent(name), capabilitiesOf(name));
  return {
    host,
    call: async (params, recording) =>
      host.run(
        { id: "call", name, params: typeof params === "string" ? params : JSON.stringify(params) },
        { user: "operator", ...(recording !== undefined && { tape: await replayFrom(recording) }) },
      ),
  };
}
