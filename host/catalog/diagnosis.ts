/** What `postern doctor` says about tools. Read-only. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Finding, reason } from "../../kernel/plugin.ts";
import { loadKey } from "../secrets/secrets.ts";
import { openCatalog } from "./catalog.ts";

export async function diagnoseTools(
  home: string,
  secretsKey: string | undefined,
): Promise<readonly Finding[]> {
  const catalog = openCatalog(home);
  const tools = await catalog.list();
  const broken = (await catalog.broken()).map(({ name, reason: why }) => ({
    name: `tool ${name}`,
    ok: false,
    detail: `${why} Remove it or install it again.`,
  }));
  const sound = await Promise.all(
    tools.map(async (tool): Promise<Finding> => {
      const name = `tool ${tool.name}`;
      try {
        await catalog.read(tool);
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
