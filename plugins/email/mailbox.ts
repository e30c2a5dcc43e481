/** The IMAP side: watches folders, brings mails as bytes, and keeps copies of what was sent. */
import { ImapFlow, type SearchObject } from "imapflow";
import { folderMissing, serverFault } from "./faults.ts";
import type { MailServer } from "./settings.ts";

/** Where reading a folder left off. */
export interface FolderPosition {
  /** The UIDs mean something only together with it. */
  readonly validity: string;
  readonly uid: number;
  /** When the newest mail that was read had come in, by the server's clock. */
  readonly at: string;
  /** Set while mails are read that were there when the folder was opened: up to which UID, and only those that came since. */
  readonly begun?: { readonly until: number; readonly since: string; readonly sentSince?: string };
}

export interface FoundMail {
  readonly uid: number;
  readonly source: Uint8Array;
  readonly isCut: boolean;
  readonly position: FolderPosition;
  markSeen(): Promise<void>;
}

export interface MailPlace {
  readonly folder: string;
  readonly validity: string;
  readonly uid: number;
  readonly messageId?: string | undefined;
}

export interface Mailbox {
  /** Hands over each new mail of a folder, in order, until the signal aborts. Of a folder without a position, those since a time. */
  watch(
    folder: string,
    from: FolderPosition | { readonly since: string },
    handlers: {
      readonly signal: AbortSignal;
      onMail(mail: FoundMail): Promise<void>;
      /** Everything was read, and it waits for more. */
      onIdle(): void;
    },
  ): Promise<void>;
  /** Brings a mail again. Undefined where it is gone. */
  fetch(place: MailPlace, signal: AbortSignal): Promise<Uint8Array | undefined>;
  /** Puts a copy among the sent mails. False where there is no such folder. */
  keepSent(raw: Uint8Array, signal: AbortSignal): Promise<boolean>;
  findSent(messageId: string, signal: AbortSignal): Promise<boolean>;
  newest(folder: string, count: number, signal: AbortSignal): Promise<readonly Uint8Array[]>;
}

const DAY_MS = 24 * 3_600_000;
const MAX_MAIL_BYTES = 25 * 2 ** 20;
/** Of a mail that is larger, this much is read: its header and the beginning of its text. */
const CUT_BYTES = 256 * 2 ** 10;
const BATCH = 50;
const CONNECT_TIMEOUT_MS = 20_000;
const SOCKET_TIMEOUT_MS = 5 * 60_000;
/** Routers forget a connection that is silent for longer. */
const MAX_IDLE_MS = 4 * 60_000;
const IDLE_DELAY_MS = 50;
/** After a folder was numbered anew, mails from so long before the newest one that was read are looked at again. */
const OVERLAP_MS = 2 * DAY_MS;

