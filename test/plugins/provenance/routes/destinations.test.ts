import { expect, test } from "vitest";
import { OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

test("users see and remove their own destinations, and only an operator those for everybody", async () => {
  const gateway = await openGateway();
  const alice = await gateway.addUser("alice");
  const destinations = gateway.service.service("destinations");
  const link = "https://shop.example/Order?id=1";
  await destinations.add({ value: link, tool: "fetch", user: "alice" });
  await destinations.add({ value: "ann@example.org", user: "operator" });
  await destinations.add({ value: "bank.example" });

  const list = async (token: string) => (await gateway.ask("/api/destinations", { token })).body.destinations;
  const remove = async (body: object, token = alice) =>
    (await gateway.ask("/api/destinations/remove", { method: "POST", body, token })).status;
  const added_at = expect.stringMatching(/^\d{4}-.*Z$/);
  const ofAll = { value: "bank.example", added_at };
  expect(await list(alice)).toEqual([ofAll, { value: link, tool: "fetch", user: "alice", added_at }]);
  expect(await list(OPERATOR_TOKEN)).toEqual([
    { value: "ann@example.org", user: "operator", added_at },
    ofAll,
  ]);

  expect(await remove({ value: "ann@example.org" })).toBe(404);
  expect(await remove({ value: "bank.example" })).toBe(404);
  expect(await remove({ value: "bank.example", for_all: true })).toBe(403);
  expect(await remove({ value: link })).toBe(404);
  expect(await remove({ value: link, tool: "fetch" })).toBe(204);
  expect(await list(alice)).toEqual([ofAll]);
  expect(await remove({ value: "Bank.example", for_all: true }, OPERATOR_TOKEN)).toBe(204);
  expect(await list(alice)).toEqual([]);
});

test("what cannot be a destination is refused, and so is a token with a scope", async () => {
  const gateway = await openGateway();
  const remove = async (body: object, token = OPERATOR_TOKEN) =>
    (await gateway.ask("/api/destinations/remove", { method: "POST", body, token })).status;
  for (const body of [
    {},
    { value: "" },
    { value: "a\0b" },
    { value: "x".repeat(2001) },
    { value: "a", tool: "b\0c" },
    { value: "a", for_all: "yes" },
  ])
    expect(await remove(body)).toBe(400);
  const body = { user: "operator", name: "narrow", tools: ["fetch"] };
  const { token } = (await gateway.ask("/api/tokens", { method: "POST", body })).body;
  expect(await remove({ value: "a" }, token)).toBe(403);
});
