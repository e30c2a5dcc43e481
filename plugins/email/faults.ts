/** What a mail server's refusal means for the operator, in words that hold no password. */
import { Fault, reason } from "../../kernel/plugin.ts";
import type { MailServer } from "./settings.ts";

interface ServerError {
  readonly code?: string;
  readonly authenticationFailed?: boolean;
  readonly tlsFailed?: boolean;
  readonly responseText?: string;
  readonly mailboxMissing?: boolean;
}

export function serverFault(error: unknown, { host, port, user }: MailServer, variable: string): Fault {
  if (error instanceof Fault) return error;
  const { code = "", authenticationFailed, tlsFailed, responseText } = (error ?? {}) as ServerError;
  const where = `${host}:${port}`;
  if (authenticationFailed || code === "EAUTH")
    return new Fault(
      "forbidden",
      "email_login_failed",
      `${where} refused the user ${user} and the password. Check ${variable}; many providers want a password made for apps.`,
    );
  if (tlsFailed || code === "ETLS" || /CERT|TLS|SSL/.test(code))
    return new Fault(
      "unavailable",
      "email_no_tls",
      `${where} has no TLS that can be trusted (${responseText ?? reason(error)}). Check the name and the port in ${variable}.`,
    );
  return new Fault(
    "unavailable",
    "email_unreachable",
    `${where} cannot be used: ${responseText ?? reason(error)}. Check ${variable}, and that the server is up.`,
  );
}

export function folderMissing(folder: string): Fault {
  return new Fault(
    "unavailable",
    "email_folder_missing",
    `The mailbox has no folder "${folder}". Correct EMAIL_FOLDERS, or create the folder.`,
  );
}
