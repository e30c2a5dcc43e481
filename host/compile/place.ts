/** A folder that several processes may make at once appears whole: it is made beside its place and renamed into it. */
import { rename } from "node:fs/promises";

/** False where something is there already. */
export async function place(draft: string, folder: string): Promise<boolean> {
  try {
    await rename(draft, folder);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    return false;
  }
}
