import { expect, test } from "vitest";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

test("an operator adds a user and a token, lists both without the secret, and revokes", async () => {
  const gateway = await openGateway();
  const user = await gateway.ask("/api/users", { method: "POST", body: { id: "alice" } });
  expect(user.status).toBe(201);
  expect(user.body).toMatchObject({ id: "alice", role: "user" });
  expect((await gateway.ask("/api/users", { method: "POST", body: { id: "alice" } })).status).toBe(400);
  const made = await gateway.ask("/api/tokens", {
    method: "POST",
    body: { user: "alice", name: "laptop", expires_in_days: 30 },
  });
  expect(made.status).toBe(201);
  expect(Date.parse(made.body.expires_at)).toBeGreaterThan(Date.now() + 29 * 86_400_000);
  const unknown = await gateway.ask("/api/tokens", { method: "POST", body: { user: "bob", name: "x" } });
  expect(unknown.status).toBe(404);

  const { token } = made.body;
  expect((await gateway.ask("/api/session", { token })).body).toEqual({
    user: { id: "alice", role: "user" },
  });
  // The time of its last use is written behind.
  await expect
    .poll(async () => (await gateway.ask("/api/tokens")).body.tokens)
    .toMatchObject([{ id: made.body.id, last_used_at: expect.any(String) }]);
  expect((await gateway.ask("/api/tokens")).text).not.toContain(token);
  expect((await gateway.ask(`/api/tokens/${made.body.id}`, { method: "DELETE" })).status).toBe(204);
  expect((await gateway.ask(`/api/tokens/${made.body.id}`, { method: "DELETE" })).status).toBe(404);
  expect((await gateway.ask("/api/session", { token })).status).toBe(401);
});

interface Operation {
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

test("a per-user token on an operator route gets 403", async () => {
  const gateway = await openGateway();
  const token = await gateway.addUser("alice");
  const { paths } = (await gateway.ask("/api/openapi.json")).body;
  const operatorRoutes = Object.entries<Record<string, Operation>>(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs)
      .filter(([, { responses }]) => responses["403"]?.description === "Only an operator can do this")
      .map(([verb]) => [verb.toUpperCase(), path] as const),
  );
  expect(operatorRoutes.length).toBeGreaterThanOrEqual(6);
  for (const [method, path] of operatorRoutes) {
    const answer = await gateway.ask(path.replaceAll(/\{\w+\}/g, "x"), {
      method,
      token,
      ...(method === "POST" && { body: { id: "mallory", user: "operator", name: "mine" } }),
    });
    expect([method, path, answer.status]).toEqual([method, path, 403]);
    expect(answer.body.error).toMatchObject({ type: "permission_error", code: "operator_only" });
  }
  const { users } = (await gateway.ask("/api/users", { token: OPERATOR_TOKEN })).body;
  expect(users.map(({ id }: { id: string }) => id)).toEqual(["alice", "operator"]);
});
