/** E. The specification, row by row: tokens, origins and accounts. */
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { afterThisFile } from "../support/undo.ts";

const PAGE = "https://chat.example.org";
const later = afterThisFile();
const { served, send } = await serveUnderAttack(later, { GATEWAY_ALLOWED_ORIGINS: PAGE });
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
