import { request } from "node:http";
import { expect, test } from "vitest";
import { isSendable } from "../../../../plugins/accounts/settings.ts";
import { readHeaderSecret } from "../../../../plugins/gateway/sign-in/authenticator.ts";
import { openGateway } from "../../../support/services/gateway.ts";

/** Sends the bytes of the header as they are. */
function statusOf(url: string, token: Buffer): Promise<number | undefined> {
  const authorization = `Bearer ${token.toString("latin1")}`;
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/status`, { headers: { authorization } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on("error", reject).end();
  });
}

test("\u00a72.1 a token with a blank and letters outside of ASCII opens the gateway", async () => {
  const token = "mein geheimer schl\u00fcssel";
  const other = "\u043a\u043b\u044e\u0447 \u043e\u0442 \u0434\u043e\u043c\u0430";
  const { url } = await openGateway({ variables: { SERVICE_REBORN_WEBUI_TOKEN: token } });
  for (const sent of [Buffer.from(token, "latin1"), Buffer.from(token)])
    expect(await statusOf(url, sent)).toBe(200);
  const beside = await openGateway({ variables: { SERVICE_REBORN_WEBUI_TOKEN: other } });
  expect(await statusOf(beside.url, Buffer.from(other))).toBe(200);
  for (const sent of ["mein geheimer", "mein  geheimer schl\u00fcssel", "geheimer"])
    expect(await statusOf(url, Buffer.from(sent))).toBe(401);
});

test("\u00a72.1 a token that no header can carry is refused with a sentence", async () => {
  const refused = openGateway({ variables: { GATEWAY_AUTH_TOKEN: "two\nlines of a token" } });
  await expect(refused).rejects.toThrow(/GATEWAY_AUTH_TOKEN.*one line without blanks at its ends/s);
});

test("a secret may have blanks and letters of any script, and nothing that a header cannot carry", () => {
  for (const secret of ["a", "two words", "schl\u00fcssel", "\u043a\u043b\u044e\u0447", "\u9375"])
    expect(isSendable(secret), secret).toBe(true);
  for (const secret of ["", " a", "a ", "a\nb", "a\tb", "a\u0000", "a\u007f", "a\u2028b"])
    expect(isSendable(secret), JSON.stringify(secret)).toBe(false);
});

test("letters in a header are read as Latin-1 or UTF-8, whichever they were sent in", () => {
  const secret = "mein schl\u00fcssel";
  expect(readHeaderSecret(secret)).toBe(secret);
  expect(readHeaderSecret(Buffer.from(secret).toString("latin1"))).toBe(secret);
  expect(readHeaderSecret(Buffer.from("\u043a\u043b\u044e\u0447").toString("latin1"))).toBe(
    "\u043a\u043b\u044e\u0447",
  );
  expect(readHeaderSecret("plain ascii")).toBe("plain ascii");
});
