import { join } from "node:path";
import { expect, test } from "vitest";
import { expiresSoon } from "../../../kernel/vocabulary/token-words.ts";
import { diagnose } from "../../../plugins/accounts/diagnosis.ts";
import { createAccounts } from "../../../plugins/accounts/records/accounts.ts";
import { watchExpiry, whenInWords } from "../../../plugins/accounts/sign-in/expiry.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/home.ts";
import { diagnosing } from "../../support/services/diagnosis.ts";
import { openGateway } from "../../support/services/gateway.ts";

test("soon is within seven days, neither past nor revoked", () => {
  const now = Date.parse("2026-11-16T00:00:00Z");
  const soon = (expiresAt: string | undefined, revokedAt?: string) =>
    expiresSoon({ expiresAt, revokedAt }, now);
  expect(soon("2026-11-23T00:00:00Z")).toBe(true);
  expect(soon("2026-11-23T00:00:01Z")).toBe(false);
  expect(soon("2026-11-15T23:59:59Z")).toBe(false);
  expect(soon(undefined)).toBe(false);
  expect(soon("2026-11-17T00:00:00Z", "2026-11-15T00:00:00Z")).toBe(false);
  expect(whenInWords("2026-11-19T00:00:00Z", now)).toBe("in 3 days");
  expect(whenInWords("2026-11-16T01:00:00Z", now)).toBe("in 1 hour");
});

const NO_SETTINGS = { authToken: undefined, operatorToken: undefined, oidc: undefined };

test("doctor and the log name a token that expires soon, whose it is and how to renew it", async () => {
  const home = temporaryFolder();
  const store = openStore(join(home, "store.sqlite"));
  const accounts = await createAccounts(store);
  await accounts.addUser("ann", "user");
  const { info, token } = await accounts.createToken("ann", "laptop", { expiresInDays: 3 });
  await accounts.createToken("ann", "desk", { expiresInDays: 30 });
  const words = `the token "laptop" of ann expires in 3 days (${info.expiresAt?.slice(0, 16)}Z): postern token expire ${info.id} 90`;
  expect(await diagnosing(home, NO_SETTINGS, diagnose)).toEqual([
    { name: "token", ok: true, warning: true, detail: words },
  ]);
  const logged: unknown[][] = [];
  const stop = watchExpiry(store, accounts, { warn: (...line: unknown[]) => void logged.push(line) });
  await expect.poll(() => logged).toHaveLength(1);
  stop();
  expect(logged[0]).toEqual([{ code: "token_expires_soon", user: "ann", token: info.id }, words]);
  expect(JSON.stringify(logged)).not.toContain(token);
  await store.close();
  expect(await diagnosing(temporaryFolder(), NO_SETTINGS, diagnose)).toEqual([]);
});

test("a person whose sign-in ends soon is told when, and nobody else", async () => {
  const { ask } = await openGateway();
  await ask("/api/users", { method: "POST", body: { id: "ann" } });
  const tokenFor = async (days: number) =>
    (await ask("/api/tokens", { method: "POST", body: { user: "ann", name: "a", expires_in_days: days } }))
      .body;
  const short = await tokenFor(3);
  expect((await ask("/api/session", { token: short.token })).body).toMatchObject({
    user: { id: "ann" },
    expires_at: short.expires_at,
  });
  const long = await tokenFor(30);
  expect((await ask("/api/session", { token: long.token })).body).not.toHaveProperty("expires_at");
});
