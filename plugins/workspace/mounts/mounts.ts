/** Which folders of machines are mounted, for whom, and where a path leads. */
import { realpathSync, statSync } from "node:fs";
import { hostname } from "node:os";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { Fault, reason, type Sql, type Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import { foldPath, nameOf, WORKSPACE_NAME } from "../path.ts";
import type { Mount, MountOwner, NewMount, WorkspaceRoot } from "../services.ts";
import { mountFault } from "./directory.ts";
import { refuseFolder } from "./refused-folders.ts";

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

export function createMounts(
  sql: Sql,
  store: Pick<Store, "changes" | "places">,
  home: string,
  machine = hostname(),
) {
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

  /** Says why nothing can be done below the mount now. The folder is looked at each time: it or the home may have moved. */
  function problemOf({ name, machine: its, folder }: StoredMount): string | undefined {
    if (its !== machine)
      return `The folder ${name} is on the machine ${its}, and this is ${machine}: it can only be used there.`;
    const refusal = refuseFolder(folder, home, store.places);
    if (refusal !== undefined) return `The mounted folder ${name} is off: ${refusal}.`;
    try {
      if (realpathSync.native(folder) !== folder) return `${folder} has become a link: mount it again.`;
      return statSync(folder).isDirectory() ? undefined : `${folder} is no longer a folder.`;
    } catch {
      return `${nameOf(folder)} is not there any more: is its disk plugged in?`;
    }
  }

  function showMount(mount: StoredMount): Mount {
    const { name, user, machine: its, folder, readOnly } = mount;
    const problem = problemOf(mount);
    return {
      ...{ name, machine: its, folder, isReadOnly: readOnly === 1 },
      ...(user !== EVERYBODY && { user }),
      ...(problem !== undefined && { problem }),
    };
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

    /** Throws if nothing can be done there now. */
    assertUsable({ mount }: MountedPath): void {
      const problem = problemOf(mount);
      if (problem !== undefined) throw mountFault(problem);
    },

    async roots(user: string): Promise<readonly WorkspaceRoot[]> {
      return (await of(user)).map((mount) => ({
        name: mount.name,
        kind: "mount",
        isReadOnly: mount.readOnly === 1,
        problem: problemOf(mount),
      }));
    },

    list: async (): Promise<readonly Mount[]> => (await rows()).map(showMount),

    async add({ name, folder: given, isWritable = false, ...owner }: NewMount): Promise<Mount> {
      if (!WORKSPACE_NAME.test(name))
        throw usage(`a mount is named with small letters, digits and hyphens, such as notes, not "${name}"`);
      const folder = resolveFolder(given);
      const refusal = refuseFolder(folder, home, store.places);
      if (refusal !== undefined) throw usage(`${given} cannot be mounted: ${refusal}`);
      const user = ownerOf(owner);
      const isEverybodys = user === EVERYBODY;
      const path = foldPath(`/${name}`);
      const [taken] = await sql.all<{ user: string }>(
        `SELECT "user" FROM workspace_entries WHERE folded = ? ${isEverybodys ? "" : 'AND "user" = ?'} LIMIT 1`,
        path,
        ...(isEverybodys ? [] : [user]),
      );
      if (taken)
        throw nameTaken(name, `${taken.user} has something of that name at the top of the workspace`);
      const others = (
        await sql.all<StoredMount>('SELECT name, "user" FROM workspace_mounts WHERE name = ?', name)
      ).filter((other) => isEverybodys || other.user === EVERYBODY || other.user === user);
      if (others.length > 0) throw nameTaken(name, "another folder is mounted under that name");
      await sql.run(
        'INSERT INTO workspace_mounts (name, "user", machine, folder, read_only) VALUES (?, ?, ?, ?, ?)',
        name,
        user,
        machine,
        folder,
        isWritable ? 0 : 1,
      );
      await changed();
      return showMount({ name, user, machine, folder, readOnly: isWritable ? 0 : 1 });
    },

    /** False where there is none. Nothing in the folder is touched. */
    async remove(name: string, owner: MountOwner = {}): Promise<boolean> {
      const gone = await sql.run(
        'DELETE FROM workspace_mounts WHERE name = ? AND "user" = ?',
        name,
        ownerOf(owner),
      );
      if (gone > 0) await changed();
      return gone > 0;
    },

    close: () => cached.close(),
  };
}

function ownerOf({ user = OPERATOR, isEverybodys }: MountOwner): string {
  if (isEverybodys === true) return EVERYBODY;
  if (user === EVERYBODY) throw usage("say for whom: an id, or everybody");
  return user;
}

/** Links on the way to it are followed now, once and for all. */
function resolveFolder(given: string): string {
  try {
    const folder = realpathSync.native(given);
    if (!statSync(folder).isDirectory()) throw usage(`${given} is not a folder`);
    return folder;
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw usage(`${given} cannot be opened: ${reason(error)}`);
  }
}

const usage = (message: string): Fault => new Fault("invalid", "workspace_mount", message, { usage: true });

const nameTaken = (name: string, why: string): Fault =>
  new Fault(
    "invalid",
    "workspace_exists",
    `${name} cannot be mounted: ${why}. Choose another name with --as`,
  );
