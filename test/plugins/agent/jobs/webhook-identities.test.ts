import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import store from "../../../../kernel/store/store.ts";
import agent from "../../../../plugins/agent/plugin.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { testOnSqlite } from "../../../support/run/engine.ts";
import { bootKernel } from "../../../support/services/kernel.ts";

/** Made by the release before, where the webhook's senders spoke as `operator`, as `ann`, who has an account, and as `zoe`. */
const OLD = new URL("../../../fixtures/stores/before-webhook-identities.sqlite.gz", import.meta.url);

testOnSqlite(
  "what the webhook made under an account's name moves to its own identity, and the account keeps its own",
  async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, "store.sqlite"), gunzipSync(readFileSync(OLD)));
    const plugins = [store, agent] as readonly AnyPlugin[];
    const kernel = await bootKernel(
      plugins,
      { MODEL_PROVIDER: "builtin", MEMORY_VECTORS: "false" },
      { home },
    );
    const [threads, memory, jobs] = [
      kernel.service("threads"),
      kernel.service("memory"),
      kernel.service("jobs"),
    ];
    const titles = async (user: string) => (await threads.list(user)).items.map(({ title }) => title).sort();
    const paths = async (user: string) => (await memory.tree(user)).map(({ path }) => path);

    expect(await titles("operator")).toEqual(["Remember that the door code is 4711"]);
    expect(await titles("webhook/operator")).toEqual(["What is the door code?"]);
    expect(await titles("ann")).toEqual(["Remember that my cat is called Tom"]);
    expect(await titles("webhook/ann")).toHaveLength(5);
    expect(await titles("zoe")).toEqual([]);

    expect(await paths("operator")).toEqual(["notes/the-door-code-is-4711.md"]);
    expect(await paths("webhook/operator")).toEqual([]);
    expect(await paths("ann")).toEqual(["notes/my-cat-is-called-tom.md"]);
    expect(await paths("webhook/ann")).toEqual(["notes/my-bike-is-red.md"]);
    expect([...(await paths("zoe")), ...(await paths("webhook/zoe"))]).toEqual(["notes/zoe-likes-tea.md"]);
    expect((await memory.search("webhook/ann", "bike")).map(({ path }) => path)).toEqual([
      "notes/my-bike-is-red.md",
    ]);
    expect(await memory.search("ann", "bike")).toEqual([]);

    expect(new Set((await jobs.list()).items.map(({ user }) => user))).toEqual(
      new Set(["webhook/operator", "webhook/ann", "webhook/zoe"]),
    );
    // The conversation goes on where it was.
    const [before] = (await threads.list("webhook/ann", { q: "bike" })).items;
    const next = { channel: "webhook", user: "webhook/ann", conversation: "c1", message: "hello" };
    const { id } = await jobs.submit(next);
    expect((await jobs.wait(id, 20_000))?.thread).toBe(before?.id);
  },
);
