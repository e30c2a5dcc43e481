/** Moves and removes files. What was removed can be brought back at once. */
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { attempt, request, update } from "../../state/app.ts";
import { nameIn, undoSet } from "../../state/files.ts";
import { ask, type ChangeSet, type FileEntry } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { entered } from "../../widgets/dialog.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.files;

const at = (path: string) => new URLSearchParams({ path });

/** Returns the new entry, or undefined if nothing was moved. */
export async function move({ path }: FileEntry): Promise<FileEntry | undefined> {
  const name = visibleLine(nameIn(path));
  const question = { title: words.moveTitle(name), label: words.newPath, yes: words.moveYes };
  const to = await entered({ ...question, value: path });
  if (!to || to === path) return undefined;
  const moved = await request<FileEntry>("POST", "/api/workspace/move", { path, to });
  if (moved) toast(words.moved(name));
  return moved;
}

/** Returns false if it was refused, which is shown. `onUndone` is called if it is brought back. */
export async function remove({ path }: FileEntry, onUndone: () => unknown): Promise<boolean> {
  const set = await attempt(async () => {
    await ask("DELETE", `/api/workspace/file?${at(path)}`);
    const { sets } = await ask<{ sets: readonly ChangeSet[] }>("GET", "/api/workspace/log?limit=1");
    return sets[0]?.id ?? "";
  });
  if (set === undefined) return false;
  const undo = async () => {
    const outcome = await undoSet(set);
    if (!outcome) return;
    if (!outcome.set) update({ trouble: words.madeAgain(path) });
    await onUndone();
  };
  toast(words.removed(visibleLine(path)), set === "" ? undefined : { label: text.basics.undo, run: undo });
  return true;
}
