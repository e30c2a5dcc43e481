import { expect, test } from "vitest";
import { Off } from "../../../kernel/plugin.ts";
import { Settings } from "../../../kernel/settings/env.ts";
import { readSettings } from "../../../plugins/email/settings.ts";

const GIVEN = {
  EMAIL_IMAP_URL: "imaps://agent%40postern.test:p%40ss@imap.postern.test",
  EMAIL_SMTP_URL: "smtp://agent%40postern.test:p%40ss@smtp.postern.test",
  EMAIL_FROM: "Postern <Agent@Postern.test>",
  EMAIL_AUTHSERV_ID: "MX.postern.test",
};
const read = (over: Readonly<Record<string, string>> = {}) => {
  const settings = new Settings({ ...GIVEN, ...over });
  return { config: readSettings(settings.for("email")), settings };
};

test("servers are encrypted unless they are on this machine", () => {
  expect(read().config).toMatchObject({
    imap: {
      host: "imap.postern.test",
      port: 993,
      encryption: "tls",
      user: "agent@postern.test",
      password: "p@ss",
    },
    smtp: { port: 587, encryption: "starttls" },
    address: "agent@postern.test",
    name: "Postern",
    authservId: "mx.postern.test",
    folders: ["INBOX"],
  });
  const local = read({
    EMAIL_IMAP_URL: "imap://a:b@127.0.0.1:1143",
    EMAIL_SMTP_URL: "smtp://a:b@[::1]:1025",
  });
  expect(local.config).toMatchObject({
    imap: { port: 1143, encryption: "none" },
    smtp: { host: "::1", encryption: "none" },
  });
});

test.each(Object.keys(GIVEN))("without %s the channel is off and says so", (name) => {
  const { config } = read({ [name]: "" });
  expect(config).toBeInstanceOf(Off);
  expect((config as Off).why).toBe(`${name} is not set`);
});

test.each([
  ["EMAIL_IMAP_URL", "https://a:secret-word@host"],
  ["EMAIL_IMAP_URL", "imaps://host"],
  ["EMAIL_SMTP_URL", "smtps://a:%zz-secret-word@host"],
  ["EMAIL_FROM", "nobody"],
  ["EMAIL_IMAP_URL", "imaps://a:secret-word@no such host"],
  ["EMAIL_IMAP_URL", "imaps://a:secret-word@host/no/folder"],
  ["EMAIL_SMTP_URL", "smtps://a:secret-word@(host)"],
  ["EMAIL_FOLDERS", "1,2,3,4,5,6,7,8,9"],
])("%s=%s is refused, and no password is shown", (name, value) => {
  const { settings } = read({ [name]: value });
  expect(settings.problems).toMatchObject([{ name }]);
  expect(JSON.stringify(settings.problems)).not.toContain("secret-word");
});

test("nonsense in one server is refused before the other is given", () => {
  const { settings, config } = read({ EMAIL_IMAP_URL: "nonsense", EMAIL_SMTP_URL: "", EMAIL_FROM: "" });
  expect(settings.problems).toMatchObject([{ name: "EMAIL_IMAP_URL" }]);
  expect(config).toMatchObject({ why: "EMAIL_SMTP_URL is not set" });
});

test("the URLs are secrets wherever settings are listed", () => {
  const { settings } = read();
  const secrets = settings.declared.filter(({ secret }) => secret).map(({ name }) => name);
  expect(secrets).toEqual(["EMAIL_IMAP_URL", "EMAIL_SMTP_URL"]);
});
