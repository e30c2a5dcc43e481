/** E-mail as a chat service: a mail is a message, the mails that answer each other are a conversation. */
import { createMutex } from "../../kernel/kit/concurrency.ts";
import { Fault, type Limiter, type Log, reason } from "../../kernel/plugin.ts";
import type { ChatService, IncomingFile, IncomingMessage } from "../messaging/services.ts";
import { createMailbox, type FolderPosition, type FoundMail, type MailPlace } from "./mailbox.ts";
import { createOwnIds } from "./message-id.ts";
import { checkOutgoing, compose, deliver, type ReplyTo } from "./outgoing.ts";
import type { ReadMail } from "./reading/mail.ts";
import type { MailReader } from "./reading/mail-reader.ts";
import type { EmailConfig } from "./settings.ts";

export interface EmailParts {
  readonly config: EmailConfig;
  readonly reader: MailReader;
  /** Counts mails by sender. */
  readonly senders: Limiter;
  /** Counts what is sent. */
  readonly sent: Limiter;
  /** Called when the channel is used, which one whose settings are only tried never is. */
  begin(): void;
  readonly log: Log;
}

interface Position {
  /** When the channel was opened for the first time: what came before is not answered. */
  readonly since: string;
  readonly folders: Readonly<Record<string, FolderPosition>>;
}

const MAX_CHARACTERS = 200_000;
const MAX_FILE_BYTES = 20 * 2 ** 20;

export function createEmail({ config, reader, senders, sent, begin, log }: EmailParts): ChatService {
  const { address, authservId, folders } = config;
  const mailbox = createMailbox(config.imap, config.sentFolder);
  const ids = createOwnIds(address);

  /** Undefined where it is nothing to answer, and the log says why. */
  async function messageOf(folder: string, found: FoundMail): Promise<IncomingMessage | undefined> {
    const where = { folder, uid: found.uid };
    let mail: ReadMail;
    try {
      const missing = found.isCut
        ? "The rest of this mail is missing, with its files: it is too large to be read."
        : undefined;
      mail = await reader.read({ source: found.source, address, authservId, missing });
    } catch (error) {
      log.warn(where, `a mail could not be read and is skipped: ${reason(error)}`);
      return undefined;
    }
    const { automatic, notAuthentic, sender } = mail;
    if (automatic !== undefined) {
      const level = automatic === "a bounce" ? "warn" : "debug";
      log[level]({ ...where, from: sender.address }, `${automatic} is not answered`);
      return undefined;
    }
    // Apart, so that nobody can use up a person's share with forged mails.
    const { ok } = await senders.take(
      notAuthentic === undefined ? `from ${sender.address}` : "not authentic",
    );
    if (!ok) {
      log.warn(
        { ...where, from: sender.address },
        notAuthentic === undefined
          ? `${sender.address} has reached EMAIL_SENDER_LIMIT: this mail is left unread and not answered`
          : "too many mails without authentication today: this one is left unread",
      );
      return undefined;
    }
    if (notAuthentic !== undefined)
      log.info({ ...where, from: sender.address }, `a mail is not taken as its sender's: ${notAuthentic}`);
    const place: MailPlace = {
      folder,
      validity: found.position.validity,
      uid: found.uid,
      messageId: mail.messageId,
    };
    const reply: ReplyTo = {
      messageId: mail.messageId,
      references: mail.references,
      subject: mail.subject,
    };
    return {
      id: mail.key,
      conversation: mail.conversation,
      sender: { id: sender.address, ...(sender.name !== "" && { name: sender.name }) },
      ...(mail.isGroup && { isGroup: true, isMention: mail.isToUs }),
      isAuthentic: notAuthentic === undefined,
      text: mail.text,
      quoted: mail.quoted,
      files: mail.files.map(({ part, name, mime, bytes }) => ({
        ref: JSON.stringify({ ...place, part }),
        name,
        mime,
        bytes,
      })),
      reply,
      ...(mail.sentAt !== undefined && { sentAt: mail.sentAt }),
    };
  }

  return {
    name: "email",
    format: "mail",
    isSilentToStrangers: true,
    limits: {
      characters: MAX_CHARACTERS,
      fileBytes: MAX_FILE_BYTES,
      buttons: 0,
      perSecond: { conversation: 1, all: 5 },
    },

    async receive(inbox, signal) {
      begin();
      const kept = await inbox.position();
      let position: Position = kept
        ? (JSON.parse(kept) as Position)
        : { since: new Date().toJSON(), folders: {} };
      // Before anything is read: a mail that comes while the server cannot be reached is still ours.
      if (!kept) await inbox.accept([], JSON.stringify(position));
      const stop = new AbortController();
      const either = AbortSignal.any([signal, stop.signal]);
      // The folders share one position, so only one of them writes at a time.
      const inTurn = createMutex();
      const accept = (folder: string, messages: readonly IncomingMessage[], reached: FolderPosition) =>
        inTurn("accept", async () => {
          position = { ...position, folders: { ...position.folders, [folder]: reached } };
          await inbox.accept(messages, JSON.stringify(position));
        });
      const watched = folders.map((folder) =>
        mailbox
          .watch(folder, position.folders[folder] ?? { since: position.since }, {
            signal: either,
            async onMail(found) {
              const message = await messageOf(folder, found);
              if (either.aborted) return;
              await accept(folder, message ? [message] : [], found.position);
              if (message?.isAuthentic)
                await found
                  .markSeen()
                  .catch((error) => log.debug({ error }, "a mail was not marked as read"));
            },
            onIdle: () => inbox.report({ isConnected: true, detail: `${address}: ${folders.join(", ")}` }),
          })
          .finally(() => stop.abort()),
      );
      const [failed] = (await Promise.allSettled(watched)).filter((one) => one.status === "rejected");
      if (failed && !signal.aborted) throw failed.reason;
    },

    async send(message, signal) {
      begin();
      const verdict = await sent.peek("all");
      if (!verdict.ok)
        return {
          message: `EMAIL_DAILY_LIMIT of ${verdict.limit} mails a day is reached`,
          retryMillis: verdict.resetSecs * 1000,
        };
      const mail = await compose(message, config, ids);
      const notSent = await deliver(mail, config, signal);
      if (notSent) return notSent;
      await sent.take("all");
      await mailbox.keepSent(mail.raw, signal).catch((error) => {
        log.warn({ error: reason(error) }, "a mail was sent, but its copy was not kept");
      });
      return { id: mail.id };
    },

    async lookUp({ key, conversation }, signal) {
      const id = ids.of(key, conversation);
      return (await mailbox.findSent(id, signal)) ? { id } : undefined;
    },

    async download(file, most, signal) {
      const { part, ...place } = readRef(file);
      const source = await mailbox.fetch(place, signal);
      const data = source && (await reader.readFile(source, part));
      if (!data)
        throw new Fault("missing", "email_file_gone", `"${file.name}" is gone: its mail was deleted.`);
      if (data.byteLength > most)
        throw new Fault("invalid", "email_file_too_large", `"${file.name}" is larger than ${most} bytes.`);
      return data;
    },

    async check(signal) {
      for (const folder of folders) await mailbox.newest(folder, 0, signal);
      await checkOutgoing(config, signal);
      return {
        detail: `${address} on ${config.imap.host}, sends by ${config.smtp.host}`,
        link: `mailto:${address}`,
      };
    },
  };
}

function readRef({ ref }: IncomingFile): MailPlace & { readonly part: number } {
  return JSON.parse(ref) as MailPlace & { readonly part: number };
}
