/** Edits of files in the store and below mounts. */
import { randomUUID } from "node:crypto";
import { Fault } from "../../kernel/plugin.ts";
import { MAX_FILE_BYTES, tooLarge } from "./account.ts";
import { assertAgreed } from "./agreements.ts";
import { digestOf, type Incoming, PART_BYTES } from "./contents.ts";
import { mimeOfContent } from "./file-type.ts";
import { entryNow, find, stream } from "./lookup.ts";
import type { WriteOptions } from "./mounts/edits.ts";
import type { MountedPath } from "./mounts/mounts.ts";
import type { WorkspaceParts } from "./parts.ts";
import { cleanPath } from "./path.ts";
import type { Change, Edit, PlannedEdit, WorkspaceEntry } from "./services.ts";
import { type Changing, isTaken, makeFolder, moveEntry, notFound, putFile, removeEntry } from "./tree.ts";

const MAX_EDITS = 1000;

export async function applyEdits(
  parts: WorkspaceParts,
  user: string,
  given: readonly Edit[],
  change: Change,
): Promise<readonly WorkspaceEntry[]> {
  if (given.length > MAX_EDITS) throw tooManyEdits();
  const edits = given.map(cleanEdit);
  const paths = edits.flatMap((edit) => (edit.op === "move" ? [edit.path, edit.to] : [edit.path]));
  const places = await Promise.all(paths.map((path) => parts.mounts.locate(user, path)));
  if (places.every((place) => place === undefined)) return await applyInStore(parts, user, edits, change);
  const [edit, ...others] = edits;
  if (others.length > 0) throw oneAtATime();
  await assertAgreed(parts, user, edits, change);
  return await applyMounted(parts, user, edit as Edit, change);
}

async function applyInStore(
  parts: WorkspaceParts,
  user: string,
  edits: readonly Edit[],
  change: Change,
): Promise<readonly WorkspaceEntry[]> {
  const incoming = new Map<Edit, Incoming>();
  return await orDiscard(
    parts,
    user,
    () => [...incoming.values()],
    async () => {
      for (const edit of edits)
        if (edit.op === "write") incoming.set(edit, await prepare(parts, user, edit.path, edit.data));
      const freely = edits.every(({ op }) => op === "remove");
      return await parts.changing(user, change, { freely }, async (on) => {
        for (const edit of edits) await applyEdit(parts, on, edit, incoming.get(edit));
        const entries: WorkspaceEntry[] = [];
        for (const edit of edits)
          if (edit.op !== "remove")
            entries.push(await entryNow(on.tx, user, edit.op === "move" ? edit.to : edit.path));
        await change.record?.done(on.tx, entries);
        return entries;
      });
    },
  );
}

async function applyEdit(
  parts: WorkspaceParts,
  on: Changing,
  edit: Edit,
  incoming: Incoming | undefined,
): Promise<void> {
  switch (edit.op) {
    case "write":
      return await write(parts, on, edit.path, incoming as Incoming, edit);
    case "folder":
      return await makeFolder(on, edit.path);
    case "move":
      return await moveEntry(on, edit.path, edit.to);
    case "remove":
      return await removeEntry(on, edit.path);
  }
}

/** The disk and the store cannot change in one step: an edit below a mount is made alone. */
async function applyMounted(
  parts: WorkspaceParts,
  user: string,
  edit: Edit,
  change: Change,
): Promise<readonly WorkspaceEntry[]> {
  const options: WriteOptions = { change, set: change.writer.turn ?? randomUUID() };
  const place = await parts.mounts.locate(user, edit.path);
  switch (edit.op) {
    case "write": {
      const { expected, origins, path, data } = edit;
      const incoming = await prepare(parts, user, path, data);
      return [
        await writeAt(parts, user, path, incoming, {
          ...options,
          expected,
          origins: origins ?? change.origins,
        }),
      ];
    }
    case "folder":
      await parts.mounted.makeFolder(place as MountedPath);
      return [(await find(parts, user, edit.path)) as WorkspaceEntry];
    case "remove":
      await parts.mounted.remove(user, place as MountedPath, options);
      return [];
    case "move":
      return [await moveAcross(parts, user, edit, options)];
  }
}

