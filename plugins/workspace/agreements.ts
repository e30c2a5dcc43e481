/** What a person agrees to before the model or a tool changes files below a mount, where changes have effects at once. */
import { distinctOrigins, type Origin, othersIn } from "../../kernel/kit/turns.ts";
import { Fault } from "../../kernel/plugin.ts";
import { find } from "./lookup.ts";
import type { WorkspaceParts } from "./parts.ts";
import type { Change, PlannedEdit } from "./services.ts";

const MAX_NAMED = 3;

/** Sentences, one for each file of the machine that programs run, or that would be changed from others' words. */
export async function agreementsTo(
  parts: WorkspaceParts,
  user: string,
  edits: readonly PlannedEdit[],
  { origins = [] }: Pick<Change, "origins">,
): Promise<readonly string[]> {
  const asked = await Promise.all(edits.map((edit) => agreementTo(parts, user, edit, origins)));
  return asked.flatMap((sentence) => sentence ?? []);
}

async function agreementTo(
  parts: WorkspaceParts,
  user: string,
  edit: PlannedEdit,
  origins: readonly Origin[],
): Promise<string | undefined> {
  const ends = edit.op === "move" ? [edit.path, edit.to] : [edit.path];
  const places = await Promise.all(ends.map((path) => parts.mounts.locate(user, path)));
  const changed = places.flatMap((place) => (place?.mount.readOnly === 0 ? [place] : []));
  if (changed.length === 0) return undefined;
  const what = edit.op === "move" ? `move ${ends.join(" to ")}` : `change ${edit.path}`;
  const runs = await Promise.all(changed.map((place) => parts.mounted.runs(user, place)));
  if (runs.includes(true)) return `${what} on the machine, which programs may run by themselves`;
  const moved = edit.op === "move" ? await find(parts, user, edit.path) : undefined;
  const words = distinctOrigins(othersIn([...origins, ...(moved?.origins ?? [])]))
    // What a file says may go back into it: nobody can do more with it than before.
    .filter(({ kind, name }) => kind !== "file" || name !== edit.path)
    .map(({ kind, name }) => `${kind} ${name}`);
  if (words.length === 0) return undefined;
  const named = [...words.slice(0, MAX_NAMED), ...(words.length > MAX_NAMED ? ["…"] : [])].join(", ");
  return `${what} on the machine, with words of others (${named})`;
}

/** Throws if the model or a tool needs an agreement that it does not have. */
export async function assertAgreed(
  parts: WorkspaceParts,
  user: string,
  edits: readonly PlannedEdit[],
  change: Change,
): Promise<void> {
  if (change.isAgreed || (change.writer.kind !== "model" && change.writer.kind !== "tool")) return;
  const [sentence] = await agreementsTo(parts, user, edits, change);
  if (sentence === undefined) return;
  throw new Fault(
    "forbidden",
    "workspace_not_agreed",
    `The user has not agreed to this: ${sentence}. Write it outside of mounted folders, and then call workspace_move, which asks them.`,
  );
}
