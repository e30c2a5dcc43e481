/** The channel's side towards real mail servers, with an inbox of the test's own. */
import type { SendMailOptions } from "nodemailer";
import { beforeAll, describe, expect, test } from "vitest";
import type { OutgoingMessage } from "../../../plugins/messaging/services.ts";
import {
  AGENT,
  ANN,
  AUTHSERV_ID,
  AWAY,
  BOB,
  describeWithMail,
  EVE,
  FULL,
  type MailServers,
  PASSWORD,
  startMailServers,
} from "../../support/servers/mail-server.ts";
import { type Kept, openEmail } from "../../support/services/email.ts";
import { afterThisFile } from "../../support/undo.ts";

const signal = new AbortController().signal;
const answerTo = (
  { conversation, reply }: { readonly conversation: string; readonly reply?: unknown },
  more: Partial<OutgoingMessage> = {},
): OutgoingMessage => ({
  key: "key-1",
  text: "At the harbour.",
  html: "<p>At the <b>harbour</b>.</p>",
  conversation,
  reply,
  ...more,
});

describeWithMail("e-mail with Dovecot and Exim", () => {
  const later = afterThisFile();
  let servers: MailServers;
  beforeAll(async () => {
    servers = await startMailServers(later);
  });
  const kept = (): Kept => ({ messages: new Map(), position: undefined });
  /** When this one has come in, everything before it was read. */
  const settle = async (email: Awaited<ReturnType<typeof openEmail>>, known = 0) => {
    await servers.send({ from: BOB, to: AGENT, text: "the last one" });
    const messages = await email.messages(known + 1);
    expect(messages.at(-1)?.text).toBe("the last one");
    return messages.slice(0, -1);
  };

  test("a mail arrives by IDLE, and its answer stands in its thread with a file", async () => {
    const email = await openEmail(servers.settings);
    await servers.send({
      from: `Ann <${ANN}>`,
      to: AGENT,
      subject: "Lunch",
      text: "Where?",
      messageId: "<1@honest.test>",
    });
    const [message] = await email.messages(1);
    expect(message).toMatchObject({
      sender: { id: ANN, name: "Ann" },
      isAuthentic: true,
      text: "Subject: Lunch\n\nWhere?",
    });
    if (!message) throw new Error("no message");

    const files = [{ name: "Plan ü.txt", mime: "text/plain", data: Buffer.from("a plan") }];
    const sent = await email.service.send(answerTo(message, { files }), signal);
    const [mail] = await servers.mails(ANN, 1);
    expect(mail?.messageId).toBe(sent.id);
    expect(mail).toMatchObject({
      subject: "Re: Lunch",
      inReplyTo: "<1@honest.test>",
      references: "<1@honest.test>",
      text: "At the harbour.",
      html: "<p>At the <b>harbour</b>.</p>",
      attachments: [{ filename: "Plan ü.txt", contentType: "text/plain" }],
    });
    expect(mail?.headers.get("auto-submitted")).toBe("auto-replied");
    expect(mail?.from?.text).toBe(`"Postern" <${AGENT}>`);
    expect(mail?.attachments[0]?.content.toString()).toBe("a plan");

    const copies = await servers.list(AGENT, "Sent");
    expect(copies.map(({ messageId }) => messageId)).toEqual([sent.id]);
    expect(await email.service.lookUp?.(answerTo(message), signal)).toEqual({ id: sent.id });
    expect(await email.service.lookUp?.(answerTo(message, { key: "key-2" }), signal)).toBeUndefined();

    // Some programs keep only the id of the last mail.
    await servers.send({
      from: ANN,
      to: AGENT,
      subject: "Re: Lunch",
      text: "Good.",
      inReplyTo: sent.id ?? "",
    });
    const [, answer] = await email.messages(2);
    expect(answer).toMatchObject({ conversation: message.conversation, text: "Good." });
  });

  test("files of a mail are brought when they are wanted", async () => {
    const email = await openEmail(servers.settings);
    await servers.send({
      from: ANN,
      to: AGENT,
      text: "See.",
      attachments: [{ filename: "a.bin", content: Buffer.alloc(300_000, 7) }],
    });
    const [message] = await email.messages(1);
    const [file] = message?.files ?? [];
    if (!file) throw new Error("no file");
    expect(file).toMatchObject({ name: "a.bin", bytes: 300_000 });
    const data = await email.service.download?.(file, 1_000_000, signal);
    expect(Buffer.from(data ?? []).equals(Buffer.alloc(300_000, 7))).toBe(true);
    await expect(email.service.download?.(file, 1000, signal)).rejects.toMatchObject({
      code: "email_file_too_large",
    });
    const gone = { ...file, ref: JSON.stringify({ ...JSON.parse(file.ref), uid: 999_999 }) };
    await expect(email.service.download?.(gone, 1000, signal)).rejects.toMatchObject({
      code: "email_file_gone",
    });
  });

  const FORGED = `Authentication-Results: ${AUTHSERV_ID}; dmarc=pass header.from=honest.test`;
  const forgeries: Readonly<Record<string, SendMailOptions>> = {
    "a forged sender": { from: ANN, envelope: { from: EVE, to: AGENT } },
    "a forged sender with forged results": {
      raw: `${FORGED}\r\nReceived: from a by b; Tue, 17 Nov 2026 10:00:00 +0000\r\nFrom: ${ANN}\r\nTo: ${AGENT}\r\n\r\nx`,
      envelope: { from: EVE, to: AGENT },
    },
    "two senders": {
      raw: `From: ${EVE}\r\nFrom: ${ANN}\r\nTo: ${AGENT}\r\n\r\nx`,
      envelope: { from: ANN, to: AGENT },
    },
    "a domain that did not pass": { from: EVE, to: AGENT },
  };
  describe.each(["at_start", "after_received"] as const)("with results %s", (results) => {
    let others: MailServers;
    beforeAll(async () => {
      others = await startMailServers(later, { results });
    });
    test.each(Object.entries(forgeries))("%s is not taken as its sender's", async (_, mail) => {
      const email = await openEmail(others.settings);
      await others.send({ to: AGENT, text: "Let me in.", ...mail });
      const [message] = await email.messages(1);
      expect(message?.isAuthentic).toBe(false);
    });

    test("the same mail from its own domain is", async () => {
      const email = await openEmail(others.settings);
      await others.send({ from: ANN, to: AGENT, text: "It is me." });
      expect((await email.messages(1))[0]).toMatchObject({ isAuthentic: true, sender: { id: ANN } });
    });
  });

  test("a server that vouches for nobody lets nobody in, whatever is forged", async () => {
    const silent = await startMailServers(later, { vouches: false });
    const email = await openEmail(silent.settings);
    await silent.send({
      raw: `From: ${ANN}\r\nTo: ${AGENT}\r\n${FORGED}\r\n\r\nx`,
      envelope: { from: ANN, to: AGENT },
    });
    expect((await email.messages(1))[0]?.isAuthentic).toBe(false);
  });

  test("bounces, autoresponders, lists and our own mails are not answered", async () => {
    const email = await openEmail(servers.settings);
    const before = (await servers.list(AGENT)).length;
    const conversation = (address: string) => `${address}/${"x".repeat(22)}`;
    // A mailbox that is full sends a real bounce, and somebody away a real answer.
    for (const address of [FULL, AWAY])
      await email.service.send({ key: address, conversation: conversation(address), text: "Hello" }, signal);
    await servers.send({ from: AGENT, to: AGENT, text: "myself" });
    await servers.send({ from: ANN, to: AGENT, text: "a list", list: { id: { url: "dev.honest.test" } } });
    await servers.send({
      from: ANN,
      to: AGENT,
      text: "a vacation",
      headers: { "Auto-Submitted": "auto-replied" },
    });
    const arrived = await servers.mails(AGENT, before + 5);
    expect(arrived.slice(before).map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(["Away", "Mail delivery failed: returning message to sender"]),
    );
    expect(await settle(email)).toEqual([]);
    expect(email.logged.filter((line) => line.includes("is not answered"))).toHaveLength(5);
  });

  test("several folders are watched at once, and each goes on where it was", async () => {
    const variables = { ...servers.settings, EMAIL_FOLDERS: "INBOX,Support" };
    const state = kept();
    const email = await openEmail(variables, state);
    const client = await servers.open(AGENT);
    const put = (id: number) =>
      client.append(
        "Support",
        Buffer.from(`From: ${ANN}\r\nMessage-ID: <s${id}@x.test>\r\n\r\nsupport ${id}`),
      );
    await put(1);
    await email.messages(1);
    await servers.send({ from: ANN, to: AGENT, text: "inbox" });
    await email.messages(2);
    await email.stop();
    await put(2);
    const again = await openEmail(variables, state);
    const messages = await again.messages(3);
    client.close();
    expect(messages.map(({ text }) => text)).toEqual(["support 1", "inbox", "support 2"]);
    expect(Object.keys(JSON.parse(again.position() ?? "").folders)).toEqual(["Support", "INBOX"]);
  });

  test("what came before the first start is not answered; what came before the first connection is", async () => {
    await servers.send({ from: ANN, to: AGENT, text: "before" });
    await servers.mails(AGENT, 1);
    const state = kept();
    // The time of a mail is in whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    state.position = JSON.stringify({ since: new Date().toJSON(), folders: {} });
    await servers.send({ from: ANN, to: AGENT, text: "meanwhile" });
    const email = await openEmail(servers.settings, state);
    expect(await settle(email, 1)).toMatchObject([{ text: "meanwhile" }]);
    await email.stop();
    const again = await openEmail(servers.settings, state);
    await settle(again, 2);
  });

  test("a folder that was numbered anew is not answered again", async () => {
    const variables = { ...servers.settings, EMAIL_FOLDERS: "Anew" };
    const client = await servers.open(AGENT);
    const put = (id: number, date = new Date()) =>
      client.append(
        "Anew",
        Buffer.from(
          `Date: ${date.toUTCString()}\r\nFrom: ${ANN}\r\nMessage-ID: <n${id}@x.test>\r\n\r\nmail ${id}`,
        ),
        [],
        date,
      );
    await client.mailboxCreate("Anew");
    const old = new Date("2020-01-01");
    await put(0, old);
    const state = kept();
    const email = await openEmail(variables, state);
    for (const id of [1, 2, 3]) await put(id);
    await email.messages(3);
    await email.stop();
    const { validity } = JSON.parse(state.position ?? "").folders.Anew;
    await client.mailboxDelete("Anew");
    await client.mailboxCreate("Anew");
    await put(0, old);
    for (const id of [1, 2, 3, 4]) await put(id);
    const again = await openEmail(variables, state);
    expect((await again.messages(4)).map(({ text }) => text)).toEqual([
      "mail 1",
      "mail 2",
      "mail 3",
      "mail 4",
    ]);
    await put(5);
    await again.messages(5);
    expect(JSON.parse(state.position ?? "").folders.Anew).toMatchObject({ uid: 6 });
    expect(JSON.parse(state.position ?? "").folders.Anew.validity).not.toBe(validity);
    client.close();
  });

  test("one sender and one day have their limits", async () => {
    const email = await openEmail({ ...servers.settings, EMAIL_SENDER_LIMIT: "2", EMAIL_DAILY_LIMIT: "1" });
    for (const text of ["1", "2", "3"]) await servers.send({ from: ANN, to: AGENT, text });
    expect((await settle(email, 2)).map(({ text }) => text)).toEqual(["1", "2"]);
    await expect.poll(() => email.logged.join()).toContain("EMAIL_SENDER_LIMIT");
    const message = { conversation: `${BOB}/${"x".repeat(22)}`, text: "Hello" };
    expect(await email.service.send({ ...message, key: "d1" }, signal)).toMatchObject({
      id: expect.any(String),
    });
    expect(await email.service.send({ ...message, key: "d2" }, signal)).toMatchObject({
      message: expect.stringContaining("EMAIL_DAILY_LIMIT"),
      retryMillis: 3_600_000,
    });
  });

  test("forged mails do not use up a person's limit", async () => {
    const email = await openEmail({ ...servers.settings, EMAIL_SENDER_LIMIT: "1" });
    for (const text of ["a", "b"])
      await servers.send({ from: ANN, envelope: { from: EVE, to: AGENT }, to: AGENT, text });
    await servers.send({ from: ANN, to: AGENT, text: "It is me." });
    expect((await email.messages(2)).map(({ text, isAuthentic }) => [text, isAuthentic])).toEqual([
      ["a", false],
      ["It is me.", true],
    ]);
  });

  test("what a server refuses for good is told apart from what may work later", async () => {
    const email = await openEmail(servers.settings);
    const send = (address: string) =>
      email.service.send(
        { key: address, conversation: `${address}/${"x".repeat(22)}`, text: "Hello" },
        signal,
      );
    expect(await send("nobody@honest.test")).toMatchObject({ isFinal: true });
    await servers.stop("smtp");
    const later = await send(ANN);
    await servers.start("smtp");
    expect(later).toMatchObject({ message: expect.stringContaining("EMAIL_SMTP_URL") });
    expect(later).not.toHaveProperty("isFinal");
  });

  test("a wrong password is said without showing it", async () => {
    const wrong = (name: string) => ({
      ...servers.settings,
      [name]: (servers.settings[name] ?? "").replace(encodeURIComponent(PASSWORD), "a-wrong-one"),
    });
    const refused = await openEmail(wrong("EMAIL_IMAP_URL")).catch((error: Error) => error);
    expect(refused).toMatchObject({ kind: "forbidden", code: "email_login_failed" });
    expect(String(refused)).not.toContain("a-wrong-one");
    const email = await openEmail(wrong("EMAIL_SMTP_URL"));
    const message = { key: "w", conversation: `${ANN}/${"x".repeat(22)}`, text: "Hello" };
    const unsent = await email.service.send(message, signal);
    expect(unsent).toMatchObject({ message: expect.stringContaining("EMAIL_SMTP_URL") });
    expect(JSON.stringify(unsent)).not.toContain("a-wrong-one");
    await expect(email.service.check(signal)).rejects.toMatchObject({ code: "email_login_failed" });
  });

  test("a folder that is missing is named, and a check says who we are", async () => {
    await expect(openEmail({ ...servers.settings, EMAIL_FOLDERS: "Nowhere" })).rejects.toMatchObject({
      code: "email_folder_missing",
    });
    const email = await openEmail(servers.settings);
    expect(await email.service.check(signal)).toEqual({
      detail: `${AGENT} on 127.0.0.1, sends by 127.0.0.1`,
      link: `mailto:${AGENT}`,
    });
  });

  test("a lost connection ends the reading, and the next begins where it was", async () => {
    const state = kept();
    const email = await openEmail(servers.settings, state);
    await servers.stop("imap");
    await expect(email.messages(1)).rejects.toMatchObject({ code: "email_unreachable" });
    await servers.send({ from: ANN, to: AGENT, text: "meanwhile" });
    await servers.start("imap");
    const again = await openEmail(servers.settings, state);
    expect((await again.messages(1)).map(({ text }) => text)).toEqual(["meanwhile"]);
  });

  test("of a mail that is too large the beginning is read", async () => {
    const email = await openEmail(servers.settings);
    await servers.send({
      from: ANN,
      to: AGENT,
      text: "See the film.",
      attachments: [{ filename: "film.mp4", content: Buffer.alloc(20 * 2 ** 20) }],
    });
    const [message] = await email.messages(1);
    expect(message?.text).toMatch(/^See the film\.\n\n\[The rest of this mail is missing/);
    expect(message?.files).toEqual([]);
  });
});
