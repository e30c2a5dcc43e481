/** Maps each identity of a channel to its account, and moves its data when an operator pairs it. */
import { type Identity, isIdentity } from "../../../kernel/kit/people.ts";
import { Fault, type Sql, type Transaction } from "../../../kernel/plugin.ts";
import type { Accounts } from "./accounts.ts";

/** §3.3: what the messages of an identity wait for that is not paired. An operator answers by naming an account. */
interface PairingGate {
  readonly type: "pairing";
  readonly id: string;
  readonly identity: string;
  readonly openedAt: string;
  /** The first message that waits. */
  readonly message: string;
}

/** The identities of all channels, each `<channel>/<user>`, such as `webhook/ann`. */
export type Identities = ReturnType<typeof createIdentities>;

export interface IdentityRecords {
  known(): Promise<readonly string[]>;
  /** How many messages of each identity wait until it is paired. */
  held(): Promise<ReadonlyMap<string, number>>;
  /** The first message that waits of each identity, oldest first. */
  firstHeld(limit: number): Promise<readonly HeldMessage[]>;
  /** Refuses the messages of an identity that wait and returns how many there were. */
  refuseHeld(identity: string): Promise<number>;
}

interface HeldMessage {
  readonly id: string;
  readonly user: string;
  readonly message: string;
  readonly created_at: string;
}

const MAX_LISTED = 500;
const MAX_MESSAGE_LENGTH = 500;

export function createIdentities(
  sql: Sql,
  accounts: Pick<Accounts, "mustFind">,
  give: (from: string, to: string) => Promise<(tx: Transaction) => Promise<void>>,
) {
  const extensions = new Set<IdentityRecords>();
  const fromAll = <Value>(ask: (records: IdentityRecords) => Promise<Value>) =>
    Promise.all([...extensions].map(ask));

  return {
    /** The account that an operator paired it with, while that account is there. */
    async account(identity: string): Promise<string | undefined> {
      // An account that was removed and added again for somebody else is not the one that was meant.
      const row = await sql.get<{ id: string }>(
        `SELECT id FROM gateway_pairings JOIN gateway_users ON id = account AND created_at = account_since
         WHERE identity = ?`,
        identity,
      );
      return row?.id;
    },

    /** Lists identities that have said something or are paired. */
    async list(): Promise<readonly Identity[]> {
      const [rows, counts, known] = await Promise.all([
        sql.all<{ id: string; account: string; paired_at: string }>(
          "SELECT identity AS id, account, paired_at FROM gateway_pairings",
        ),
        fromAll((records) => records.held()),
        fromAll((records) => records.known()),
      ]);
      const paired = new Map(rows.map((row) => [row.id, row]));
      const held = new Map(counts.flatMap((count) => [...count]));
      const ids = new Set([...paired.keys(), ...known.flat(), ...[...held.keys()].filter(isIdentity)]);
      return [...ids]
        .map((id) => ({
          id,
          held: held.get(id) ?? 0,
          account: paired.get(id)?.account,
          pairedAt: paired.get(id)?.paired_at,
        }))
        .sort((a, b) => b.held - a.held || (a.id < b.id ? -1 : 1))
        .slice(0, MAX_LISTED);
    },

    /** Lists the first waiting message of each identity, oldest first. */
    async pending(): Promise<readonly PairingGate[]> {
      const rows = await fromAll((records) => records.firstHeld(MAX_LISTED));
      return rows.flat().map(({ id, user, message, created_at }) => ({
        type: "pairing",
        id,
        identity: user,
        openedAt: created_at,
        message: message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed(),
      }));
    },

    /** From now on its messages are the account's, and so are its threads, jobs, memory and missions. Messages that wait are run. */
    async pair(identity: string, account: string): Promise<void> {
      const { id, createdAt } = await accounts.mustFind(account);
      assertIdentity(identity);
      const giveAll = await give(identity, id);
      await sql.transaction(async (tx) => {
        await Promise.all([
          tx.run(
            `INSERT INTO gateway_pairings (identity, account, account_since, paired_at) VALUES (?, ?, ?, ?)
             ON CONFLICT (identity) DO UPDATE
             SET account = excluded.account, account_since = excluded.account_since, paired_at = excluded.paired_at`,
            identity,
            id,
            createdAt,
            new Date().toISOString(),
          ),
          giveAll(tx),
        ]);
      });
    },

    /** From now on it speaks for itself again; what the account got stays there. False where it was not paired. */
    unpair: async (identity: string): Promise<boolean> =>
      (await sql.run("DELETE FROM gateway_pairings WHERE identity = ?", identity)) > 0,

    async deny(identity: string): Promise<number> {
      const refused = await fromAll((records) => records.refuseHeld(identity));
      return refused.reduce((sum, count) => sum + count, 0);
    },

    /** Adds what a plugin keeps for identities. Returns the undo. */
    extend(records: IdentityRecords): () => void {
      extensions.add(records);
      return () => void extensions.delete(records);
    },
  };
}

function assertIdentity(identity: string): void {
  if (isIdentity(identity)) return;
  const message = `"${identity}" is not an identity: those are written <channel>/<user>, such as webhook/ann.`;
  throw new Fault("invalid", "bad_identity", message, { param: "identity", usage: true });
}