/** Moves one file to, from or below a mount: it is there twice for a moment, and never not at all. */
async function moveAcross(
  parts: WorkspaceParts,
  user: string,
  { path, to }: Edit & { op: "move" },
  options: WriteOptions,
): Promise<WorkspaceEntry> {
  if ((await find(parts, user, to)) !== undefined) throw isTaken(to);
  const found = await stream(parts, user, path);
  if (found === undefined) throw (await find(parts, user, path)) ? noFolderMoves(path) : notFound(path);
  const incoming = await parts.contents.receive(user, to, found.data);
  const origins = [...(found.entry.origins ?? []), ...(options.change.origins ?? [])];
  const moved = await writeAt(parts, user, to, incoming, { ...options, origins, expected: 0 });
  try {
    await removeAt(parts, user, path, options);
  } catch (error) {
    await removeAt(parts, user, to, options);
    throw error;
  }
  return moved;
}

export async function writeAt(
  parts: WorkspaceParts,
  user: string,
  path: string,
  incoming: Incoming,
  options: WriteOptions,
): Promise<WorkspaceEntry> {
  const place = await parts.mounts.locate(user, path);
  return await orDiscard(
    parts,
    user,
    () => [incoming],
    () =>
      place
        ? parts.mounted.write(user, place, incoming, options)
        : parts.changing(user, options.change, { own: { id: options.set } }, async (on) => {
            await write(parts, on, path, incoming, options);
            return await entryNow(on.tx, user, path);
          }),
  );
}

export async function removeAt(
  { mounts, mounted, changing }: WorkspaceParts,
  user: string,
  path: string,
  options: WriteOptions,
): Promise<void> {
  const place = await mounts.locate(user, path);
  if (place) return await mounted.remove(user, place, options);
  await changing(user, options.change, { freely: true, own: { id: options.set } }, (on) =>
    removeEntry(on, path),
  );
}

async function write(
  { contents }: WorkspaceParts,
  on: Changing,
  path: string,
  incoming: Incoming,
  { expected, origins }: Partial<Pick<Edit & { op: "write" }, "expected" | "origins">>,
): Promise<void> {
  const { content, added } = await contents.keep(on.tx, on.user, incoming);
  on.account.count({ bytes: added });
  await putFile(on, path, { content, origins: origins ?? on.change.origins }, { expected });
}

/** What an edit writes, brought as near to the store as it can be before the transaction begins. */
async function prepare(
  { contents, storage }: WorkspaceParts,
  user: string,
  path: string,
  data: Uint8Array,
): Promise<Incoming> {
  if (data.byteLength > MAX_FILE_BYTES) throw tooLarge(path);
  if (data.byteLength > PART_BYTES) return await contents.receive(user, path, once(data));
  await storage?.take(user, data.byteLength);
  return { digest: digestOf(data), bytes: data.byteLength, mime: mimeOfContent(data), data };
}

/** Forgets what came in where the work fails. */
async function orDiscard<Result>(
  { contents }: WorkspaceParts,
  user: string,
  incoming: () => readonly Incoming[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await contents.discard(
      user,
      incoming().flatMap(({ staged }) => staged ?? []),
    );
    throw error;
  }
}

export function cleanEdit<Given extends PlannedEdit>(edit: Given): Given {
  const path = cleanPath(edit.path);
  return edit.op === "move" ? { ...edit, path, to: cleanPath(edit.to) } : { ...edit, path };
}

async function* once(data: Uint8Array): AsyncGenerator<Uint8Array> {
  yield data;
}

const tooManyEdits = (): Fault =>
  new Fault("invalid", "too_many_edits", `Make at most ${MAX_EDITS} changes at once.`);

const oneAtATime = (): Fault =>
  new Fault("invalid", "too_many_edits", "Change files of a mounted folder one at a time.");

const noFolderMoves = (path: string): Fault =>
  new Fault(
    "invalid",
    "workspace_mount",
    `${path} is a folder: to, from and below a mounted folder only files can be moved.`,
  );
