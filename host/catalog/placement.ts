/** Tools put into the catalog, replaced and removed, with what hangs on them: compiled code, switches, who holds a secret. */
import { Fault } from "../../kernel/plugin.ts";
import { type Holder, holderOf } from "../secrets/holder.ts";
import type { Candidate, Catalog, InstalledTool } from "./catalog.ts";
import type { CodeCache } from "./code-cache.ts";
import { addSeen } from "./release.ts";
import type { Damage } from "./shipped-repair.ts";

export type Placement = ReturnType<typeof createPlacement>;

export interface PlacementParts {
  readonly catalog: Catalog;
  readonly code: CodeCache;
  isTaken(name: string): Promise<boolean>;
  passSecrets(from: Holder, to: Holder): Promise<void>;
  onRemoved(name: string): Promise<void>;
  /** Drops what tools of this name remember, and the settings and secrets that users have for them. */
  forgetState(name: string): Promise<void>;
  secretsHeldBy(holder: Holder): Promise<readonly string[]>;
}

export function createPlacement(parts: PlacementParts) {
  const { catalog, code, onRemoved, forgetState, isTaken, passSecrets, secretsHeldBy } = parts;
  return {
    /** Puts a candidate into the catalog; one that replaces a tool keeps the secrets that were given to it. */
    async place(name: string, candidate: Candidate, force: boolean): Promise<InstalledTool> {
      if (await isTaken(name))
        throw new Fault("invalid", "tool_exists", `${name} is the name of an MCP server's tool.`, {
          param: "name",
        });
      const before = await catalog.find(name);
      const seen = candidate.seen ?? addSeen(before, candidate);
      // A call of a removed tool may have ended after its removal.
      if (before === undefined) await forgetState(name);
      const complete = { ...candidate, ...(seen.length > 0 && { seen }) };
      const tool = await catalog.put(name, complete, force ? before : undefined);
      if (before === undefined) return tool;
      await passSecrets(holderOf(before), holderOf(tool));
      if (before.digest !== tool.digest) await code.drop(before.digest);
      return tool;
    },
    /** In the place of a tool that is broken. */
    async putOver(name: string, candidate: Candidate, { digest, tool: before }: Damage): Promise<void> {
      const tool = await catalog.putOver(name, candidate, digest);
      if (before !== undefined) await passSecrets(holderOf(before), holderOf(tool));
    },
    /** Sentences to agree to before a replacement: the secrets that would be kept. */
    async keeps(name: string): Promise<readonly string[]> {
      const tool = await catalog.find(name);
      const held = tool === undefined ? [] : await secretsHeldBy(holderOf(tool));
      return held.map((secret) => `keeps using \`${secret}\`, which the installed version was given`);
    },
    /** False where there is no such tool. Calls under way finish. */
    async remove(name: string): Promise<boolean> {
      const tool = await catalog.find(name);
      const isRemoved = await catalog.remove(name);
      if (tool !== undefined) await code.drop(tool.digest);
      if (isRemoved) await Promise.all([onRemoved(name), forgetState(name)]);
      return isRemoved;
    },
  };
}
