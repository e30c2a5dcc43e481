/** The SMTP side: writes an answer as a mail that stands in its thread, and hands it to the server. */
import { createTransport } from "nodemailer";
import MailComposer from "nodemailer/lib/mail-composer/index.js";
import { reason } from "../../kernel/plugin.ts";
import type { NotSent, OutgoingMessage } from "../messaging/services.ts";
import { serverFault } from "./faults.ts";
import { addressIn, type OwnIds } from "./message-id.ts";
import type { EmailConfig } from "./settings.ts";

/** What a mail leaves for its answer. */
export interface ReplyTo {
  readonly messageId?: string | undefined;
  readonly references: readonly string[];
  readonly subject: string;
}

export interface ComposedMail {
  readonly id: string;
  readonly to: string;
  readonly raw: Buffer;
}

const CONNECT_TIMEOUT_MS = 20_000;
const SOCKET_TIMEOUT_MS = 60_000;
const DEFAULT_SUBJECT = "A message from Postern";
/** The server had not been given the whole mail when one of these failed. */
const BEFORE_DATA = new Set(["CONN", "EHLO", "HELO", "STARTTLS", "MAIL FROM", "RCPT TO"]);

export async function compose(
  message: OutgoingMessage,
  { address, name }: Pick<EmailConfig, "address" | "name">,
  ids: OwnIds,
): Promise<ComposedMail> {
  const { conversation, key, text, html, files = [] } = message;
  const reply = message.reply as ReplyTo | undefined;
  const id = ids.of(key, conversation);
  const to = addressIn(conversation);
  const references = [...(reply?.references ?? []), ...(reply?.messageId ? [reply.messageId] : [])];
  const mail = new MailComposer({
    messageId: id,
    from: { name: name ?? "", address },
    to: { name: "", address: to },
    subject: subjectOf(reply?.subject ?? "", reply !== undefined),
    ...(reply?.messageId && { inReplyTo: reply.messageId }),
    ...(references.length > 0 && { references: references.join(" ") }),
    // Whoever answers automatically must not answer this (RFC 3834); the second is for Exchange.
    headers: { "Auto-Submitted": "auto-replied", "X-Auto-Response-Suppress": "All" },
    text,
    ...(html !== undefined && { html }),
    attachments: files.map((file) => ({
      filename: file.name,
      contentType: file.mime,
      content: Buffer.from(file.data),
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return { id, to, raw: await mail.compile().build() };
}

function subjectOf(subject: string, isReply: boolean): string {
  if (subject === "") return isReply ? "Re:" : DEFAULT_SUBJECT;
  return !isReply || /^re:/i.test(subject) ? subject : `Re: ${subject}`;
}

/** Rejects where it is unknown whether the server has taken it. */
export async function deliver(
  { to, raw }: ComposedMail,
  config: EmailConfig,
  signal: AbortSignal,
): Promise<NotSent | undefined> {
  const transport = open(config);
  const onAbort = () => transport.close();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await transport.sendMail({ envelope: { from: config.address, to }, raw });
    return undefined;
  } catch (error) {
    const {
      responseCode,
      command = "",
      code,
    } = error as {
      readonly responseCode?: number;
      readonly command?: string;
      readonly code?: string;
    };
    const isAuth = code === "EAUTH" || command.startsWith("AUTH");
    if (!isAuth && responseCode !== undefined)
      return {
        message: `${config.smtp.host} refused the mail to ${to}: ${reason(error)}`,
        // A number from 500 on is the server's last word, the ones from 400 on are not.
        ...(responseCode >= 500 && { isFinal: true }),
      };
    const isBefore = isAuth || BEFORE_DATA.has(command) || code === "EDNS" || code === "ETLS";
    const fault = serverFault(error, config.smtp, "EMAIL_SMTP_URL");
    if (isBefore) return { message: fault.message };
    throw fault;
  } finally {
    signal.removeEventListener("abort", onAbort);
    transport.close();
  }
}

/** Rejects with a fault where the server cannot be used. */
export async function checkOutgoing(config: EmailConfig, signal: AbortSignal): Promise<void> {
  const transport = open(config);
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    signal.throwIfAborted();
    // Closing a transport does not end what it verifies: the connection ends by its own limits.
    await Promise.race([transport.verify(), aborted.promise]);
  } catch (error) {
    throw serverFault(error, config.smtp, "EMAIL_SMTP_URL");
  } finally {
    signal.removeEventListener("abort", onAbort);
    transport.close();
  }
}

function open({ smtp, address }: EmailConfig) {
  return createTransport({
    host: smtp.host,
    port: smtp.port,
    secure: smtp.encryption === "tls",
    requireTLS: smtp.encryption === "starttls",
    ignoreTLS: smtp.encryption === "none",
    auth: { user: smtp.user, pass: smtp.password },
    name: address.slice(address.lastIndexOf("@") + 1),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
