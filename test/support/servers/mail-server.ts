/** Debian's Dovecot and Exim on loopback, as an ordinary user. The server vouches for its guests' domains as DMARC would. */
import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ImapFlow } from "imapflow";
import { type ParsedMail, simpleParser } from "mailparser";
import { createTransport, type SendMailOptions } from "nodemailer";
import { temporaryFolder } from "../home.ts";
import { describeWhere } from "../run/needs.ts";
import type { Later } from "../undo.ts";
import { freePort } from "./port.ts";

const DOVECOT = "/usr/sbin/dovecot";
const EXIM = "/usr/sbin/exim4";

export const describeWithMail = describeWhere(
  existsSync(DOVECOT) && existsSync(EXIM),
  "mail servers (apt-get install dovecot-imapd exim4-daemon-light)",
);

export const AGENT = "agent@postern.test";
export const ANN = "ann@honest.test";
export const BOB = "bob@honest.test";
export const CAROL = "carol@honest.test";
export const DAN = "dan@honest.test";
export const EVE = "eve@evil.test";
/** Answers automatically, as a person on vacation. */
export const AWAY = "away@honest.test";
/** Is taken by the server and bounces afterwards. */
export const FULL = "full@honest.test";
export const AUTHSERV_ID = "mx.postern.test";
export const PASSWORD = "p@ss/of:mail";
const MAILBOXES = [AGENT, ANN, BOB, CAROL, DAN, EVE, AWAY];

export interface MailServers {
  readonly settings: Readonly<Record<string, string>>;
  readonly log: () => string;
  /** Where a person's mails lie, as Maildir. */
  folderOf(address: string): string;
  /** Hands over a mail as a server outside would, until it is delivered: the envelope's sender is the one of `from`, or `envelope`. */
  send(mail: SendMailOptions): Promise<void>;
  /** Waits until a person has so many mails in the inbox, and returns them. */
  mails(address: string, count: number): Promise<readonly ParsedMail[]>;
  /** Waits for a mail in a person's inbox, until the signal aborts. */
  find(address: string, isIt: (mail: ParsedMail) => boolean, signal?: AbortSignal): Promise<ParsedMail>;
  /** What is there now, by folder. */
  list(address: string, folder?: string): Promise<readonly ParsedMail[]>;
  /** A connection of this person's mail program. */
  open(address: string): Promise<ImapFlow>;
  stop(which: "imap" | "smtp"): Promise<void>;
  start(which: "imap" | "smtp"): Promise<void>;
}

/** Where the server writes its results: on top, or below its own Received as some do. */
export interface MailServerOptions {
  readonly results?: "at_start" | "after_received";
  /** False for a server that says nothing about senders. */
  readonly vouches?: boolean;
}

export async function startMailServers(
  later: Later,
  { results = "at_start", vouches = true }: MailServerOptions = {},
): Promise<MailServers> {
  const folder = temporaryFolder(later);
  const [imapPort, smtpPort] = [await freePort(), await freePort()];
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? "nobody" : userInfo().username;
  const ids = isRoot ? { uid: 65534, gid: 65534 } : { uid: userInfo().uid, gid: userInfo().gid };
  for (const name of ["", "run", "state", "mail", "spool", "log"]) {
    mkdirSync(join(folder, name), { recursive: true });
    if (isRoot) chownSync(join(folder, name), ids.uid, ids.gid);
  }
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("mailboxes", MAILBOXES.map((address) => `${address}: ${join(folder, "mail", address)}\n`).join(""));
  write("dovecot.conf", dovecotConfig(folder, user, ids, imapPort));
  write("exim.conf", eximConfig(folder, ids, smtpPort, results, vouches));

  const programs = {
    imap: {
      command: DOVECOT,
      args: ["-F", "-c", join(folder, "dovecot.conf")],
      port: imapPort,
      greeting: "* OK",
    },
    smtp: { command: EXIM, args: ["-C", join(folder, "exim.conf"), "-bdf"], port: smtpPort, greeting: "220" },
  };
  const running = new Map<string, ChildProcess>();
  async function stop(which: "imap" | "smtp"): Promise<void> {
    const child = running.get(which);
    if (!child) return;
    running.delete(which);
    const ended =
      child.exitCode === null ? new Promise((resolve) => child.once("close", resolve)) : undefined;
    child.kill("SIGTERM");
    await ended;
  }
  async function start(which: "imap" | "smtp"): Promise<void> {
    const { command, args, port, greeting } = programs[which];
    const child = spawn(command, args, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { PATH: "/usr/sbin:/usr/bin:/bin" },
      ...(isRoot && ids),
    });
    running.set(which, child);
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
    });
    while (!(await greets(port, greeting))) {
      if (child.exitCode !== null) throw new Error(`${command} ended: ${said}`);
      await sleep(20);
    }
  }
  later(() => Promise.all([stop("imap"), stop("smtp")]));
  await Promise.all([start("imap"), start("smtp")]);

  const open = async (address: string) => {
    const client = new ImapFlow({
      host: "127.0.0.1",
      port: imapPort,
      secure: false,
      doSTARTTLS: false,
      auth: { user: address, pass: PASSWORD },
      logger: false,
    });
    client.on("error", () => {});
    await client.connect();
    return client;
  };
  const list = async (address: string, path = "INBOX") => {
    const client = await open(address);
    try {
      await client.mailboxOpen(path, { readOnly: true });
      const found: ParsedMail[] = [];
      if (client.mailbox && client.mailbox.exists > 0)
        for await (const { source } of client.fetch("1:*", { source: true }))
          if (source) found.push(await simpleParser(source, { skipTextToHtml: true }));
      return found;
    } finally {
      client.close();
    }
  };
  const credentials = `${encodeURIComponent(AGENT)}:${encodeURIComponent(PASSWORD)}`;
  return {
    settings: {
      EMAIL_IMAP_URL: `imap://${credentials}@127.0.0.1:${imapPort}`,
      EMAIL_SMTP_URL: `smtp://${credentials}@127.0.0.1:${smtpPort}`,
      EMAIL_FROM: `Postern <${AGENT}>`,
      EMAIL_AUTHSERV_ID: AUTHSERV_ID,
    },
    log: () =>
      ["dovecot.log", "exim-main.log", "exim-reject.log", "exim-panic.log"]
        .map((name) => join(folder, "log", name))
        .flatMap((file) => (existsSync(file) ? [readFileSync(file, "utf8")] : []))
        .join("\n"),
    folderOf: (address) => join(folder, "mail", address),
    async send(mail) {
      const transport = createTransport({ host: "127.0.0.1", port: smtpPort, ignoreTLS: true });
      const { response } = await transport.sendMail(mail);
      transport.close();
      // The server delivers in a process for each mail: the next must not overtake this one on its way to the mailbox.
      const delivered = `${/id=(\S+)/.exec(response)?.[1]} Completed`;
      while (!readFileSync(join(folder, "log", "exim-main.log"), "utf8").includes(delivered)) await sleep(20);
    },
    async mails(address, count) {
      for (;;) {
        const found = await list(address);
        if (found.length >= count) return found;
        await sleep(50);
      }
    },
    async find(address, isIt, signal) {
      for (; ; await sleep(50)) {
        signal?.throwIfAborted();
        const found = (await list(address)).find(isIt);
        if (found) return found;
      }
    },
    list,
    open,
    stop,
    start,
  };
}

