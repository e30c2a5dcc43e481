/** A tool of `components`, built from its sources as they are and installed into a host of the test's own. */
import { globSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "../../../components/build.ts";
import { replayFrom } from "../../../host/broker/recording.ts";
import { commit } from "../../../host/catalog/install.ts";
import type { Run } from "../../../host/runner.ts";
import type { ToolHost } from "../../../host/tool-host.ts";
import { copyCode } from "./components.ts";
import { toolHost } from "./tool-host.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export const capabilitiesOf = (name: string) => readFile(`${ROOT}capabilities/${name}.json`, "utf8");

export async function builtComponent(name: string): Promise<Uint8Array> {
  const wasm = `${ROOT}components/${name}/dist/${name}.wasm`;
  const sources = globSync(
    [`components/${name}/*.ts`, "components/build.ts", "host/build/*.ts", "wit/tool.wit", "wit/*.js"],
    { cwd: ROOT },
  );
  const newest = Math.max(...sources.map((file) => statSync(ROOT + file).mtimeMs));
  const built = statSync(wasm, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (built < newest) await build(name, () => {});
  return readFile(wasm);
}

export interface InstalledShipped {
  readonly host: ToolHost;
  call(params: unknown, recording?: string): Promise<Run>;
}

export async function installShipped(name: string): Promise<InstalledShipped> {
  const host = await toolHost();
  const bytes = await builtComponent(name);
  await copyCode(bytes, host.home);
  await commit(host.catalog, name, await host.examine(bytes, await capabilitiesOf(name)), false);
  return {
    host,
    call: async (params, recording) =>
      host.run(
        { id: "call", name, params: typeof params === "string" ? params : JSON.stringify(params) },
        { user: "operator", ...(recording !== undefined && { tape: await replayFrom(recording) }) },
      ),
  };
}
