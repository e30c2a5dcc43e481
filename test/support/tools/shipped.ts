/** The tools of `components`, as they are committed, and, where wanted, installed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bringCode } from "../../../components/build.ts";
import { replayFrom } from "../../../host/broker/recording.ts";
import type { Run } from "../../../host/calls/runner.ts";
import { filesOf, SHIPPED } from "../../../host/catalog/shipped.ts";
import { readComponentFile } from "../../../host/compile/component-file.ts";
import type { ServiceHost } from "../../../host/service-host.ts";
import { ROOT } from "../clone.ts";
import { alone } from "./alone.ts";
import { install, toolHost } from "./tool-host.ts";

export const capabilitiesOf = (name: string) =>
  readFileSync(join(ROOT, "capabilities", `${name}.json`), "utf8");

/** A recorded call of a shipped tool. */
export const recordingOf = (tool: string, name: string) =>
  join(ROOT, "test", "fixtures", "recordings", tool, `${name}.json`);

export function builtComponent(name: string): Promise<Uint8Array> {
  return readComponentFile(filesOf(name).wasm);
}

/** Transpiles what comes with Postern beside its components, as the published package has it. */
export async function prepareShipped(): Promise<void> {
  for (const name of SHIPPED) await alone(`shipped-${name}`, () => bringCode(name, () => {}));
}

export interface InstalledShipped {
  readonly host: ServiceHost;
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
