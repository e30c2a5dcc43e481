/** What `postern doctor` says about tools. Read-only. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Finding, reason } from "../../kernel/plugin.ts";
import { loadKey } from "../../kernel/store/secrets-key.ts";
import { readKeyed } from "../../kernel/store/store.ts";
import { SWITCHES, type SwitchedOff } from "../switches.ts";
import { openFolderCatalog } from "./folders.ts";

export async function diagnoseTools(
  home: string,
  secretsKey: string | undefined,
): Promise<readonly Finding[]> {
  const catalog = openFolderCatalog(home);
  const tools = await catalog.list();
  const switches = await readSwitches(
    home,
    tools.map(({ name }) => name),
  );
  const broken = (await catalog.broken()).map(({ name, reason: why }) => ({
    name: `tool ${name}`,
    ok: false,
    detail: `${why} Remove it or install it again.`,
  }));
  const sound = await Promise.all(
    tools.map(async (tool, at): Promise<Finding> => {
      const name = `tool ${tool.name}`;
      try {
        await catalog.read(tool);
        const off = switches[at];
        if (off?.digest === tool.digest) {
          const detail = `switched off since ${off.at}. ${off.why} Switch it on again: postern tool enable ${tool.name}`;
          return { name, ok: false, detail };
        }
        return {
          name,
          ok: true,
          detail: `version ${tool.capabilities.version}, file unchanged`,
        };
      } catch (error) {
        return { name, ok: false, detail: reason(error) };
      }
    }),
  );
  return [...sound, ...broken, await diagnoseKey(home, secretsKey)];
}

/** None where the store cannot be read: that is a finding of its own. */
async function readSwitches(
  home: string,
  names: readonly string[],
): Promise<readonly (SwitchedOff | undefined)[]> {
  const file = join(home, "store.sqlite");
  if (!existsSync(file)) return [];
  return readKeyed<SwitchedOff>(file, SWITCHES, names).catch(() => []);
}

async function diagnoseKey(home: string, secretsKey: string | undefined): Promise<Finding> {
  const name = "secrets key";
  // Asking for a key that is not there would make one.
  if (secretsKey === undefined && !existsSync(join(home, "secrets.key"))) {
    return { name, ok: true, detail: "none yet; the first start creates one" };
  }
  try {
    await loadKey(home, secretsKey);
    return {
      name,
      ok: true,
      detail: secretsKey === undefined ? join(home, "secrets.key") : "from POSTERN_SECRETS_KEY",
    };
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  }
}
