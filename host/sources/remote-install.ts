/** Installing by reference for the operator's page: looked at first, then installed if it is still the same. */
import { Fault, type ToolAdmin, type ToolInfo } from "../../kernel/plugin.ts";
import type { Candidate, Catalog, InstalledTool } from "../catalog/catalog.ts";
import { checkName, compareWithInstalled } from "../catalog/install.ts";
import { describeTool } from "../catalog/tool-info.ts";
import type { JudgeSignature } from "../trust/judge.ts";
import { admit } from "./admission.ts";
import { searchEntries } from "./index/search.ts";
import { parseReference } from "./reference.ts";
import type { Fetched } from "./source.ts";
import type { Sources } from "./sources.ts";

const MAX_FOUND = 50;

export interface RemoteInstallParts {
  readonly catalog: Catalog;
  readonly sources: Sources;
  readonly judgeSignature: JudgeSignature;
  readonly examine: (component: Uint8Array, capabilitiesText: string) => Promise<Candidate>;
  readonly describe: (tool: InstalledTool) => Promise<ToolInfo>;
  readonly place: (name: string, candidate: Candidate, force: boolean) => Promise<InstalledTool>;
  readonly keeps: (name: string) => Promise<readonly string[]>;
}

export function createRemoteInstall(
  parts: RemoteInstallParts,
): Required<Pick<ToolAdmin, "search" | "find" | "installFound">> {
  const { catalog, sources, judgeSignature, examine, place } = parts;

  const fetch = (text: string): Promise<Fetched> => {
    const reference = parseReference(text);
    if (reference.kind === "file" || reference.kind === "folder")
      throw new Fault("invalid", "tool_reference", `${text} is a path: upload the files instead.`, {
        param: "from",
      });
    return sources.fetch(reference, { progress: () => {} });
  };

  return {
    async search(words) {
      const { entries, problems } = await sources.indexes.read();
      const found = searchEntries(entries, [words]).slice(0, MAX_FOUND);
      return { tools: found.map(({ capabilities: _, ...listed }) => listed), problems };
    },
    async find(text, given) {
      const fetched = await fetch(text);
      const name = given ?? fetched.name;
      checkName(name);
      // Shown, not asked: installing it is the answer.
      let isTrusted = true;
      const { origin, signature = "" } = await admit(judgeSignature, fetched, {
        ask: async () => {
          isTrusted = false;
          return true;
        },
      });
      const candidate = await examine(fetched.component, fetched.capabilitiesText);
      const replaced = await compareWithInstalled(catalog, name, candidate, true);
      return {
        name,
        ...describeTool(candidate),
        digest: candidate.digest,
        origin,
        signature,
        signed: isTrusted,
        ...(replaced && {
          replaces: {
            version: replaced.version,
            added: [...replaced.added, ...(await parts.keeps(name))],
            removed: replaced.removed,
          },
        }),
      };
    },
    async installFound(text, { name, digest, replace, allowUnsigned }) {
      checkName(name);
      const fetched = await fetch(text);
      if (fetched.origin.digest !== digest)
        throw new Fault(
          "invalid",
          "tool_changed",
          `${text} is another one now (${fetched.origin.digest}) than when you looked at it (${digest}). Nothing was installed: look at it again.`,
          { param: "digest" },
        );
      const { origin } = await admit(judgeSignature, fetched, { allowUnsigned });
      const candidate = { ...(await examine(fetched.component, fetched.capabilitiesText)), origin };
      await compareWithInstalled(catalog, name, candidate, replace);
      return parts.describe(await place(name, candidate, replace));
    },
  };
}
