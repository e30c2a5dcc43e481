/** `tool publish`: a built project pushed to a registry. */

import { resolve } from "node:path";
import type { JsonOption } from "../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../kernel/plugin.ts";
import { refuseStale } from "../author/build/record.ts";
import { located } from "../author/trace/located.ts";
import { folderSource } from "../sources/local.ts";
import { publish as push } from "../sources/oci/publish.ts";
import { pushSignatures } from "../sources/oci/sign.ts";
import { canonicalReference, parseReference } from "../sources/reference.ts";
import { withHost } from "./host-access.ts";
import { print, progress } from "./terminal/terminal.ts";
import { loadSigningKey } from "./trust/keys.ts";

export async function publish(
  context: CommandContext,
  directory: string,
  url: string,
  options: JsonOption & { readonly key?: string },
): Promise<void> {
  // Before anything is pushed: a password that is wrong must not leave a tool there unsigned.
  const key = options.key === undefined ? undefined : await loadSigningKey(context, options.key);
  const reference = parseReference(url);
  if (reference.kind !== "oci") {
    const message = "Tools are published to a registry: oci://registry/repository";
    throw new Fault("invalid", "tool_reference", message, { param: "url", usage: true });
  }
  await withHost(context, async ({ examine, openRegistry, code, catalog }) => {
    const tool = await folderSource.fetch(
      { kind: "folder", path: resolve(context.folder, directory) },
      { progress },
    );
    await refuseStale(resolve(context.folder, directory), tool.component, tool.capabilitiesText);
    progress(`checking ${directory} (${(tool.component.length / 1e6).toFixed(1)} MB)`);
    // A tool that cannot be installed is not published.
    const { digest: sha256, capabilities } = await located(
      tool.component,
      examine(tool.component, tool.capabilitiesText, progress),
    );
    if (!(await catalog.list()).some((installed) => installed.digest === sha256)) await code.drop(sha256);
    const { version } = capabilities;
    const registry = openRegistry(reference, "pull,push");
    const made = await push({ registry, reference, version, tool, progress });
    const isSigned = key !== undefined && (await pushSignatures({ registry, ...made, key, progress }));
    const line = canonicalReference(made.reference);
    print(
      options,
      {
        version,
        digest: made.digest,
        reference: line,
        tags: made.tags,
        is_new: made.isNew,
        signer: key?.fingerprint ?? null,
      },
      () =>
        [
          `${made.isNew ? "Published" : "Already published, with the same content:"} ${line} (${made.digest})`,
          `Tags: ${made.tags.join(", ")}`,
          ...(key === undefined
            ? []
            : [`${isSigned ? "Signed" : "Already signed"} by the key SHA256:${key.fingerprint}`]),
          `Install it with: postern tool install ${line}`,
        ].join("\n"),
    );
  });
}
