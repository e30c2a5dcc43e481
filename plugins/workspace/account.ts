/** How much a user has in the workspace, and where it ends. */
import { createMutex } from "../../kernel/kit/concurrency.ts";
import { Fault, type Sql, type Transaction } from "../../kernel/plugin.ts";

const MB = 1_000_000;
const MAX_FILES = 20_000;
const MAX_FILE_MB = 25;
export const MAX_FILE_BYTES = MAX_FILE_MB * MB;

/** What a row of the history counts for, beside its content: endless changes of an empty file end, too. */
export const ROW_BYTES = 256;

/** What removes or takes back something may go so far beyond the limit, or nobody could make room. */
const LEEWAY = 1.05;

export interface Account {
  /** Counts something that is stored from now on; negative for what goes. */
  count(what: Partial<Totals>): void;
  /** Checks the sums and writes them. `freely`: nothing was added but the notes of what was taken away. */
  close(freely?: boolean): Promise<void>;
}

export interface Totals {
  readonly bytes: number;
  readonly files: number;
  readonly folders: number;
}

export interface Limits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export const limitsOf = (maxMb: number): Limits => ({ maxBytes: maxMb * MB, maxFiles: MAX_FILES });

/** Does work on the account of a user in a transaction. Those of one user take turns, so that others' come in between. */
export type InAccount = <Result>(
  user: string,
  work: (tx: Transaction, account: Account) => Promise<Result>,
  options?: { readonly flush?: boolean },
) => Promise<Result>;

export function createAccounts(sql: Sql, limits: Limits): InAccount {
  const inTurn = createMutex();
  return (user, work, options) =>
    inTurn(user, () =>
      sql.transaction(async (tx) => work(tx, await openAccount(tx, sql.engine, user, limits)), options),
    );
}

/** Makes changes of the same user on other nodes wait. */
async function openAccount(
  tx: Transaction,
  engine: Sql["engine"],
  user: string,
  { maxBytes, maxFiles }: Limits,
): Promise<Account> {
  const read = `SELECT bytes, files, folders FROM workspace_accounts WHERE "user" = ? ${engine === "postgres" ? "FOR UPDATE" : ""}`;
  let found = await tx.get<Totals>(read, user);
  if (found === undefined) {
    await tx.run(
      'INSERT INTO workspace_accounts ("user", bytes, files, folders) VALUES (?, 0, 0, 0) ON CONFLICT DO NOTHING',
      user,
    );
    found = await tx.get<Totals>(read, user);
  }
  const before = found ?? { bytes: 0, files: 0, folders: 0 };
  let { bytes, files, folders } = before;
  return {
    count(what) {
      bytes += what.bytes ?? 0;
      files += what.files ?? 0;
      folders += what.folders ?? 0;
    },
    async close(freely = false) {
      if (bytes > before.bytes && bytes > maxBytes * (freely ? LEEWAY : 1))
        throw full(before.bytes, maxBytes);
      if (files > before.files && files > maxFiles) throw tooMany("files", maxFiles);
      if (folders > before.folders && folders > maxFiles) throw tooMany("folders", maxFiles);
      await tx.run(
        'UPDATE workspace_accounts SET bytes = ?, files = ?, folders = ? WHERE "user" = ?',
        bytes,
        files,
        folders,
        user,
      );
    },
  };
}

/** Sums up what there is, after changes that nobody counted one by one. */
export async function recount(tx: Transaction, user: string): Promise<void> {
  await tx.run(
    `UPDATE workspace_accounts SET
       bytes = (SELECT coalesce(sum(bytes), 0) FROM workspace_contents WHERE "user" = ?)
         + ${ROW_BYTES} * ((SELECT count(*) FROM workspace_versions WHERE "user" = ?)
           + (SELECT count(*) FROM workspace_sets WHERE "user" = ?)),
       files = (SELECT count(*) FROM workspace_entries WHERE "user" = ? AND content IS NOT NULL),
       folders = (SELECT count(*) FROM workspace_entries WHERE "user" = ? AND content IS NULL)
     WHERE "user" = ?`,
    ...Array.from({ length: 6 }, () => user),
  );
}

const inMb = (bytes: number) => `${Math.ceil(bytes / MB).toLocaleString("en")} MB`;

function full(bytes: number, maxBytes: number): Fault {
  return new Fault(
    "invalid",
    "workspace_full",
    `There is no room for this in the workspace: it has ${inMb(Math.min(bytes, maxBytes))} of ${inMb(maxBytes)}, the versions of the last 30 days included. Old versions go after 30 days; the operator can raise WORKSPACE_MAX_MB.`,
  );
}

function tooMany(what: string, most: number): Fault {
  return new Fault(
    "invalid",
    "workspace_full",
    `There is no room for this in the workspace: it may have ${most.toLocaleString("en")} ${what}. Remove some that you no longer need.`,
  );
}

export function tooLarge(path: string): Fault {
  return new Fault(
    "invalid",
    "file_too_large",
    `${path} is larger than ${MAX_FILE_MB} MB, which is the most that a file in the workspace may have.`,
    { param: "path" },
  );
}
