/** Which folders of machines are mounted, for whom, and where a path leads. */
import { realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { sep } from "node:path";
import { Fault, reason, type Sql, type Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import { foldPath, nameOf, WORKSPACE_NAME } from "../path.ts";
import type { Mount, NewMount, WorkspaceRoot } from "../services.ts";
import { mountFault } from "./directory.ts";

const TOPIC = "workspace mounts";
const EVERYBODY = "";

interface StoredMount {
  readonly name: string;
  readonly user: string;
  readonly machine: string;
  readonly folder: string;
  readonly readOnly: number;
}

/** A place below a mount. */
export interface MountedPath {
  readonly mount: StoredMount;
  readonly path: string;
  /** The names from the mounted folder on; none for the folder itself. */
  readonly parts: readonly string[];
}

export type Mounts = ReturnType<typeof createMounts>;

export function createMounts(sql: Sql, store: Pick<Store, "changes">, machine = hostname()) {
  const read = () =>
    sql.all<StoredMount>(
      'SELECT name, "user", machine, folder, read_only AS "readOnly" FROM workspace_mounts ORDER BY name, "user"',
    );
  const cached = store.changes.cache<readonly StoredMount[]>(TOPIC, read);
  // On SQLite nobody tells of what a command beside the service has changed, and reading costs next to nothing.
  const rows = (): Promise<readonly StoredMount[]> => (sql.engine === "sqlite" ? read() : cached.get());

  async function of(user: string): Promise<readonly StoredMount[]> {
    return (await rows()).filter((row) => row.user === EVERYBODY || row.user === user);
  }

  async function changed(tx?: Transaction): Promise<void> {
    cached.forget();
    await store.changes.mark(TOPIC, tx);
  }

  return {
    of,
    changed,

    /** Undefined where the path is not below a mount of this user. */
    async locate(user: string, path: string): Promise<MountedPath | undefined> {
      const [, top, ...parts] = path.split("/");
      if (!path.startsWith("/") || top === undefined || top === "") return undefined;
      const mount = (await of(user)).find(({ name }) => name === foldPath(top));
      if (mount === undefined) return undefined;
      if (mount.name !== top)
        throw new Fault("invalid", "workspace_exists", `The mounted folder is called /${mount.name}.`);
      return { mount, path, parts };
    },

    /** Throws where this machine does not have it. */
    assertHere({ mount: { name, machine: its } }: MountedPath): void {
      if (its !== machine) throw elsewhere(name, its, machine);
    },

    async roots(user: string): Promise<readonly WorkspaceRoot[]> {
      return (await of(user)).map(({ name, machine: its, folder, readOnly }) => ({
        name,
        kind: "mount",
        isReadOnly: readOnly === 1,
        problem: its === machine ? problemOf(folder) : elsewhere(name, its, machine).message,
      }));
    },

    list: async (): Promise<readonly Mount[]> => (await rows()).map(showMount),

    async add({ name, folder: given, user, isReadOnly }: NewMount): Promise<Mount> {
      if (!WORKSPACE_NAME.test(name))
        throw usage(`a mount is named with small letters, digits and hyphens, such as notes, not "${name}"`);
      const folder = resolveFolder(given);
      const owner = user ?? EVERYBODY;
      const path = foldPath(`/${name}`);
      const [taken] = await sql.all<{ user: string }>(
        `SELECT "user" FROM workspace_entries WHERE folded = ? ${user === undefined ? "" : 'AND "user" = ?'} LIMIT 1`,
        path,
        ...(user === undefined ? [] : [user]),
      );
      if (taken)
        throw nameTaken(name, `${taken.user} has something of that name at the top of the workspace`);
      const others = (
        await sql.all<StoredMount>('SELECT name, "user" FROM workspace_mounts WHERE name = ?', name)
      ).filter((other) => user === undefined || other.user === EVERYBODY || other.user === user);
      if (others.length > 0) throw nameTaken(name, "another folder is mounted under that name");
      await sql.run(
        'INSERT INTO workspace_mounts (name, "user", machine, folder, read_only) VALUES (?, ?, ?, ?, ?)',
        name,
        owner,
        machine,
        folder,
        isReadOnly === true ? 1 : 0,
      );
      await changed();
      return showMount({ name, user: owner, machine, folder, readOnly: isReadOnly === true ? 1 : 0 });
    },

    /** False where there is none. Nothing in the folder is touched. */
    async remove(name: string, user?: string): Promise<boolean> {
      const gone = await sql.run(
        'DELETE FROM workspace_mounts WHERE name = ? AND "user" = ?',
        name,
        user ?? EVERYBODY,
      );
      if (gone > 0) await changed();
      return gone > 0;
    },

    close: () => cached.close(),
  };
}

function showMount({ name, user, machine, folder, readOnly }: StoredMount): Mount {
  return { name, machine, folder, isReadOnly: readOnly === 1, ...(user !== EVERYBODY && { user }) };
}

/** Links on the way to it are followed now, once and for all. */
function resolveFolder(given: string): string {
  try {
    const folder = realpathSync(given);
    if (!statSync(folder).isDirectory()) throw usage(`${given} is not a folder`);
    if (folder === sep) throw usage("mount a folder, not the whole disk");
    return folder;
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw usage(`${given} cannot be opened: ${reason(error)}`);
  }
}

function problemOf(folder: string): string | undefined {
  try {
    if (realpathSync(folder) !== folder) return `${folder} has become a link: mount it again.`;
    return statSync(folder).isDirectory() ? undefined : `${folder} is no longer a folder.`;
  } catch {
    return `${nameOf(folder)} is not there any more: is its disk plugged in?`;
  }
}

const elsewhere = (name: string, its: string, machine: string): Fault =>
  mountFault(
    `The folder ${name} is on the machine ${its}, and this is ${machine}: it can only be used there.`,
  );

const usage = (message: string): Fault => new Fault("invalid", "workspace_mount", message, { usage: true });

const nameTaken = (name: string, why: string): Fault =>
  new Fault(
    "invalid",
    "workspace_exists",
    `${name} cannot be mounted: ${why}. Choose another name with --as`,
  );
