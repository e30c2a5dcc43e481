/** Links by which somebody signs in once. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openGateway, type TestGateway } from "../../support/services/gateway.ts";

const SECOND_DAYS = 1 / 86_400;

async function open() {
  const gateway = await openGateway({ variables: { MEMORY_VECTORS: "false" } });
  const invite = (body: object, token?: string) =>
    gateway.ask("/api/invitations", { method: "POST", body, ...(token !== undefined && { token }) });
  return { gateway, invite };
}

const enter = (gateway: TestGateway, token: string, more: object = { confirmed: true }) =>
  gateway.ask("/api/session", { method: "POST", body: { token, ...more }, token: "" });

const cookieOf = (answer: { readonly headers: Headers }) =>
  (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";

test("an invitation adds the person, signs one browser in after a question, and is gone then", async () => {
  const { gateway, invite } = await open();
  const made = await invite({ user: "ann", role: "user" });
  expect(made).toMatchObject({ status: 201, body: { user: "ann" } });
  const { token, id } = made.body;
  expect(token).toMatch(/^postern_invite_[\w-]{43}$/);
  expect(JSON.stringify((await gateway.ask("/api/invitations")).body)).not.toContain(token);
  // A link asks first, which uses nothing up: programs that look at links press no button.
  const asked = await enter(gateway, token, { from_link: true });
  expect([asked.status, asked.body.error.message]).toEqual([409, "This link signs you in as ann."]);
  const entered = await enter(gateway, token);
  expect([entered.status, entered.body.user]).toEqual([200, { id: "ann", role: "user" }]);
  const mine = await gateway.ask("/api/session", { token: "", headers: { cookie: cookieOf(entered) } });
  expect(mine.body.user.id).toBe("ann");
  const again = await enter(gateway, token);
  expect([again.status, again.text]).toEqual([
    401,
    "This invitation was already used, or it has expired. Ask whoever sent it for a new one.",
  ]);
  expect((await gateway.ask("/api/invitations")).body.invitations).toEqual([]);
  const { sessions } = (await gateway.ask("/api/sessions")).body;
  expect(sessions).toMatchObject([{ user: "ann", via: "invitation" }]);
  // Ending the session is enough: the link is used up.
  await gateway.ask(`/api/sessions/${sessions[0].id}`, { method: "DELETE" });
  const ended = await gateway.ask("/api/session", { token: "", headers: { cookie: cookieOf(entered) } });
  expect(ended.status).toBe(401);
  expect((await gateway.ask(`/api/invitations/${id}`, { method: "DELETE" })).status).toBe(404);
});

test("of two browsers that use one link at once, one is signed in", async () => {
  const { gateway, invite } = await open();
  const { token } = (await invite({ user: "ann", role: "user" })).body;
  const answers = await Promise.all(Array.from({ length: 5 }, () => enter(gateway, token)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 401, 401, 401, 401]);
  expect((await gateway.ask("/api/sessions")).body.sessions).toHaveLength(1);
});

test("an invitation is no token, ends when it is withdrawn, expires or its user is removed", async () => {
  const { gateway, invite } = await open();
  await gateway.addUser("ann");
  const first = (await invite({ user: "ann" })).body;
  expect((await gateway.ask("/api/threads", { token: first.token })).status).toBe(401);
  expect((await gateway.ask(`/api/invitations/${first.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await enter(gateway, first.token)).status).toBe(401);
  const brief = (await invite({ user: "ann", expires_in_days: SECOND_DAYS / 10 })).body;
  await sleep(Date.parse(brief.expires_at) - Date.now() + 5);
  expect((await enter(gateway, brief.token)).status).toBe(401);
  const last = (await invite({ user: "ann" })).body;
  await gateway.ask("/api/users/ann", { method: "DELETE" });
  expect((await enter(gateway, last.token)).status).toBe(401);
});

test("only an operator invites, for others, and somebody who exists is not invited as somebody new", async () => {
  const { gateway, invite } = await open();
  const ann = await gateway.addUser("ann");
  expect((await invite({ user: "eve", role: "operator" }, ann)).status).toBe(403);
  expect((await invite({ user: "eve" })).body.error.code).toBe("user_not_found");
  expect((await invite({ user: "ann", role: "user" })).body.error.code).toBe("user_exists");
  expect((await invite({ user: "operator" })).body.error.code).toBe("user_built_in");
  expect((await invite({ user: "ann", expires_in_days: 31 })).body.error.param).toBe("expires_in_days");
  expect((await gateway.ask("/api/invitations", { token: ann })).status).toBe(403);
  expect((await gateway.ask("/api/invitations")).body.invitations).toEqual([]);
});
