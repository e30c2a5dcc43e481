/** Checks of `postern doctor`: can both servers be used, and does ours say whose mail it is? */
import { type Finding, reason } from "../../kernel/plugin.ts";
import { createMailbox } from "./mailbox.ts";
import { checkOutgoing } from "./outgoing.ts";
import { createMailReader } from "./reading/mail-reader.ts";
import type { EmailConfig } from "./settings.ts";

const TIMEOUT_MS = 20_000;
const LOOKED_AT = 20;

export async function examineEmail(config: EmailConfig): Promise<readonly Finding[]> {
  const { address, imap, smtp } = config;
  const readable = await attempt("email mailbox", `${address} on ${imap.host} can be read`, async () => {
    const mailbox = createMailbox(imap, config.sentFolder);
    for (const folder of config.folders) await mailbox.newest(folder, 0, AbortSignal.timeout(TIMEOUT_MS));
  });
  return [
    readable,
    await attempt("email sending", `${smtp.host} takes mail of ${address}`, () =>
      checkOutgoing(config, AbortSignal.timeout(TIMEOUT_MS)),
    ),
    ...(readable.ok ? [await examineResults(config)] : []),
  ];
}

async function attempt(name: string, detail: string, work: () => Promise<void>): Promise<Finding> {
  try {
    await work();
    return { name, ok: true, detail };
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  }
}

/** Without results by the right name nobody can be let in, and nothing else would say why. */
async function examineResults({
  imap,
  sentFolder,
  folders,
  address,
  authservId,
}: EmailConfig): Promise<Finding> {
  const name = "email senders";
  const reader = createMailReader();
  try {
    const mailbox = createMailbox(imap, sentFolder);
    const ids: string[] = [];
    let mails = 0;
    for (const folder of folders) {
      for (const source of await mailbox.newest(folder, LOOKED_AT, AbortSignal.timeout(TIMEOUT_MS))) {
        const mail = await reader.read({ source, address, authservId }).catch(() => undefined);
        mails++;
        ids.push(...(mail?.authservIds ?? []));
      }
    }
    if (mails === 0) return { name, ok: true, detail: "there is no mail yet to look for results in" };
    if (ids.includes(authservId)) return { name, ok: true, detail: `${authservId} says whose the mails are` };
    const found = [...new Set(ids)].slice(0, 3).join(", ");
    return {
      name,
      ok: false,
      detail: `none of the newest ${mails} mails has Authentication-Results of ${authservId}, so nobody can be let in; ${
        found === ""
          ? "make your mail server add them"
          : `set EMAIL_AUTHSERV_ID to your server's name among those there are: ${found}`
      }`,
    };
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  } finally {
    await reader.close();
  }
}
