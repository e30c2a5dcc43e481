/** C. Secrets that stay where they belong: whose a secret is. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { temporaryFolder } from "../support/home.ts";
import { serveUnderAttack, TOKEN } from "../support/processes/attacked.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { fixture } from "../support/tools/components.ts";
import { allowing } from "../support/tools/tool-host.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
const upstream = await openUpstream(({ path }, response) => {
  if (path !== "/token") return void response.end("ok");
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ access_token: "the-token-of-a-sign-in", token_type: "bearer" }));
});
later(upstream.close);
const { served, send, run, install } = await serveUnderAttack(later, {
  TOOLS_PRIVATE_HOSTS: `127.0.0.1:${upstream.port}`,
});

const capabilities = (auth = {}) =>
  allowing("127.0.0.1", {
    credentials: { a: { secret_name: "token", location: { type: "bearer" }, host_patterns: ["127.0.0.1"] } },
    ...auth,
  });

/** Lets the model call a tool; answers how the turn ended and what it waits for. */
async function call(name: string) {
  const url = `http://127.0.0.1:${upstream.port}/v1/x`;
  served.model.script({ calls: [{ name, arguments: { url } }] }, { text: "Done." });
  const { status } = (await send("POST", "/api/chat", { message: "go" })).json;
  const [gate] = (await send("GET", "/api/approvals")).json.pending;
  if (gate) await send("POST", `/api/approvals/${gate.id}`, { decision: "deny" });
  return { status, asked: gate?.message };
}

attack(14, "a second tool that names a secret gets it only by a person's word, with both names", async () => {
  await install("notes", "prober.js", { capabilities: capabilities() });
  await send("PUT", "/api/tools/notes/secrets/token", { value: "the-token-of-notes" });
  expect(await call("notes")).toMatchObject({ status: "completed" });
  expect(upstream.requests.at(-1)?.headers.authorization).toBe("Bearer the-token-of-notes");

  await install("thief", "prober.js", { capabilities: capabilities() });
  const before = upstream.requests.length;
  expect(await call("thief")).toEqual({
    status: "waiting",
    asked: expect.stringContaining(
      "`token` was set for notes, which sends it to 127.0.0.1. Let thief use it too?",
    ),
  });
  // Nobody is there to agree: what is piped in is a value of its own, and none came.
  expect(await run("tool", "setup", "thief")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("pass --yes to agree"),
  });
  expect(await call("thief")).toMatchObject({ status: "waiting" });
  expect(upstream.requests).toHaveLength(before);

  expect((await send("GET", "/api/tools/thief/setup")).json.secrets).toMatchObject([
    { name: "token", is_set: false, shares: expect.stringContaining("set for notes") },
  ]);
  await send("POST", "/api/tools/thief/secrets/token/share");
  expect(await call("thief")).toMatchObject({ status: "completed" });
  expect(upstream.requests.at(-1)?.headers.authorization).toBe("Bearer the-token-of-notes");
});

attack(14, "other code under the name of a tool gets its secrets only by a person's word", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "tool.wasm"), await fixture("echo.js"));
  writeFileSync(join(folder, "capabilities.json"), capabilities());
  const files = [join(folder, "tool.wasm"), "--capabilities", join(folder, "capabilities.json")];
  expect(await run("tool", "install", ...files, "--name", "notes", "--force")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("keeps using `token`, which the installed version was given"),
  });
  // Removed and put back, without anybody having been asked.
  expect((await send("DELETE", "/api/tools/notes")).status).toBe(204);
  await install("notes", "echo.js", { capabilities: capabilities() });
  const before = upstream.requests.length;
  expect(await call("notes")).toEqual({
    status: "waiting",
    asked: expect.stringContaining("`token` was given to another version of notes"),
  });
  expect(upstream.requests).toHaveLength(before);
});

attack(14, "a client secret of one tool does not go to another's token address", async () => {
  const auth = {
    secret_name: "stolen",
    oauth: {
      authorization_url: `http://127.0.0.1:${upstream.port}/authorize`,
      token_url: `http://127.0.0.1:${upstream.port}/token`,
      client_id: "x",
      client_secret_secret: "token",
    },
  };
  const text = JSON.stringify({ ...JSON.parse(allowing("127.0.0.1")), auth });
  await install("oauth-thief", "prober.js", { capabilities: text });
  const { url } = (await send("POST", "/api/tools/oauth-thief/sign-in")).json;
  const state = new URL(url).searchParams.get("state");
  const before = upstream.requests.length;
  const answer = await fetch(`${served.url}/oauth/callback?code=x&state=${state}`);
  expect(await answer.text()).toContain("`token` is not set");
  expect(upstream.requests).toHaveLength(before);
});

attack(14, "a link to a user's own sign-in, opened in another browser, brings them no token", async () => {
  const auth = {
    secret_name: "notebook_token",
    oauth: {
      authorization_url: `http://127.0.0.1:${upstream.port}/authorize`,
      token_url: `http://127.0.0.1:${upstream.port}/token`,
      client_id: "x",
    },
  };
  const text = JSON.stringify({ ...JSON.parse(allowing("127.0.0.1")), auth });
  await install("notebook", "prober.js", { capabilities: text });
  await send("POST", "/api/users", { id: "mallory" });
  const { token } = (await send("POST", "/api/tokens", { user: "mallory", name: "browser" })).json;
  const begin = async (path: string, by: string) => {
    const headers = { authorization: `Bearer ${by}` };
    const begun = await fetch(`${served.url}/api/tools/notebook/${path}`, { method: "POST", headers });
    const { url } = (await begun.json()) as { url: string };
    const [cookie = ""] = (begun.headers.get("set-cookie") ?? "").split(";");
    return {
      back: `${served.url}/oauth/callback?code=x&state=${new URL(url).searchParams.get("state")}`,
      cookie,
    };
  };
  const forget = async () =>
    (await send("DELETE", "/api/tools/notebook/own/secrets/notebook_token", undefined, token)).status;

  const [own, other] = [await begin("own/sign-in", token), await begin("own/sign-in", token)];
  const before = upstream.requests.length;
  const refused = await fetch(own.back, { headers: { cookie: other.cookie } });
  expect([refused.status, await refused.text()]).toEqual([
    403,
    expect.stringContaining("was not started in this browser"),
  ]);
  expect(upstream.requests).toHaveLength(before);
  expect(await forget()).toBe(404);
  expect((await fetch(other.back, { headers: { cookie: other.cookie } })).status).toBe(200);
  expect(await forget()).toBe(204);

  // What the operator signs in for all users may come back in any browser.
  const shared = await begin("sign-in", TOKEN);
  expect(shared.cookie).toMatch(/^sign-in-[0-9a-f]{32}=1$/);
  expect((await fetch(shared.back)).status).toBe(200);
});
