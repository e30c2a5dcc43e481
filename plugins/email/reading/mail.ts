/** One mail as bytes, read into what a message needs. Runs in a thread of its own, because a stranger chose the bytes. */
import type { QuotedText } from "../../messaging/services.ts";
import { createOwnIds, digest } from "../message-id.ts";
import { authservIdsIn, whyNotAuthentic } from "./authentication.ts";
import { whyAutomatic } from "./automatic.ts";
import { type HeaderLine, idsIn, senderOf, valuesOf } from "./header.ts";
import { MAX_PARTS, type MailFile, type MailParts, parseMail } from "./mail-parts.ts";
import { splitQuoted } from "./quoting.ts";

export interface MailTask {
  readonly source: Uint8Array;
  readonly address: string;
  readonly authservId: string;
  /** Says what is missing where the bytes are only the beginning of the mail. */
  readonly missing?: string | undefined;
}

export interface ReadMail {
  /** What has the same one is the same mail, in whatever folder: its id, and who sent it, so that nobody can take another's. */
  readonly key: string;
  readonly messageId: string | undefined;
  /** Oldest first, without its own id. */
  readonly references: readonly string[];
  readonly conversation: string;
  readonly sender: { readonly address: string; readonly name: string };
  /** Says why our server does not vouch for the sender. */
  readonly notAuthentic: string | undefined;
  /** Says what kind of automatic mail it is. */
  readonly automatic: string | undefined;
  readonly authservIds: readonly string[];
  readonly isGroup: boolean;
  readonly isToUs: boolean;
  readonly subject: string;
  readonly sentAt: string | undefined;
  readonly text: string;
  readonly quoted: readonly QuotedText[];
  readonly files: readonly {
    readonly part: number;
    readonly name: string;
    readonly mime: string;
    readonly bytes: number;
  }[];
}

const MAX_TEXT_LENGTH = 200_000;
const MAX_FILES = 20;
const MAX_REFERENCES = 20;
const MAX_SUBJECT = 300;
const MAX_FORWARDED = 5;
const SIGNATURES = new Set([
  "application/pgp-signature",
  "application/pkcs7-signature",
  "application/x-pkcs7-signature",
]);

/** Rejects where it has too many parts, or is damaged. */
export async function readMail({ source, address, authservId, missing }: MailTask): Promise<ReadMail> {
  const parsed = await parseMail(source);
  const lines = parsed.headerLines as readonly HeaderLine[];
  const ids = createOwnIds(address);
  const sender = senderOf(lines);
  const claimed = parsed.from?.value[0]?.address?.toLowerCase().slice(0, 320) ?? "";
  const from = sender?.address ?? claimed;
  const notAuthentic = sender
    ? whyNotAuthentic(lines, authservId, sender.domain)
    : "its From is not one plain address";
  const messageId = valuesOf(lines, "message-id").flatMap(idsIn)[0];
  const references = [
    ...new Set([...valuesOf(lines, "references"), ...valuesOf(lines, "in-reply-to")].flatMap(idsIn)),
  ];
  const key = messageId ?? digest(Buffer.from(source).toString("latin1"));
  const others = recipientsOf(parsed).filter((recipient) => recipient !== address);
  const attached = parsed.attachments.slice(0, MAX_PARTS);
  const { own, quoted: below } = splitQuoted(cap(parsed.text ?? ""));
  const isReply = references.length > 0;
  const isAnswer = references.some(ids.isOwn);
  const quoted = [...below, ...(await forwardedIn(attached))].map((one) =>
    isAnswer || one.by.toLowerCase() === address ? { ...one, isOurs: true } : one,
  );
  const subject = (parsed.subject ?? "").replace(/\s+/g, " ").trim().slice(0, MAX_SUBJECT);
  return {
    key: digest([key, from, notAuthentic === undefined].join("\n")),
    messageId,
    references: [...references.slice(0, 1), ...references.slice(1).slice(-MAX_REFERENCES)],
    conversation: ids.conversationOf(from, isReply ? references : [key]),
    sender: { address: from, name: parsed.from?.value[0]?.name.slice(0, 100) ?? "" },
    notAuthentic,
    automatic: whyAutomatic(lines, from, { address, isOwnId: ids.isOwn }),
    authservIds: authservIdsIn(lines),
    isGroup: others.length > 0,
    isToUs: addressesIn(parsed.to).includes(address),
    subject,
    sentAt: parsed.date?.toJSON() ?? undefined,
    text: [quoted.length > 0 || isReply ? "" : headingOf(subject, own), own, missing ? `[${missing}]` : ""]
      .filter((part) => part !== "")
      .join("\n\n"),
    quoted,
    files: missing ? [] : filesIn(attached),
  };
}

/** The bytes of a file, by its place. */
export async function readFile(source: Uint8Array, part: number): Promise<Uint8Array | undefined> {
  const parsed = await parseMail(source);
  return parsed.attachments[part]?.content;
}

/** Commands stand alone. */
function headingOf(subject: string, own: string): string {
  return subject === "" || own.startsWith("/") ? "" : `Subject: ${subject}`;
}

const cap = (text: string) => text.slice(0, MAX_TEXT_LENGTH).toWellFormed();

function addressesIn(given: MailParts["to"]): readonly string[] {
  return [given ?? []]
    .flat()
    .flatMap(({ value }) =>
      value
        .flatMap(({ address, group }) => [address, ...(group ?? []).map((member) => member.address)])
        .flatMap((one) => (one ? [one.toLowerCase()] : [])),
    );
}

const recipientsOf = ({ to, cc }: MailParts) => [...addressesIn(to), ...addressesIn(cc)];

const isMail = ({ contentType }: MailFile) => contentType === "message/rfc822";

/** Mails that are attached whole: others wrote them. */
async function forwardedIn(attached: readonly MailFile[]): Promise<readonly QuotedText[]> {
  const found: QuotedText[] = [];
  for (const { content } of attached.filter(isMail).slice(0, MAX_FORWARDED)) {
    const parsed = await parseMail(content).catch(() => undefined);
    if (!parsed) continue;
    const by = parsed.from?.value[0]?.address?.slice(0, 100) || "an attached mail";
    found.push({ by, text: cap(`Subject: ${parsed.subject ?? ""}\n\n${parsed.text ?? ""}`.trim()) });
  }
  return found;
}

function filesIn(attached: readonly MailFile[]): ReadMail["files"] {
  return attached
    .map((one, part) => ({ one, part }))
    .filter(({ one }) => !isMail(one) && !SIGNATURES.has(one.contentType))
    .slice(0, MAX_FILES)
    .map(({ one, part }) => ({
      part,
      name: (one.filename ?? `file-${part + 1}`).slice(0, 200),
      mime: one.contentType.slice(0, 100),
      bytes: one.content.byteLength,
    }));
}
