/** The tools of `components`, built from their sources as they are now and, where wanted, installed. */
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bringCode } from "../../../components/build.ts";
import { replayFrom } from "../../../host/broker/recording.ts";
import type { Run } from "../../../host/calls/runner.ts";
import { SHIPPED } from "../../../host/catalog/shipped.ts";
import type { ToolHost } from "../../../host/tool-host.ts";
import { ROOT } from "../clone.ts";
import { alone } from "./alone.ts";
import { kept } from "./kept.ts";
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
  const inputs = sources.toSorted().map((file) => readFileSync(join(ROOT, file)));
  const bytes = await kept(`shipped-${name}`, inputs, async () => {
    // In a process of its own: the bundler leaves one running beside it.
    await run(process.execPath, [join(ROOT, "components", "build.ts"), name]);
    return readFileSync(wasm);
  });
  await alone(`shipped-${name}`, async () => {
    if (existsSync(wasm) && readFileSync(wasm).equals(bytes)) return;
    mkdirSync(dirname(wasm), { recursive: true });
    writeFileSync(wasm, bytes);
  });
  return bytes;
}

/** Builds what comes with Postern, and transpiles it beside the component, as the published package has it. */
export async function prepareShipped(): Promise<void> {
  for (const name of SHIPPED) {
    await builtComponent(name);
    await alone(`shipped-${name}`, () => bringCode(name, () => {}));
  }
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
