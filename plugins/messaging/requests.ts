/** Senders that nobody knows yet: each has a code, which whoever may decide about it names. */
import { randomInt } from "node:crypto";
import { createMutex } from "../../kernel/kit/concurrency.ts";
import { identityOf } from "../../kernel/kit/people.ts";
import { Fault, type Services, type Sql, type Transaction } from "../../kernel/plugin.ts";
import type { Recipient } from "./outbox.ts";
import type { IncomingMessage, PairingRequest } from "./services.ts";

interface RequestRow {
  readonly user: string;
  readonly code: string;
  readonly channel: string;
  readonly conversation: string;
  readonly line: string;
  readonly reply: string | null;
  readonly name: string | null;
  readonly text: string;
  readonly is_authentic: number;
  readonly asked_at: string;
  readonly told_at: string | null;
}

interface Asked {
  readonly code: string;
  readonly isNew: boolean;
  /** True if the sender was not told its code lately. */
  readonly isToTell: boolean;
  /** The sender whose place it took. */
  readonly removed?: string | undefined;
}

export type Requests = ReturnType<typeof createRequests>;

/** Senders that can wait at the same time. In a list that is full, the oldest makes room for a new one. */
const MAX_OF_CHANNEL = 100;
const MAX_OF_DOMAIN = 10;
const MAX_NOT_AUTHENTIC = 20;
const MAX_AGE_MS = 7 * 86_400_000;
/** One reply for each stranger in this time. */
const TELL_AGAIN_MS = 6 * 3_600_000;
const MAX_SHOWN = 200;
// Neither 0 and O nor 1, I and L.
const LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ";

