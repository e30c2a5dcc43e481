/** What `postern doctor` says about mounted folders. Read-only. */
import { hostname } from "node:os";
import type { DiagnoseContext, Finding } from "../../kernel/plugin.ts";
import { refuseFolder } from "./mounts/refused-folders.ts";

/** Finds mounts of this machine that are off because their folders may no longer be mounted. */
export async function examineMounts({
  home,
  stored,
}: Pick<DiagnoseContext<unknown>, "home" | "stored">): Promise<readonly Finding[]> {
  const mounts = await stored.rows<{ name: string; user: string; folder: string }>(
    'SELECT name, "user", folder FROM workspace_mounts WHERE machine = ? ORDER BY name, "user"',
    hostname(),
  );
  return mounts.flatMap(({ name, user, folder }) => {
    const refusal = refuseFolder(folder, home);
    if (refusal === undefined) return [];
    const owner = user === "" ? "--everybody" : `--user ${user}`;
    const detail = `${folder} is off: ${refusal}; "postern workspace unmount ${name} ${owner}" removes it`;
    return [{ name: `mount ${name}`, ok: true, warning: true, detail }];
  });
}
