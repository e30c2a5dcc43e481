/** The channel's settings: two servers, who we are, and whose word about senders counts. */
import { isLoopback } from "../../kernel/kit/outbound.ts";
import { type Env, Off } from "../../kernel/plugin.ts";

export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** `none` only for a server on this machine. */
  readonly encryption: "tls" | "starttls" | "none";
  readonly user: string;
  readonly password: string;
}

export interface EmailConfig {
  readonly imap: MailServer;
  readonly smtp: MailServer;
  /** Our own address, in lower case. */
  readonly address: string;
  readonly name: string | undefined;
  readonly authservId: string;
  readonly folders: readonly string[];
  /** Where copies of what we sent are kept; the server's own folder for it where it is not set. */
  readonly sentFolder: string | undefined;
  readonly limits: EmailLimits;
}

// Each is a connection of its own, since IDLE watches one folder.
const MAX_FOLDERS = 8;
const PORTS = { "imaps:": 993, "imap:": 143, "smtps:": 465, "smtp:": 587 } as const;
const FROM = /^(?:([^<>]*)<)?\s*([^\s<>@"(),:;]+@[a-z\d.-]+)\s*>?$/i;

export function readSettings(env: Env): EmailConfig | Off {
  // Both hold a password, so they are secrets as a whole: sealed in the store, and shown nowhere.
  const imap = env.secret("EMAIL_IMAP_URL", "The mailbox: imaps://user:password@host");
  const smtp = env.secret("EMAIL_SMTP_URL", "The server that sends: smtps://user:password@host");
  const from = env.text("EMAIL_FROM", undefined, "Our address: Postern <agent@example.org>");
  const authservId = env.text(
    "EMAIL_AUTHSERV_ID",
    undefined,
    "The name that our mail server writes first in its Authentication-Results",
  );
  const folders = env.list("EMAIL_FOLDERS", "The folders to read, separated by commas; INBOX if not set");
  const sentFolder = env.text("EMAIL_SENT_FOLDER", undefined, "The folder for copies of what is sent");
  const limits = readLimits(env);
  const incoming = imap && readServer(env, "EMAIL_IMAP_URL", imap, ["imaps:", "imap:"]);
  const outgoing = smtp && readServer(env, "EMAIL_SMTP_URL", smtp, ["smtps:", "smtp:"]);
  const [, name, address] = FROM.exec(from ?? "") ?? [];
  if (from !== undefined && address === undefined)
    env.refuse("EMAIL_FROM", "an address such as Postern <agent@example.org>");
  if (folders.length > MAX_FOLDERS) env.refuse("EMAIL_FOLDERS", `at most ${MAX_FOLDERS} folders`);
  const given = {
    EMAIL_IMAP_URL: imap,
    EMAIL_SMTP_URL: smtp,
    EMAIL_FROM: from,
    EMAIL_AUTHSERV_ID: authservId,
  };
  const missing = Object.entries(given).find(([, value]) => value === undefined);
  if (missing) return new Off(`${missing[0]} is not set`);
  if (!incoming || !outgoing || address === undefined || authservId === undefined)
    return new Off("its settings are invalid");
  return {
    imap: incoming,
    smtp: outgoing,
    address: address.toLowerCase(),
    name: name?.trim().replace(/^"|"$/g, "") || undefined,
    authservId: authservId.toLowerCase(),
    folders: folders.length === 0 ? ["INBOX"] : [...new Set(folders)],
    sentFolder,
    limits,
  };
}

export type EmailLimits = ReturnType<typeof readLimits>;

function readLimits(env: Env) {
  const range = { min: 1, max: 1_000_000 };
  return {
    sender: env.integer("EMAIL_SENDER_LIMIT", 50, range, "Mails of one sender that are answered in a day"),
    daily: env.integer("EMAIL_DAILY_LIMIT", 500, range, "Mails that are sent in a day"),
  };
}

function readServer(
  env: Env,
  variable: string,
  given: string,
  protocols: readonly (keyof typeof PORTS)[],
): MailServer | undefined {
  const [secure, upgraded] = protocols;
  const url = URL.parse(given);
  const protocol = protocols.find((one) => one === url?.protocol);
  const user = decode(url?.username ?? "");
  const password = decode(url?.password ?? "");
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const isWhole = /^[\w.:-]+$/.test(host) && /^\/?$/.test(url?.pathname ?? "") && user && password;
  if (!url || protocol === undefined || !isWhole) {
    env.refuse(
      variable,
      `${secure}//user:password@host, or ${upgraded}// for STARTTLS, with @ in a user or password as %40`,
    );
    return undefined;
  }
  return {
    host,
    port: Number(url.port) || PORTS[protocol],
    encryption: protocol === secure ? "tls" : isLoopback(host) ? "none" : "starttls",
    user,
    password,
  };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
