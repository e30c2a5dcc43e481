/** What `postern doctor` says about tool installs that were killed, and how it clears up after them. */
import { rm } from "node:fs/promises";
import type { Finding } from "../../kernel/plugin.ts";
import type { Catalog } from "./catalog.ts";
import { openCodeCache } from "./code-cache.ts";
import { toolsFolder } from "./storage/folders.ts";
import { findDrafts, settle } from "./storage/recovery.ts";
import { exists, findReplaced } from "./storage/replaced.ts";

/** In the folder of tools, and in that of compiled code, which a node has too. */
export async function diagnoseLeftovers(home: string, catalog: Catalog): Promise<readonly Finding[]> {
  const folder = toolsFolder(home);
  const isThere = await exists(folder);
  const drafts = isThere ? await findDrafts(folder) : [];
  const stale = await openCodeCache(home, catalog).stale();
  return [
    ...(isThere ? await diagnoseReplaced(folder) : []),
    ...drafts.map((path) => leftover(path, "a tool install that was interrupted")),
    ...stale.map((path) =>
      leftover(path, "a tool that is not installed, or a compilation that was interrupted"),
    ),
  ];
}

function leftover(path: string, origin: string): Finding {
  return {
    name: "tool leftover",
    ok: true,
    warning: true,
    detail: `${path} is left from ${origin}; the service removes it, too`,
    fix: { about: `remove ${path}`, apply: () => rm(path, { recursive: true, force: true }) },
  };
}

async function diagnoseReplaced(folder: string): Promise<readonly Finding[]> {
  const replaced = [...(await findReplaced(folder))];
  return replaced.map(([name, waiting]) => ({
    name: `tool ${name}`,
    ok: true,
    warning: true,
    detail: `its replacement was interrupted and left ${waiting.join(", ")}; the next start clears that up`,
    fix: {
      about: `finish the interrupted replacement of ${name}, or undo it where the new version is missing`,
      async apply() {
        // An install that was at it a moment ago has finished by now.
        const still = (await findReplaced(folder)).get(name)?.filter((path) => waiting.includes(path)) ?? [];
        await settle(folder, name, still);
      },
    },
  }));
}