export function createMailbox(server: MailServer, sentFolder: string | undefined): Mailbox {
  async function connect(signal: AbortSignal): Promise<ImapFlow> {
    signal.throwIfAborted();
    const client = new ImapFlow({
      host: server.host,
      port: server.port,
      secure: server.encryption === "tls",
      doSTARTTLS: server.encryption === "tls" ? undefined : server.encryption === "starttls",
      auth: { user: server.user, pass: server.password },
      logger: false,
      autoIdleDelay: IDLE_DELAY_MS,
      maxIdleTime: MAX_IDLE_MS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      greetingTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SOCKET_TIMEOUT_MS,
      maxLiteralSize: MAX_MAIL_BYTES + 2 ** 20,
      maxLineLength: 2 ** 20,
      disableCompression: true,
      clientInfo: { name: "postern" },
    });
    // Without a listener an error of the socket would end the process; what is under way rejects as well.
    client.on("error", () => {});
    const onAbort = () => client.close();
    signal.addEventListener("abort", onAbort, { once: true });
    client.once("close", () => signal.removeEventListener("abort", onAbort));
    try {
      await client.connect();
      return client;
    } catch (error) {
      client.close();
      throw serverFault(error, server, "EMAIL_IMAP_URL");
    }
  }

  async function withFolder<Result>(
    folder: string | undefined,
    signal: AbortSignal,
    work: (client: ImapFlow) => Promise<Result>,
  ): Promise<Result> {
    const client = await connect(signal);
    try {
      if (folder !== undefined) await open(client, folder);
      return await work(client);
    } catch (error) {
      throw serverFault(error, server, "EMAIL_IMAP_URL");
    } finally {
      client.close();
    }
  }

  async function open(client: ImapFlow, folder: string): Promise<{ validity: string; uidNext: number }> {
    const opened = await client.mailboxOpen(folder).catch((error: { responseStatus?: string }) => {
      throw error.responseStatus === "NO" ? folderMissing(folder) : error;
    });
    return { validity: String(opened.uidValidity), uidNext: opened.uidNext };
  }

  async function sourceOf(
    client: ImapFlow,
    uid: number,
  ): Promise<(Pick<FoundMail, "source" | "isCut"> & { at: string }) | undefined> {
    const found = await client.fetchOne(String(uid), { size: true, internalDate: true }, { uid: true });
    if (!found) return undefined;
    const isCut = (found.size ?? 0) > MAX_MAIL_BYTES;
    const maxLength = isCut ? CUT_BYTES : MAX_MAIL_BYTES;
    const source = await bytesOf(client, uid, maxLength);
    return source && { source, isCut, at: new Date(found.internalDate ?? 0).toJSON() };
  }

  async function sentPath(client: ImapFlow): Promise<string | undefined> {
    if (sentFolder !== undefined) return sentFolder;
    return (await client.list()).find(({ specialUse }) => specialUse === "\\Sent")?.path;
  }

  return {
    async watch(folder, from, { signal, onMail, onIdle }) {
      const client = await connect(signal);
      const closed = Promise.withResolvers<never>();
      closed.promise.catch(() => {});
      let wake = () => {};
      let isNew = true;
      client.on("exists", () => {
        isNew = true;
        wake();
      });
      client.once("close", () => closed.reject(new Error("the connection was closed")));
      try {
        const { validity, uidNext } = await open(client, folder);
        let position: FolderPosition;
        const until = uidNext - 1;
        if ("since" in from)
          position = { validity, uid: 0, at: from.since, begun: { until, since: from.since } };
        else if (from.validity === validity) position = from;
        else {
          // Mails that were read before have the same id, so only new ones count; older ones were never ours to answer.
          const since = new Date(Date.parse(from.at) - OVERLAP_MS).toJSON();
          position = { validity, uid: 0, at: from.at, begun: { until, since, sentSince: since } };
        }
        while (!signal.aborted) {
          if (!isNew) {
            onIdle();
            await Promise.race([closed.promise, new Promise<void>((resolve) => (wake = resolve))]);
            continue;
          }
          isNew = false;
          const { begun } = position;
          // The second number of a range must not be the smaller one, and none is 0.
          const isPast = begun !== undefined && begun.until <= position.uid;
          const found = isPast
            ? []
            : await search(client, {
                uid: `${position.uid + 1}:${begun?.until ?? "*"}`,
                ...(begun && { since: dayBefore(begun.since) }),
                ...(begun?.sentSince && { sentSince: dayBefore(begun.sentSince) }),
              });
          // A range up to the last mail always has that mail in it, also where it was read before.
          const fresh = found.filter((uid) => uid > position.uid).toSorted((one, other) => one - other);
          for (const uid of fresh.slice(0, BATCH)) {
            const mail = await sourceOf(client, uid);
            position = { ...position, uid, at: mail && mail.at > position.at ? mail.at : position.at };
            // A search knows only days, and the server only seconds.
            if (!mail || (begun && mail.at < `${begun.since.slice(0, 19)}.000Z`)) continue;
            await onMail({
              uid,
              source: mail.source,
              isCut: mail.isCut,
              position,
              markSeen: async () =>
                void (await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true })),
            });
          }
          if (begun && fresh.length <= BATCH)
            position = { validity, uid: Math.max(position.uid, begun.until), at: position.at };
          isNew ||= fresh.length > BATCH || begun !== undefined;
        }
      } catch (error) {
        if (!signal.aborted) throw serverFault(error, server, "EMAIL_IMAP_URL");
      } finally {
        client.close();
      }
    },

    fetch: ({ folder, validity, uid, messageId }, signal) =>
      withFolder(folder, signal, async (client) => {
        const isSame = client.mailbox !== false && String(client.mailbox.uidValidity) === validity;
        const [found] = isSame
          ? [uid]
          : messageId === undefined
            ? []
            : await search(client, { header: { "message-id": messageId } });
        return found === undefined ? undefined : (await sourceOf(client, found))?.source;
      }),

    keepSent: (raw, signal) =>
      withFolder(undefined, signal, async (client) => {
        const path = await sentPath(client);
        if (path === undefined) return false;
        return (await client.append(path, Buffer.from(raw), ["\\Seen"])) !== false;
      }),

    async findSent(messageId, signal) {
      return await withFolder(undefined, signal, async (client) => {
        const path = await sentPath(client);
        if (path === undefined) return false;
        await open(client, path);
        return (await search(client, { header: { "message-id": messageId } })).length > 0;
      });
    },

    newest: (folder, count, signal) =>
      withFolder(folder, signal, async (client) => {
        const uids = count === 0 ? [] : (await search(client, { all: true })).slice(-count);
        const sources: Uint8Array[] = [];
        for (const uid of uids) {
          const source = await bytesOf(client, uid, CUT_BYTES);
          if (source) sources.push(source);
        }
        return sources;
      }),
  };
}

async function bytesOf(client: ImapFlow, uid: number, maxLength: number): Promise<Uint8Array | undefined> {
  const found = await client.fetchOne(String(uid), { source: { start: 0, maxLength } }, { uid: true });
  return found ? found.source : undefined;
}

/** The UIDs of what is found. The library returns false where the server refused to search: that must not pass for nothing. */
async function search(client: ImapFlow, query: SearchObject): Promise<readonly number[]> {
  const found = await client.search(query, { uid: true });
  if (!found) throw new Error("the server refused to search the folder");
  return found;
}

/** A date without a time, which every server can search for, and early enough in every time zone. */
function dayBefore(time: string): Date {
  return new Date(new Date(Date.parse(time) - DAY_MS).toJSON().slice(0, 10));
}
