/** What tools remember, in the tables of both engines: quotas, calls at once, removal. */
import { expect, test } from "vitest";
import { openToolState } from "../../../host/calls/state.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { describeEngines } from "../../support/processes/engines.ts";

const bytes = (text: string) => Buffer.from(text);
const MB = 1_000_000;

describeEngines("the state of tools", (_, fresh) => {
  const open = async () => {
    const state = await openToolState(await (await fresh()).open());
    const call = (user = "ada", tool = "notes", maxMb = 1) => {
      const own = state.open(tool, user, maxMb);
      return {
        ...own,
        get: async (key: string) => {
          const reply = await own.answer({ op: "get", key });
          return reply.ok && reply.isThere ? Buffer.from(reply.body).toString() : undefined;
        },
        set: (key: string, body: Uint8Array) => own.answer({ op: "set", key, body }),
        remove: (key: string) => own.answer({ op: "delete", key }),
        list: (key: string) => own.answer({ op: "list", key }),
        keep: () => state.keep(tool, user, maxMb, own),
      };
    };
    return { state, call };
  };

  test("belongs to one tool and one user, and goes with the tool", async () => {
    const { state, call } = await open();
    const first = call();
    await first.set("a", bytes("1"));
    await first.set("aß", Uint8Array.of(0, 255));
    expect(await first.get("a")).toBe("1");
    expect(await call().get("a")).toBeUndefined();
    await first.keep();
    expect(await call().get("a")).toBe("1");
    expect(await call("bob").get("a")).toBeUndefined();
    expect(await call("ada", "other").get("a")).toBeUndefined();
    expect(await call().answer({ op: "get", key: "aß" })).toMatchObject({
      isThere: true,
      body: expect.objectContaining({ 0: 0, 1: 255 }),
    });
    expect(await call().list("a")).toMatchObject({ keys: ["a", "aß"] });
    expect(await call().list("b")).toMatchObject({ keys: [] });
    await state.forget("notes");
    expect(await call().get("a")).toBeUndefined();
  });

  test("is refused where the user has no room left, and can still be made smaller", async () => {
    const taken: [user: string, bytes: number][] = [];
    let isFull = false;
    const storage = {
      take: async (user: string, count: number) => {
        if (isFull) throw new Fault("invalid", "storage_full", "There is no room for this.");
        taken.push([user, count]);
      },
    };
    const state = await openToolState(await (await fresh()).open(), storage);
    const write = async (key: string, body: Uint8Array) => {
      const own = state.open("notes", "ada", 1);
      await own.answer({ op: "set", key, body });
      await state.keep("notes", "ada", 1, own);
    };
    await write("a", bytes("12345"));
    await write("a", bytes("123456789"));
    expect(taken).toEqual([
      ["ada", 6],
      ["ada", 4],
    ]);
    isFull = true;
    await expect(write("b", bytes("1"))).rejects.toMatchObject({ code: "storage_full" });
    await write("a", bytes("1"));
    const { answer } = state.open("notes", "ada", 1);
    expect(await answer({ op: "list", key: "" })).toMatchObject({ keys: ["a"] });
  });

  test("of two calls at once the one that ends last wins, key by key", async () => {
    const { call } = await open();
    const before = call();
    for (const key of ["both", "first", "gone"]) await before.set(key, bytes("old"));
    await before.keep();
    const [one, two] = [call(), call()];
    expect([await one.get("both"), await two.get("both")]).toEqual(["old", "old"]);
    await one.set("both", bytes("one"));
    await one.set("first", bytes("one"));
    await two.set("both", bytes("two"));
    await two.remove("gone");
    await two.keep();
    // It still sees what was there when it first asked.
    expect(await one.get("gone")).toBe("old");
    await one.keep();
    const after = call();
    const values = [await after.get("both"), await after.get("first"), await after.get("gone")];
    expect(values).toEqual(["one", "one", undefined]);
  });

  test("calls at once cannot exceed the quota together, whichever is first", async () => {
    const { call } = await open();
    const calls = ["a", "b"].map((key) => ({ key, own: call() }));
    for (const { key, own } of calls)
      expect(await own.set(key, new Uint8Array(0.6 * MB))).toMatchObject({ ok: true });
    const kept = await Promise.allSettled(calls.map(({ own }) => own.keep()));
    expect(kept.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const [{ reason } = {}] = kept.flatMap((one) => (one.status === "rejected" ? [one] : []));
    expect(reason).toMatchObject({ kind: "limited", code: "state_full" });
    const winner = calls[kept.findIndex(({ status }) => status === "fulfilled")];
    expect(await call().list("")).toMatchObject({ keys: [winner?.key] });
  });

  test("refuses what goes over the quota or the number of keys, and takes what is smaller", async () => {
    const { call } = await open();
    const own = call();
    expect(await own.set("a", new Uint8Array(MB - 1))).toMatchObject({ ok: true });
    const full = { ok: false, error: expect.stringContaining("it may have 1 MB for each user") };
    expect(await own.set("b", new Uint8Array(0))).toMatchObject(full);
    expect(await own.set("a", new Uint8Array(MB))).toMatchObject(full);
    await own.set("a", new Uint8Array(10));
    expect(await own.set("b", new Uint8Array(0))).toMatchObject({ ok: true });
    for (let at = 2; at < 10_000; at++) await own.set(`${at}`, new Uint8Array(0));
    expect(await own.set("one more", new Uint8Array(0))).toMatchObject({
      ok: false,
      error: expect.stringContaining("10000 keys"),
    });
    await own.keep();
    // With a smaller quota than what is there, it can only shrink.
    const large = call("ada", "large", 2);
    for (const key of ["a", "b"]) await large.set(key, new Uint8Array(0.9 * MB));
    await large.keep();
    const small = call("ada", "large");
    expect(await small.set("c", new Uint8Array(1))).toMatchObject({ ok: false });
    expect(await small.set("a", new Uint8Array(0.8 * MB))).toMatchObject({ ok: true });
    await small.keep();
    expect(await call("ada", "large").list("")).toMatchObject({ keys: ["a", "b"] });
  });
});
