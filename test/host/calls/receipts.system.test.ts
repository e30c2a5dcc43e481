import { expect, test } from "vitest";
import { openReceipts, type Receipt } from "../../../host/calls/receipts.ts";
import { describeEngines } from "../../support/processes/engines.ts";

const receipt = (number: number, tool = "weather", message = ""): Receipt => ({
  id: `call-${number}`,
  at: "2026-11-15T00:00:00.000Z",
  tool,
  digest: "ab".repeat(32),
  user: "operator",
  millis: 12,
  status: "ok",
  requests: [
    { method: "GET", host: "api.open-meteo.com", status: 200, bytes: 512, millis: 9, credentials: [] },
  ],
  credentials: [],
  memoryPeak: 9_437_184,
  logs: message === "" ? [] : [{ level: "info", message }],
  logsDropped: 0,
});

const lost = (error: unknown) => {
  throw error;
};

describeEngines("receipts", (_, fresh) => {
  const store = async () => (await fresh()).open();

  test("a receipt comes back as it was kept, newest first, by tool, by user and by id", async () => {
    const receipts = await openReceipts(await store());
    for (const [number, tool] of ["weather", "notes", "weather"].entries()) {
      await receipts.add(receipt(number, tool, "said"), lost);
    }
    expect((await receipts.list()).map(({ id }) => id)).toEqual(["call-2", "call-1", "call-0"]);
    expect(await receipts.list({ tool: "weather", limit: 1 })).toEqual([receipt(2, "weather", "said")]);
    expect(await receipts.find("call-1")).toEqual(receipt(1, "notes", "said"));
    expect(await receipts.find("call-9")).toBeUndefined();
    const { user } = receipt(0);
    expect(await receipts.list({ user, tool: "notes" })).toEqual([receipt(1, "notes", "said")]);
    expect(await receipts.list({ user: "somebody else" })).toEqual([]);
  });

  test("receipts are bounded in number and in bytes, and the newest stay", async () => {
    const few = await openReceipts(await store(), { count: 10, bytes: 1e9 });
    for (let number = 1; number <= 41; number++) await few.add(receipt(number), lost);
    expect((await few.list({ limit: 100 })).map(({ id }) => id)).toEqual(
      Array.from({ length: 10 }, (_, index) => `call-${41 - index}`),
    );
    const small = await openReceipts(await store(), { count: 20, bytes: 30_000 });
    for (let number = 1; number <= 40; number++)
      await small.add(receipt(number, "weather", "x".repeat(9000)), lost);
    expect((await small.list({ limit: 100 })).map(({ id }) => id)).toEqual(["call-40", "call-39", "call-38"]);
  });

  test("processes that keep one receipt each stay within the bounds too", async () => {
    const shared = await store();
    for (let number = 1; number <= 5; number++) {
      const receipts = await openReceipts(shared, { count: 3, bytes: 1e9 });
      await receipts.add(receipt(number), lost);
      expect(await receipts.find(`call-${number}`)).toBeDefined();
    }
    expect(await (await openReceipts(shared)).list({ limit: 100 })).toHaveLength(3);
  });

  test("a few large receipts are trimmed before there are many", async () => {
    const receipts = await openReceipts(await store(), { count: 10_000, bytes: 80_000 });
    for (let number = 1; number <= 40; number++)
      await receipts.add(receipt(number, "weather", "x".repeat(9000)), lost);
    expect((await receipts.list({ limit: 100 })).length).toBeLessThan(11);
  });

  test("of a long message 4 KiB are kept, in whole characters", async () => {
    const receipts = await openReceipts(await store());
    await receipts.add({ ...receipt(1), status: "error", message: "ä€".repeat(10_000) }, lost);
    const { message = "" } = (await receipts.find("call-1")) ?? {};
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096);
    expect(message).toMatch(/^(ä€){800,}ä?…$/);
  });
});