export function createRequests(sql: Sql, identities: Pick<Services["identities"], "pair" | "deny">) {
  const find = (code: string): Promise<RequestRow | undefined> =>
    sql.get<RequestRow>("SELECT * FROM messaging_requests WHERE code = ?", code.trim().toUpperCase());

  return {
    oneAtATime: createMutex(),
    /** Notes that this sender wants to be paired. */
    async ask(tx: Transaction, channel: string, message: IncomingMessage, to: Recipient): Promise<Asked> {
      const user = identityOf(channel, message.sender.id);
      const isAuthentic = message.isAuthentic === false ? 0 : 1;
      const now = Date.now();
      const at = new Date(now).toISOString();
      const known = await tx.get<RequestRow>('SELECT * FROM messaging_requests WHERE "user" = ?', user);
      if (known !== undefined) {
        // A forged message must not change what a real one has asked.
        if (isAuthentic > known.is_authentic)
          await tx.run(
            `UPDATE messaging_requests SET is_authentic = 1, text = ?, conversation = ?, line = ?, reply = ? WHERE "user" = ?`,
            ...[firstWords(message.text), to.conversation, to.line, JSON.stringify(to.reply ?? null), user],
          );
        const isToTell = known.told_at === null || now - Date.parse(known.told_at) > TELL_AGAIN_MS;
        if (isToTell) await tx.run('UPDATE messaging_requests SET told_at = ? WHERE "user" = ?', at, user);
        return { code: known.code, isNew: false, isToTell };
      }
      const removed = await makeRoom(tx, user, isAuthentic === 1);
      const code = newCode();
      await tx.run(
        `INSERT INTO messaging_requests ("user", code, channel, conversation, line, reply, name, text, is_authentic, asked_at, told_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...[user, code, channel, to.conversation, to.line, JSON.stringify(to.reply ?? null)],
        ...[message.sender.name ?? null, firstWords(message.text), isAuthentic, at, at],
      );
      return { code, isNew: true, isToTell: true, removed };
    },

    async list(): Promise<readonly PairingRequest[]> {
      const rows = await sql.all<RequestRow>("SELECT * FROM messaging_requests ORDER BY asked_at LIMIT 500");
      return rows.map(requestOf);
    },

    async pair(code: string, account: string): Promise<PairingRequest> {
      const row = await find(code);
      if (row === undefined) throw unknownCode(code);
      if (row.is_authentic === 0)
        throw new Fault(
          "forbidden",
          "sender_not_authentic",
          `The service does not vouch for who sent the messages of ${row.user}, so it cannot be paired.`,
          { param: "code" },
        );
      await identities.pair(row.user, account);
      return requestOf(row);
    },

    async deny(code: string): Promise<boolean> {
      const row = await find(code);
      if (row === undefined) return false;
      await identities.deny(row.user);
      await sql.run('DELETE FROM messaging_requests WHERE "user" = ?', row.user);
      return true;
    },

    /** The sender was paired: takes its request away and returns where it is told so. */
    async take(
      tx: Transaction,
      identity: string,
    ): Promise<(Omit<Recipient, "user"> & { readonly channel: string }) | undefined> {
      const row = await tx.get<RequestRow>(
        'DELETE FROM messaging_requests WHERE "user" = ? RETURNING *',
        identity,
      );
      if (row === undefined) return undefined;
      const reply: unknown = row.reply === null ? null : JSON.parse(row.reply);
      return {
        channel: row.channel,
        conversation: row.conversation,
        line: row.line,
        ...(reply === null ? {} : { reply }),
      };
    },

    /** Drops the messages of a sender that had to make room. */
    drop: (identity: string) => identities.deny(identity),

    sweep: () =>
      sql.run(
        "DELETE FROM messaging_requests WHERE asked_at < ?",
        new Date(Date.now() - MAX_AGE_MS).toISOString(),
      ),
  };
}

/** The lists that a sender is in, the smallest first. Nobody can fill those of others: a mail domain has its own, and so has what is not authentic. */
function listsOf(identity: string, isAuthentic: boolean): readonly { name: string; limit: number }[] {
  const channel = identity.slice(0, identity.indexOf("/"));
  if (!isAuthentic) return [{ name: `${channel}, not authentic`, limit: MAX_NOT_AUTHENTIC }];
  const all = { name: channel, limit: MAX_OF_CHANNEL };
  const at = identity.lastIndexOf("@");
  return at === -1 ? [all] : [{ name: `${channel}, ${identity.slice(at)}`, limit: MAX_OF_DOMAIN }, all];
}

/** Returns the sender that had to go, if a list was full. */
async function makeRoom(tx: Transaction, user: string, isAuthentic: boolean): Promise<string | undefined> {
  const rows = await tx.all<{ user: string; is_authentic: number }>(
    'SELECT "user", is_authentic FROM messaging_requests ORDER BY asked_at',
  );
  for (const { name, limit } of listsOf(user, isAuthentic)) {
    const listed = rows.filter((row) =>
      listsOf(row.user, row.is_authentic === 1).some((list) => list.name === name),
    );
    const oldest = listed[0]?.user;
    if (oldest === undefined || listed.length < limit) continue;
    await tx.run('DELETE FROM messaging_requests WHERE "user" = ?', oldest);
    return oldest;
  }
  return undefined;
}

export function describeFull(requests: readonly PairingRequest[]): readonly string[] {
  const lists = requests.flatMap(({ identity, isAuthentic }) => listsOf(identity, isAuthentic));
  return [...Map.groupBy(lists, ({ name }) => name)].flatMap(([name, [first, ...others]]) =>
    first !== undefined && others.length + 1 >= first.limit
      ? [`The list is full (${name}: ${first.limit}): each new sender takes the place of the oldest.`]
      : [],
  );
}

function requestOf(row: RequestRow): PairingRequest {
  return {
    code: row.code,
    identity: row.user,
    ...(row.name === null ? {} : { name: row.name }),
    text: row.text,
    isAuthentic: row.is_authentic === 1,
    askedAt: row.asked_at,
  };
}

function newCode(): string {
  const letters = Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return `${letters.slice(0, 4)}-${letters.slice(4)}`;
}

function unknownCode(code: string): Fault {
  const shown = code.slice(0, 20);
  const message = `No sender waits to be paired with the code "${shown}": "postern channel requests" lists those that do.`;
  return new Fault("missing", "no_pairing_request", message, { param: "code" });
}

function firstWords(text: string): string {
  const line = text.slice(0, MAX_SHOWN + 1).toWellFormed();
  return line.length > MAX_SHOWN ? `${line.slice(0, MAX_SHOWN).toWellFormed()}…` : line;
}
