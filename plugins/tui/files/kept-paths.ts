/** The paths of the workspace, for completion. */
import type { TerminalFiles } from "../services.ts";

const MAX_PATHS = 1000;

/** A folder ends with a slash. Without a workspace, or where the store fails, there are none. */
export function createPathReader(files: TerminalFiles | undefined): () => Promise<readonly string[]> {
  return async () => {
    // A store that fails is named by whatever else uses it.
    const page = await files?.list("/", { deep: true, limit: MAX_PATHS }).catch(() => undefined);
    return page?.items.map(({ path, kind }) => (kind === "folder" ? `${path}/` : path)) ?? [];
  };
}
