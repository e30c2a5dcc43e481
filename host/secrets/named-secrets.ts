/** Which secrets installed tools name in their capabilities files. */
import type { InstalledTool } from "../catalog/catalog.ts";
import { type Holder, holderOf } from "./holder.ts";

/** The tool that was installed first comes first. */
export function namedSecrets(tools: readonly InstalledTool[]): ReadonlyMap<Holder, readonly string[]> {
  const oldest = tools.toSorted((one, other) => one.installedAt.localeCompare(other.installedAt));
  return new Map(
    oldest.map((tool) => {
      const { http, auth, requiredSecrets, secretNames } = tool.capabilities;
      const { clientIdSecret, clientSecretSecret } = auth?.oauth ?? {};
      const named = [
        ...(http?.credentials ?? []).map(({ secretName }) => secretName),
        ...requiredSecrets.map(({ name }) => name),
        ...secretNames,
        ...[auth?.secretName, clientIdSecret, clientSecretSecret].filter((name) => name !== undefined),
      ];
      return [holderOf(tool), named];
    }),
  );
}
