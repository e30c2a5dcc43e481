/** What one node keeps of a person another node shows, on either engine. */
import { randomUUIDv7 } from "node:crypto";
import { expect, test } from "vitest";
import { openToolState } from "../../../../host/calls/state.ts";
import { TABLES as TOOLS } from "../../../../host/owned-tables.ts";
import { NO_USAGE } from "../../../../kernel/kit/turns.ts";
import { createMask } from "../../../../kernel/mask/mask.ts";
import { createFollowers } from "../../../../plugins/accounts/followers.ts";
import { createAccounts } from "../../../../plugins/accounts/records/accounts.ts";
import { createIdentities } from "../../../../plugins/accounts/records/identities.ts";
import { MIGRATIONS as ACCOUNTS } from "../../../../plugins/accounts/records/tables.ts";
import { createApprovals } from "../../../../plugins/agent/safety/approvals.ts";
import { createHistory } from "../../../../plugins/agent/threads/history.ts";
import { createLedger } from "../../../../plugins/agent/threads/ledger.ts";
import { MIGRATIONS, TABLES } from "../../../../plugins/agent/threads/tables.ts";
import { createThreads } from "../../../../plugins/agent/threads/threads.ts";
import { createMissions, MIGRATIONS as MISSIONS } from "../../../../plugins/guidance/missions.ts";
import jobs from "../../../../plugins/jobs/plugin.ts";
import { createJobTable } from "../../../../plugins/jobs/queue/table.ts";
import { MIGRATIONS as JOBS } from "../../../../plugins/jobs/queue/tables.ts";
import { createMemory } from "../../../../plugins/memory/memory.ts";
import { describeEngines, type StorePlace } from "../../../support/processes/engines.ts";
import { message } from "../../../support/services/agent.ts";
import { quiet } from "../../../support/services/memory.ts";

const MODEL = { provider: "test", name: "test" };
const IDENTITY = "webhook/ann";
const MISSION_TABLES = [{ owner: "missions", migrations: MISSIONS, personal: ["missions"] }];

async function nodeOn(place: StorePlace) {
  const store = await place.open();
  const sql = await store.tables("agent", MIGRATIONS);
  const memory = await createMemory({ store, vectors: false, log: quiet });
  const missions = await createMissions(store);
  const table = createJobTable(await store.tables("jobs", JOBS), store);
  const [ledger, threads] = [
    createLedger(sql, store.node),
    createThreads(sql, {
      store,
      onRemove: () => {},
      choose: async ({ provider = "", name }) => ({ provider, name }),
    }),
  ];
  const jobTables = (await jobs.operations?.tables?.()) ?? [];
  const kernel = { tables: async () => [...TABLES, ...jobTables, ...MISSION_TABLES, ...TOOLS] };
  const followers = createFollowers(store, kernel);
  const accounts = await createAccounts(store);
  const identities = createIdentities(await store.tables("gateway", ACCOUNTS), accounts, followers.give);
  identities.extend({
    known: threads.identities,
    held: table.heldCounts,
    firstHeld: table.firstHeld,
    refuseHeld: async () => 0,
  });
  followers.follow({ remove: threads.removeAll, give: threads.give });
  followers.follow({ give: missions.give });
  followers.follow({ give: memory.giveUser, remove: memory.removeUser });
  followers.follow({ give: table.give });
  return {
    sql,
    memory,
    missions,
    table,
    threads,
    /** What a tool remembers of a user; with a text, remembers that before. */
    async remembered(tool: string, user: string, text?: string) {
      const tools = await openToolState(store);
      const state = tools.open(tool, user, 1);
      if (text !== undefined) await state.answer({ op: "set", key: "a", body: Buffer.from(text) });
      await tools.keep(tool, user, 1, state);
      const reply = await state.answer({ op: "get", key: "a" });
      return reply.ok && reply.isThere ? Buffer.from(reply.body).toString() : undefined;
    },
    approvals: createApprovals(sql),
    history: createHistory(sql, { mask: createMask(), trusted: new Set() }),
    identities,
    addUser: accounts.addUser,
    removeUser: (user: string, options: { withData: boolean }) =>
      accounts.removeUser(user, options, () => followers.remove(user, options)),
    async say(text: string, thread?: string, user = "ann") {
      const turn = { id: randomUUIDv7(), user, channel: "test", input: message(text) };
      const { writer } = await ledger.open({ ...turn, ...(thread !== undefined && { thread }) }, MODEL, {
        isIdGiven: false,
        alongside: undefined,
      });
      await writer.finish({ status: "completed" }, NO_USAGE);
      return writer;
    },
  };
}

