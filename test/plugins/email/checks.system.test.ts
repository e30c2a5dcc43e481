/** Settings that are only tried: what a check waits for, and what it leaves behind. */
import { once } from "node:events";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import { checkOutgoing } from "../../../plugins/email/outgoing.ts";
import email from "../../../plugins/email/plugin.ts";
import { type EmailConfig, readSettings } from "../../../plugins/email/settings.ts";
import { listen } from "../../support/servers/listening.ts";
import { bootChat, createFakeChat } from "../../support/services/chat.ts";

const settingsOf = (host: string) => ({
  EMAIL_IMAP_URL: `imap://agent:tried-password@${host}`,
  EMAIL_SMTP_URL: `smtp://agent:tried-password@${host}`,
  EMAIL_FROM: "agent@postern.test",
  EMAIL_AUTHSERV_ID: "mx.postern.test",
});

test("the check of a mail server that says nothing ends with its signal", async () => {
  const silent = createServer((socket) => void socket.on("error", () => {}));
  const { host } = await listen(silent);
  const config = readSettings(new Settings(settingsOf(host)).for("email")) as EmailConfig;
  const stop = new AbortController();
  const checked = checkOutgoing(config, stop.signal);
  const [socket] = await once(silent, "connection");
  stop.abort(new Error("it took too long"));
  await expect(checked).rejects.toMatchObject({
    code: "email_unreachable",
    message: expect.stringContaining("it took too long"),
  });
  socket.destroy();
});

test("a password that was only tried is not hidden from then on", async () => {
  const kernel = await bootChat(createFakeChat(), {}, { plugins: [email as AnyPlugin] });
  const offered = kernel
    .service("messaging")
    .offered()
    .find(({ channel }) => channel.name === "email");
  const tried = offered?.check(settingsOf("127.0.0.1:1"), AbortSignal.timeout(60_000));
  await expect(tried).rejects.toMatchObject({ code: "email_unreachable" });
  expect(kernel.service("kernel").mask.finds("tried-password")).toBe(false);
});
