/** The e-mail channel: a mailbox whose mails are answered, each in its thread. */
import { definePlugin, type Finding, Off } from "../../kernel/plugin.ts";
import { type EmailConfig, readSettings } from "./settings.ts";

const DAY_SECS = 24 * 3600;
const GUIDE = `Postern needs a mailbox of its own, with IMAP and SMTP.
1. Create the mailbox, or an app password for one that exists.
2. Find the id of your mail server: open the source of a mail it has received and look for the first
   "Authentication-Results:". The word behind it is the id, for example mx.example.org.
3. Write @ in a user or a password as %40: imaps://agent%40example.org:secret@imap.example.org`;

export default definePlugin({
  name: "email",
  kind: "channel",
  needs: ["messaging", "store", "kernel"],
  extends: ["messaging"],
  configure: (env) =>
    env.flag("EMAIL_ENABLED", true, "Enable the e-mail channel, where it is set up")
      ? { email: readSettings(env) }
      : new Off("EMAIL_ENABLED=false"),
  async start({ use, log, onStop, announce }) {
    const { messaging, store, kernel } = use;
    const { createMailReader } = await import("./reading/mail-reader.ts");
    const reader = createMailReader();
    onStop(() => reader.close());
    let limits = { sender: 0, daily: 0 };
    const count = (name: string, limit: () => number) => {
      const limiter = store.limiter({
        name,
        windows: async () => [{ limit: limit(), seconds: DAY_SECS }],
        isKept: true,
      });
      onStop(() => limiter.close());
      return limiter;
    };
    const senders = count("email-senders", () => limits.sender);
    const sent = count("email-sent", () => limits.daily);
    onStop(
      await messaging.offer<EmailConfig>(
        {
          name: "email",
          title: "E-mail",
          guide: GUIDE,
          settings: [
            { name: "EMAIL_IMAP_URL", example: "imaps://agent%40example.org:secret@imap.example.org" },
            { name: "EMAIL_SMTP_URL", example: "smtps://agent%40example.org:secret@smtp.example.org" },
            { name: "EMAIL_FROM", example: "Postern <agent@example.org>" },
            { name: "EMAIL_AUTHSERV_ID", example: "mx.example.org" },
          ],
          read: readSettings,
          async create(config, announce) {
            const begin = () => {
              // The URLs are masked as a whole; an error may quote the password alone.
              for (const { password } of [config.imap, config.smtp]) kernel.mask.add(password);
              limits = config.limits;
            };
            announce(`${config.address}, ${config.folders.join(", ")} on ${config.imap.host}`);
            const { createEmail } = await import("./email.ts");
            return createEmail({ config, reader, senders, sent, begin, log });
          },
        },
        announce,
      ),
    );
  },
  operations: {
    live: readSettings,
    async diagnose({ config: { email } }): Promise<readonly Finding[]> {
      return email instanceof Off ? [] : (await import("./diagnosis.ts")).examineEmail(email);
    },
  },
});