describeEngines("what is read", (_engine, fresh) => {
  async function twoNodes() {
    const place = await fresh();
    return { one: await nodeOn(place), other: await nodeOn(place) };
  }

  test("a search looks for a sentence in so much and no more", async () => {
    const { one } = await twoNodes();
    const list = async (q: string) => (await one.threads.list("ann", { q })).items;
    const words = Array.from({ length: 20 }, (_, at) => `w${String.fromCharCode(97 + at)}w`);
    // The index is asked for sixteen words: the others make no sentence a better one.
    await one.say(`${words.slice(0, 16).join(". ")}. ${words.slice(16).join(" ")}.`);
    expect((await list(words.join(" "))).map(({ match }) => match?.text)).toEqual(["waw."]);
    await one.say(`A whale. ${"x".repeat(200_000)}`);
    expect((await list("whale")).map(({ match }) => match)).toEqual([undefined]);
    for (let at = 0; at < 10; at++) await one.say(`An otter. ${"more. ".repeat(9000)}`);
    const otters = await list("otter");
    const found = otters.flatMap(({ match }) => (match ? [match.text] : []));
    expect([otters.length, ...found]).toEqual([10, ...Array(8).fill("An otter.")]);
  });

  test("threads are found by their titles and by what was said in them, renamed and removed", async () => {
    const { one, other } = await twoNodes();
    const ids: string[] = [];
    for (const text of ["The red bicycle", "Crème brûlée for two", "한국어 이야기"])
      ids.push((await one.say(text)).thread);
    await one.say("and a long walk", ids[0]);
    await one.say("The red bicycle of another", undefined, "eve");
    const found = async (q: string) =>
      (await other.threads.list("ann", { q })).items.map(({ id }) => ids.indexOf(id));
    expect(await found("bicy")).toEqual([0]);
    expect(await found("walk")).toEqual([0]);
    expect(await found("creme BRULEE")).toEqual([1]);
    expect(await found("two brulee cr")).toEqual([1]);
    expect(await found("bicycle brulee")).toEqual([]);
    expect(await found("이야")).toEqual([2]);
    for (const q of ["'; DROP TABLE threads --", "***", "a' & 'b", "\\", "':*"])
      expect(await found(q)).toEqual([]);

    // What was found: the sentence of the newest message with the words, if it was not the title alone.
    await one.say(`Nothing. ${"long ".repeat(80)}bicycle ride. The end.`, ids[0]);
    const [{ match } = {}] = (await other.threads.list("ann", { q: "bicy" })).items;
    expect(match?.text).toMatch(/^… (long )+bicycle ride\.$/);
    expect(match?.at).toMatch(/^\d{4}-\d\d-\d\dT/);
    await other.threads.rename("ann", ids[0] ?? "", "About whales");
    expect((await other.threads.list("ann", { q: "whale" })).items[0]?.match).toBeUndefined();
    expect((await one.threads.list("ann", { q: "whale" })).items).toHaveLength(1);
    await expect(other.threads.rename("eve", ids[0] ?? "", "Mine")).rejects.toThrow(
      expect.objectContaining({ code: "thread_not_found" }),
    );
    await other.threads.remove("ann", ids[0] ?? "");
    for (const q of ["whales", "bicycle", "walk"])
      expect((await one.threads.list("ann", { q })).items).toEqual([]);
    expect((await one.threads.list("ann")).items).toHaveLength(2);
  });

  test("what is in the bin is found on no node, and restored or swept on any, once", async () => {
    const { one, other } = await twoNodes();
    const { thread } = await one.say("The red bicycle");
    const { thread: late } = await one.say("The green bicycle");
    const found = async () => (await other.threads.list("ann", { q: "bicycle" })).items.map(({ id }) => id);
    await one.threads.bin("ann", thread);
    expect(await found()).toEqual([late]);
    await other.threads.restore("ann", thread);
    expect(await found()).toEqual([late, thread]);
    await other.threads.bin("ann", thread);
    await other.threads.bin("ann", late);
    await one.sql.run("UPDATE threads SET binned_at = '2020-01-01T00:00:00.000Z' WHERE id = ?", thread);
    const { signal } = new AbortController();
    // Whoever comes first wins, and the other finds nothing.
    const [restored] = await Promise.allSettled([
      other.threads.restore("ann", thread),
      one.threads.sweepBins(signal),
      other.threads.sweepBins(signal),
    ]);
    const isThere = (await one.threads.find("ann", thread)) !== undefined;
    expect(isThere).toBe(restored.status === "fulfilled");
    expect(await found()).toEqual(isThere ? [thread] : []);
    const words = await one.sql.all("SELECT count(*) AS count FROM thread_texts");
    expect(words).toEqual([{ count: isThere ? 4 : 2 }]);
    expect((await one.threads.binned("ann")).items.map(({ id }) => id)).toEqual([late]);
    await expect(one.say("Go on", late)).rejects.toThrow(expect.objectContaining({ kind: "missing" }));
  });

  test("a common word, a rare one and one between are found in all of many threads, page by page", async () => {
    const { one } = await twoNodes();
    const ids: string[] = [];
    for (let at = 0; at < 100; at++) {
      const words = ["always", at % 7 === 3 && "sometimes", at === 2 && "once"].filter(Boolean);
      ids.push((await one.say(words.join(" "))).thread);
    }
    const found = async (q?: string) => {
      const pages: number[][] = [];
      for (let before: string | undefined; ; ) {
        const page = await one.threads.list("ann", { limit: 6, ...(q && { q }), ...(before && { before }) });
        pages.push(page.items.map(({ id }) => ids.indexOf(id)));
        if (page.next === undefined) return pages.flat();
        before = page.next;
      }
    };
    // Those of one millisecond may be in any order.
    const newestFirst = await found();
    expect(newestFirst).toHaveLength(100);
    expect(await found("always")).toEqual(newestFirst);
    expect(await found("someti")).toEqual(newestFirst.filter((at) => at % 7 === 3));
    expect(await found("once always")).toEqual([2]);
    expect(await found("once sometimes")).toEqual([]);
  });

  test("a node's history has what other nodes added, and turns are read in pages", async () => {
    const { one, other } = await twoNodes();
    const { thread } = await one.say("first");
    const said = async (node: typeof one) => {
      const { turns } = await node.history.read(thread, 0, Number.MAX_SAFE_INTEGER);
      return turns.flatMap(({ messages }) => messages.map((each) => "text" in each && each.text));
    };
    expect([await said(one), await said(other)]).toEqual([["first"], ["first"]]);
    await other.say("second", thread);
    await one.say("third", thread);
    await other.say("fourth", thread);
    for (const node of [one, other, one])
      expect(await said(node)).toEqual(["first", "second", "third", "fourth"]);

    const inputs = ({ items }: Awaited<ReturnType<typeof one.threads.turns>>) =>
      items.map(({ input, items: own }) => [input.type === "message" && input.text, own.length]);
    const newest = await other.threads.turns("ann", thread, { limit: 3 });
    expect(inputs(newest)).toEqual([
      ["second", 1],
      ["third", 1],
      ["fourth", 1],
    ]);
    const before = await other.threads.turns("ann", thread, { limit: 3, before: newest.next ?? "" });
    expect(inputs(before)).toEqual([["first", 1]]);
    await expect(other.threads.turns("eve", thread)).rejects.toThrow(
      expect.objectContaining({ code: "thread_not_found" }),
    );
  });

  test("what is decided about a tool at one node counts at the other, for that very tool", async () => {
    const { one, other } = await twoNodes();
    const tool = (fingerprint: string) => ({
      name: "mailer",
      version: "1",
      description: "",
      schema: {},
      grants: [],
      writes: true,
      fingerprint,
    });
    await one.approvals.remember("ann", "mailer", "allow", "a");
    await one.approvals.remember("ann", "eraser", "deny");
    expect(await other.approvals.recall("ann", tool("a"))).toBe("allow");
    expect(await other.approvals.recall("ann", tool("b"))).toBeUndefined();
    await other.approvals.forgetOthers("ann", [tool("b")]);
    expect(await one.approvals.remembered("ann")).toEqual({ eraser: "deny" });
    expect(await one.approvals.revoke("ann", "eraser")).toBe(true);
    expect([await other.approvals.pending("ann"), await other.approvals.pendingOfIdentities()]).toEqual([
      [],
      [],
    ]);
  });

  test("what an identity has is the account's once they are paired, and who is removed leaves nothing", async () => {
    const { one, other } = await twoNodes();
    await one.say("From the identity", undefined, IDENTITY);
    await one.missions.create(IDENTITY, "learn Spanish");
    await one.memory.write(IDENTITY, "a.md", "scarlet");
    await one.memory.write("ann", "a.md", "green");
    const { row } = await one.table.insert({
      channel: "webhook",
      user: IDENTITY,
      message: "wait",
      waitsForPairing: true,
    });
    await one.remembered("notes", IDENTITY, "the identity's");
    await one.remembered("feeds", IDENTITY, "the identity's");
    await one.remembered("feeds", "ann", "ann's");
    await one.remembered("feeds", "eve", "eve's");
    expect(await other.identities.pending()).toMatchObject([
      { id: row.id, identity: IDENTITY, message: "wait" },
    ]);
    expect(await other.identities.list()).toEqual([{ id: IDENTITY, held: 1 }]);
    await one.addUser("ann", "user");
    await other.identities.pair(IDENTITY, "ann");
    expect(await one.identities.account(IDENTITY)).toBe("ann");
    expect(await one.identities.pending()).toEqual([]);
    expect((await one.threads.list("ann")).items).toHaveLength(1);
    expect((await one.missions.inForce("ann")).prompt).toContain("learn Spanish");
    expect((await one.memory.search("ann", "scarlet"))[0]?.path).toBe(`${IDENTITY}/a.md`);
    expect(await one.remembered("notes", "ann")).toBe("the identity's");
    expect(await one.remembered("feeds", "ann")).toBe("ann's");
    for (const tool of ["notes", "feeds"]) expect(await one.remembered(tool, IDENTITY)).toBeUndefined();
    expect((await one.table.list({ user: "ann" })).items).toMatchObject([{ id: row.id, status: "queued" }]);

    await one.threads.bin("ann", (await one.threads.list("ann")).items[0]?.id ?? "");
    await other.approvals.remember("ann", "mail", "deny");
    await other.removeUser("ann", { withData: true });
    const tables =
      "threads turns turn_items turn_pieces thread_texts jobs conversations approvals gateway_pairings missions memory_documents memory_versions memory_vectors memory_changes memory_words";
    for (const table of tables.split(" "))
      expect([table, await one.sql.get(`SELECT count(*) AS count FROM ${table}`)]).toEqual([
        table,
        { count: 0 },
      ]);
    expect(await one.remembered("feeds", "eve")).toBe("eve's");
    for (const table of ["tool_state", "tool_state_sizes"])
      expect(await one.sql.all(`SELECT tool, "user" FROM ${table}`)).toEqual([
        { tool: "feeds", user: "eve" },
      ]);
  });

  test("an identity is paired where no tool was ever used", async () => {
    const { one } = await twoNodes();
    await one.addUser("ann", "user");
    await one.identities.pair(IDENTITY, "ann");
    expect(await one.identities.account(IDENTITY)).toBe("ann");
  });
});