function greets(port: number, greeting: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("error", () => resolve(false));
    socket.once("data", (chunk) => {
      socket.destroy();
      resolve(chunk.toString().startsWith(greeting));
    });
    socket.once("close", () => resolve(false));
  });
}

const dovecotConfig = (
  folder: string,
  user: string,
  { uid, gid }: { uid: number; gid: number },
  port: number,
) => `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log/dovecot.log
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
default_login_user = ${user}
default_internal_user = ${user}
default_internal_group = ${gid === 65534 ? "nogroup" : gid}
mail_location = maildir:${folder}/mail/%u
first_valid_uid = 1
mail_max_userip_connections = 50
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}/mail/%u
}
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    auto = create
    special_use = \\Sent
  }
  mailbox Support {
    auto = create
  }
}
`;

const eximConfig = (
  folder: string,
  { uid, gid }: { uid: number; gid: number },
  port: number,
  results: string,
  vouches: boolean,
) => `
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/exim-%s.log
pid_file_path = ${folder}/exim.pid
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
primary_hostname = ${AUTHSERV_ID}
exim_user = ${uid}
exim_group = ${gid}
never_users =
admin_groups = ${gid}
keep_environment =
tls_advertise_hosts =
message_size_limit = 100M
smtp_accept_max = 100
smtp_accept_max_per_connection = 0
acl_smtp_rcpt = acl_rcpt
acl_smtp_data = acl_data
deliver_drop_privilege = true
begin acl
acl_rcpt:
  accept recipients = lsearch;${folder}/mailboxes : ${FULL}
  deny message = no such mailbox
acl_data:
  accept authenticated = *
  warn condition = ${vouches}
    set acl_m_from = \${domain:\${address:$h_From:}}
    set acl_m_dmarc = \${if and{{eqi{$acl_m_from}{$sender_address_domain}}{!eqi{$acl_m_from}{evil.test}}}{pass}{fail}}
    add_header = :${results}:Authentication-Results: ${AUTHSERV_ID}; dmarc=$acl_m_dmarc (p=none) header.from=$acl_m_from
  accept
begin routers
full:
  driver = redirect
  local_parts = full
  allow_fail
  data = :fail: the mailbox is full
away:
  driver = accept
  condition = \${if !eq{$sender_address}{}}
  local_parts = away
  transport = vacation
  unseen
all:
  driver = accept
  transport = mailbox
begin transports
mailbox:
  driver = appendfile
  directory = \${lookup{$local_part@$domain}lsearch{${folder}/mailboxes}}
  maildir_format
  return_path_add
  delivery_date_add
  user = ${uid}
  group = ${gid}
vacation:
  driver = autoreply
  from = ${AWAY}
  to = $sender_address
  subject = Away
  text = I am away until Monday.
  user = ${uid}
  group = ${gid}
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_prompts = :
  server_condition = \${if and{{eq{$auth2}{${AGENT}}}{eq{$auth3}{${PASSWORD}}}}}
  server_set_id = $auth2
`;
