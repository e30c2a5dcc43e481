/** E. The specification, row by row: tokens, origins and accounts. */
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { afterThisFile } from "../support/undo.ts";

const PAGE = "https://chat.example.org";
const later = afterThisFile();
const { served, send, run } = await serveUnderAttack(later, { GATEWAY_ALLOWED_ORIGINS: PAGE });
const operator = new URL(served.link()).searchParams.get("token") ?? "";

attack(24, "a listed origin really can call the API, and no other can", async () => {
  const preflight = (origin: string) =>
    fetch(`${served.url}/api/v1/responses`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
  const allowed = await preflight(PAGE);
  expect(allowed.status).toBe(204);
  expect(Object.fromEntries(allowed.headers)).toMatchObject({
    "access-control-allow-origin": PAGE,
    "access-control-allow-headers": "authorization,content-type",
    "access-control-allow-methods": expect.stringContaining("POST"),
    vary: expect.stringContaining("Origin"),
  });
  const ask = (origin: string, token: string) =>
    fetch(`${served.url}/api/status`, { headers: { origin, authorization: `Bearer ${token}` } });
  for (const token of [operator, "wrong"])
    expect((await ask(PAGE, token)).headers.get("access-control-allow-origin")).toBe(PAGE);
  const stream = await fetch(`${served.url}/v1/responses`, {
    method: "POST",
    headers: { origin: PAGE, authorization: `Bearer ${operator}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "any", input: "hello", stream: true }),
  });
  expect(stream.headers.get("access-control-allow-origin")).toBe(PAGE);
  expect(await stream.text()).toContain("response.completed");
  for (const origin of ["https://evil.example", `${PAGE}.evil.example`, "null", "https://CHAT.example.org"]) {
    expect((await preflight(origin)).status).toBe(401);
    expect((await ask(origin, operator)).headers.get("access-control-allow-origin")).toBeNull();
  }
});

attack(
  26,
  "a stolen session is seen and ended, by its owner or the operator, and by nobody else",
  async () => {
    const [bob, eve] = [await addUser("bob"), await addUser("eve")];
    const signedIn = await fetch(`${served.url}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "thief/1.0 \u00e9" },
      body: JSON.stringify({ token: bob.token }),
    });
    const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const status = async () => (await fetch(`${served.url}/api/status`, { headers: { cookie } })).status;
    expect(await status()).toBe(200);
    const { sessions } = (await send("GET", "/api/sessions", undefined, bob.token)).json;
    expect(sessions).toMatchObject([{ user: "bob", via: "token", browser: expect.stringMatching(/^thief/) }]);
    expect(JSON.stringify(sessions)).not.toContain(cookie.split("=")[1]);
    expect((await send("GET", "/api/sessions", undefined, eve.token)).json.sessions).toEqual([]);
    expect((await send("DELETE", `/api/sessions/${sessions[0].id}`, undefined, eve.token)).status).toBe(404);
    expect(await status()).toBe(200);
    expect((await run("session", "list", "--json")).stdout).toContain(sessions[0].id);
    expect((await send("DELETE", `/api/sessions/${sessions[0].id}`)).status).toBe(204);
    expect(await status()).toBe(401);
  },
);

attack(26, "who is removed is out at once, and their data is nobody's who gets the name", async () => {
  const carl = await addUser("carl");
  await send("POST", "/api/chat", { message: "my diary" }, carl.token);
  const promote = () => send("PATCH", "/api/users/carl", { role: "operator" }, carl.token);
  expect((await promote()).status).toBe(403);
  expect((await send("PATCH", "/api/users/carl", { role: "operator" })).json).toMatchObject({
    role: "operator",
  });
  expect((await send("GET", "/api/users", undefined, carl.token)).status).toBe(200);
  expect((await send("DELETE", "/api/users/carl", undefined, carl.token)).json.error.code).toBe(
    "own_account",
  );
  expect((await send("DELETE", "/api/users/operator", undefined, carl.token)).json.error.code).toBe(
    "user_built_in",
  );

  expect((await send("DELETE", "/api/users/carl")).status).toBe(204);
  expect((await send("GET", "/api/threads", undefined, carl.token)).status).toBe(401);
  expect((await send("POST", "/api/users", { id: "carl" })).json.error.code).toBe("user_has_data");
  expect((await run("user", "remove", "carl", "--with-data")).stdout).toContain("and their data");
  const other = await addUser("carl");
  expect((await send("GET", "/api/threads", undefined, other.token)).json.threads).toEqual([]);
});

attack(26, "a token can be given an end after it was made", async () => {
  const { token, id } = await addUser("dora");
  const days = 1 / 86_400_000;
  expect((await send("PATCH", `/api/tokens/${id}`, { expires_in_days: days }, token)).status).toBe(403);
  expect((await send("PATCH", `/api/tokens/${id}`, { expires_in_days: days })).status).toBe(200);
  expect((await send("GET", "/api/status", undefined, token)).status).toBe(401);
  expect((await send("PATCH", `/api/tokens/${id}`, { expires_in_days: null })).json.expires_at).toBeNull();
  expect((await send("GET", "/api/status", undefined, token)).status).toBe(200);
});

attack(11, "a token with a scope deletes nothing that it did not make, by any door", async () => {
  const { token: whole } = await addUser("finn");
  const make = async (name: string) =>
    (await send("POST", "/api/tokens", { user: "finn", name, tools: "none" })).json.token as string;
  const [scoped, other] = [await make("one"), await make("two")];
  const ask = async (token: string, more: object = {}) =>
    (await send("POST", "/openai/v1/responses", { model: "any", input: "Hi", ...more }, token)).json.id;
  const upload = async (token: string) => {
    const form = new FormData();
    form.set("file", new Blob(["text"]), "a.txt");
    form.set("purpose", "user_data");
    return (await send("POST", "/openai/v1/files", form, token)).json.id;
  };
  const makeAll = async (token: string) => [
    `/api/v1/responses/${await ask(token)}`,
    `/v1/responses/${await ask(token)}`,
    `/openai/v1/responses/${await ask(token, { background: true })}`,
    `/openai/v1/files/${await upload(token)}`,
    `/openai/v1/conversations/${(await send("POST", "/openai/v1/conversations", {}, token)).json.id}`,
  ];
  for (const owner of [whole, other])
    for (const path of await makeAll(owner)) {
      expect((await send("DELETE", path, undefined, scoped)).json.error.code, path).toBe("scoped_token");
      expect((await send("GET", path, undefined, owner)).status, path).toBe(200);
    }
  for (const path of await makeAll(scoped))
    expect((await send("DELETE", path, undefined, scoped)).status, path).toBe(200);
  const { threads } = (await send("GET", "/api/threads", undefined, whole)).json;
  expect(threads.length).toBeGreaterThan(0);
  for (const { id } of threads)
    expect((await send("DELETE", `/api/threads/${id}`, undefined, scoped)).status).toBe(403);
});

// The last: from now on refusals to this address wait.
attack(
  16,
  "guesses are 401 at any rate and wait, and a valid token from the same address does not",
  async () => {
    const { token } = await addUser("ann");
    const enough = new AbortController();
    const answered: number[] = [];
    const guesses = Array.from({ length: 100 }, async (_, at) => {
      const headers = { authorization: `Bearer guess-${at}` };
      answered.push((await fetch(`${served.url}/api/status`, { headers, signal: enough.signal })).status);
    });
    const ended = Promise.allSettled(guesses);
    await expect.poll(() => answered.length).toBeGreaterThanOrEqual(5);
    expect((await send("GET", "/api/status", undefined, token)).status).toBe(200);
    expect(new Set(answered)).toEqual(new Set([401]));
    expect(answered.length).toBeLessThan(50);
    enough.abort();
    await ended;
  },
);

/** With a token of their own. */
async function addUser(id: string): Promise<{ readonly token: string; readonly id: string }> {
  await send("POST", "/api/users", { id });
  return (await send("POST", "/api/tokens", { user: id, name: "test" })).json;
}
