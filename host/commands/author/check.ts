/** `tool check`: a conformance report on a component or on a project's build. */

import { existsSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type JsonOption, waitFor } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { listRecordings, openProject } from "../../author/project.ts";
import { codeFolder } from "../../catalog/code-cache.ts";
import { WIT_VERSION } from "../../compile/component.ts";
import { readPrivateHosts } from "../host-access.ts";
import { bullets, print, progress, readInput } from "../terminal/terminal.ts";

interface CheckOptions extends JsonOption {
  readonly capabilities?: string;
  readonly replay?: readonly string[];
}

export async function check(context: CommandContext, target: string, options: CheckOptions): Promise<void> {
  const { wasm, capabilities, recordings } = await findParts(context, target, options);
  const component = await readInput(context, wasm);
  const capabilitiesText =
    capabilities === undefined
      ? JSON.stringify({ version: "0.0.0", wit_version: WIT_VERSION })
      : (await readInput(context, capabilities)).toString("utf8");
  const [{ checkConformance }, { renderReport }] = await Promise.all([
    import("../../author/conformance/check.ts"),
    import("../../author/conformance/report.ts"),
  ]);
  progress(`checking ${wasm} (${(component.length / 1e6).toFixed(1)} MB)`);
  const privateHosts = await readPrivateHosts(context);
  const report = await waitFor(`checking ${wasm}`, options, () =>
    checkConformance({
      component,
      capabilitiesText,
      recordings,
      privateHosts,
      codeFolder: codeFolder(context.home),
      progress,
    }),
  );
  print(options, { file: wasm, ...report }, () => {
    const grants =
      capabilities === undefined
        ? "Capabilities were not checked; pass --capabilities <file> to check them."
        : report.grants && `It:\n${bullets(report.grants)}`;
    return [renderReport(wasm, report), grants].filter((part) => part !== undefined).join("\n\n");
  });
  if (!report.ok) process.exitCode = 1;
}

async function findParts({ folder }: CommandContext, target: string, options: CheckOptions) {
  const recordings = (options.replay ?? []).map((file) => resolve(folder, file));
  if (!statSync(resolve(folder, target), { throwIfNoEntry: false })?.isDirectory())
    return { wasm: target, capabilities: options.capabilities, recordings };
  const project = openProject(resolve(folder, target));
  const wasm = relative(folder, project.component);
  if (!existsSync(project.component)) {
    const message = `${wasm} does not exist yet: run "postern tool build ${target}"`;
    throw new Fault("invalid", "not_built", message, { param: target });
  }
  return {
    wasm,
    capabilities: options.capabilities ?? relative(folder, project.capabilities),
    recordings: recordings.length > 0 ? recordings : await listRecordings(project),
  };
}
