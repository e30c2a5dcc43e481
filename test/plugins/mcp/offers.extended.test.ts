/** `ask`, prompts, resources, long lists, changes and cancelling, as the SDK's own client sees them. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { testOnSqlite } from "../../support/run/engine.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { openMcp, REVISIONS, slowTool, textOf } from "../../support/services/mcp.ts";

const LEAN = { MEMORY_VECTORS: "false" };
const done = { status: "ok" as const, output: "done" };

function writeSkill(home: string, name: string): void {
  const folder = join(home, "skills", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "SKILL.md"),
    `---\nname: ${name}\ndescription: How to ${name}.\n---\nStep one.\n`,
  );
}

describe.each(REVISIONS)("%s", (revision) => {
  test("ask streams the answer as progress, names its thread, and goes on with it", async () => {
    const model = await scriptedModel();
    model.script({ text: ["Good ", "morning."] }, { text: "As I said." });
    const mcp = await openMcp({ model });
    const client = await mcp.client(revision);
    const told: (string | undefined)[] = [];
    const first = await client.callTool(
      { name: "ask", arguments: { message: "Hello" } },
      { onprogress: ({ message }) => void told.push(message) },
    );
    expect(told.join("")).toBe("Good morning.");
    const { thread_id, ...rest } = first.structuredContent as Record<string, string>;
    expect(rest).toEqual({ text: "Good morning.", status: "completed" });
    expect(textOf(first)).toBe(`Good morning.\nthread_id: ${thread_id}`);

    const second = await client.callTool({ name: "ask", arguments: { message: "Again?", thread_id } });
    expect(second.structuredContent).toMatchObject({ thread_id, text: "As I said." });
    const { turns } = (await mcp.ask(`/api/threads/${thread_id}`)).body;
    expect(turns).toMatchObject([{ channel: "mcp" }, { channel: "mcp" }]);
  });

  test("ask shows the tasks that its turn delegates as progress", async () => {
    const model = await scriptedModel();
    model.script(
      { calls: [{ name: "task_delegate", arguments: { task: "Add these" } }] },
      { text: "42" },
      { text: "It is 42." },
    );
    const mcp = await openMcp({ model });
    const client = await mcp.client(revision);
    const told: (string | undefined)[] = [];
    const result = await client.callTool(
      { name: "ask", arguments: { message: "Sum it up" } },
      { onprogress: ({ message }) => void told.push(message) },
    );
    expect(result.structuredContent).toMatchObject({ text: "It is 42.", status: "completed" });
    expect(told).toContain('Task "Add these": completed\n');
    expect(told.at(-1)).toBe("It is 42.");
  });

  test("ask says in words what is wrong with its arguments or its thread", async () => {
    const mcp = await openMcp();
    const client = await mcp.client(revision);
    const say = async (params: Record<string, unknown>) => {
      const result = await client.callTool({ name: "ask", arguments: params });
      expect(result.isError).toBe(true);
      return textOf(result);
    };
    expect(await say({})).toContain("message");
    expect(await say({ message: "hi", thread_id: "0198f000-0000-7000-8000-000000000000" })).toContain(
      "thread",
    );
  });

  test("messages count towards the user's rate limit", async () => {
    const mcp = await openMcp({ variables: { CHAT_RATE_LIMIT: "1" } });
    const client = await mcp.client(revision);
    await client.callTool({ name: "ask", arguments: { message: "one" } });
    const result = await client.callTool({ name: "ask", arguments: { message: "two" } });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("The rate limit of 1 request a minute is reached");
  });

  // Skills are files in the home there.
  testOnSqlite("skills are prompts", async () => {
    const mcp = await openMcp();
    writeSkill(mcp.service.home, "bake");
    const client = await mcp.client(revision);
    expect((await client.listPrompts()).prompts).toMatchObject([
      { name: "bake", description: "How to bake." },
    ]);
    expect(await client.getPrompt({ name: "bake" })).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Step one." } }],
    });
    await expect(client.getPrompt({ name: "fry" })).rejects.toMatchObject({ code: -32602 });
  });

  test("memory documents are resources, each user's own", async () => {
    const mcp = await openMcp({ variables: LEAN });
    const memory = mcp.service.service("memory");
    await memory.write("operator", "notes/Ä b.md", "Blue.");
    const client = await mcp.client(revision);
    const { resources } = await client.listResources();
    const uri = "memory:///notes/%C3%84%20b.md";
    expect(resources).toMatchObject([{ uri, name: "notes/Ä b.md", mimeType: "text/markdown", size: 5 }]);
    expect((await client.readResource({ uri })).contents).toMatchObject([{ uri, text: "Blue." }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { uriTemplate: "memory:///{+path}" },
      { uriTemplate: "workspace:///{+path}" },
    ]);

    const ann = await mcp.client(revision, { token: await mcp.addUser("ann") });
    expect((await ann.listResources()).resources).toEqual([]);
    for (const missing of [uri, "memory:///../x", "memory:///%ff", "file:///etc/passwd", "memory:///"])
      await expect(ann.readResource({ uri: missing })).rejects.toMatchObject({ code: -32602 });
  });

  testOnSqlite(
    "a token with a scope sees its tools, and memory and skills only if it may read them",
    async () => {
      const mcp = await openMcp({
        tools: { one: { run: () => done }, two: { run: () => done } },
        variables: LEAN,
      });
      writeSkill(mcp.service.home, "bake");
      await mcp.service.service("memory").write("operator", "a.md", "A");
      const tokenFor = async (tools: readonly string[]) =>
        (await mcp.ask("/api/tokens", { method: "POST", body: { user: "operator", name: "n", tools } })).body
          .token;
      const narrow = await mcp.client(revision, { token: await tokenFor(["one"]) });
      expect((await narrow.listTools()).tools.map(({ name }) => name)).toEqual(["ask", "one"]);
      await expect(narrow.callTool({ name: "two", arguments: {} })).rejects.toMatchObject({ code: -32602 });
      expect((await narrow.listResources()).resources).toEqual([]);
      expect((await narrow.listPrompts()).prompts).toEqual([]);
      await expect(narrow.readResource({ uri: "memory:///a.md" })).rejects.toMatchObject({ code: -32602 });
      const reader = await mcp.client(revision, { token: await tokenFor(["memory_read", "skill_load"]) });
      expect((await reader.listResources()).resources).toHaveLength(1);
      expect((await reader.listPrompts()).prompts).toHaveLength(1);
    },
  );

  test("a long list comes in pages, and a cursor that is none is refused", async () => {
    const names = Array.from({ length: 230 }, (_, at) => `tool_${String(at).padStart(3, "0")}`);
    const mcp = await openMcp({
      tools: Object.fromEntries(names.map((name) => [name, { run: () => done }])),
    });
    const client = await mcp.client(revision);
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.request({
        method: "tools/list",
        params: cursor === undefined ? {} : { cursor },
      });
      expect(page.tools.length).toBeLessThanOrEqual(101);
      listed.push(...page.tools.map(({ name }) => name));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(listed).toEqual(["ask", ...names]);
    await expect(
      client.request({ method: "tools/list", params: { cursor: "nonsense" } }),
    ).rejects.toMatchObject({ code: -32602 });
  });

  test("cancelling ends the tool's call", async () => {
    const { tool: slow, started, aborted } = slowTool();
    const mcp = await openMcp({ tools: { slow } });
    const client = await mcp.client(revision);
    const stop = new AbortController();
    const called = client.callTool({ name: "slow", arguments: {} }, { signal: stop.signal });
    await expect.poll(started).toBe(1);
    stop.abort();
    await expect(called).rejects.toThrow();
    await expect.poll(aborted).toBe(1);
  });

  test("cancelling ends the turn", async () => {
    const model = await scriptedModel();
    const never = new Promise<string>(() => {});
    model.script({ text: ["Once ", never] });
    const mcp = await openMcp({ model });
    const client = await mcp.client(revision);
    const stop = new AbortController();
    const said = Promise.withResolvers<void>();
    const called = client.callTool(
      { name: "ask", arguments: { message: "A story" } },
      { signal: stop.signal, onprogress: () => said.resolve() },
    );
    await said.promise;
    stop.abort();
    await expect(called).rejects.toThrow();
    const { id } = (await mcp.ask("/api/threads")).body.threads[0];
    await expect
      .poll(async () => (await mcp.ask(`/api/threads/${id}`)).body.turns[0].status)
      .toBe("cancelled");
  });

  testOnSqlite("changes of tools, skills and memory are announced, to those whom they concern", async () => {
    const tools: Record<string, { run: () => typeof done }> = { one: { run: () => done } };
    const mcp = await openMcp({ tools, variables: LEAN });
    const memory = mcp.service.service("memory");
    await memory.write("operator", "a.md", "A");
    const listening = async (token?: string) => {
      const told = new Set<string>();
      const client = await mcp.client(revision, token === undefined ? {} : { token });
      for (const list of ["tools", "prompts", "resources"] as const)
        client.setNotificationHandler(`notifications/${list}/list_changed`, () => void told.add(list));
      client.setNotificationHandler(
        "notifications/resources/updated",
        ({ params }) => void told.add(params.uri),
      );
      if (revision === "2026-07-28")
        await client.listen({
          toolsListChanged: true,
          promptsListChanged: true,
          resourcesListChanged: true,
          resourceSubscriptions: ["memory:///a.md"],
        });
      else await client.subscribeResource({ uri: "memory:///a.md" });
      return told;
    };
    const [told, others] = [await listening(), await listening(await mcp.addUser("ann"))];
    // Until both streams are open: what is there when a client begins to listen is no change.
    const install = (heard: Set<string>) => {
      tools[`tool_${Object.keys(tools).length}`] = { run: () => done };
      return [...heard];
    };
    const patience = { interval: 300 };
    await expect.poll(() => install(told), patience).toEqual(["tools"]);
    await expect.poll(() => install(others), patience).toEqual(["tools"]);
    writeSkill(mcp.service.home, "bake");
    await memory.write("operator", "b.md", "B");
    await memory.write("operator", "a.md", "AA");
    await expect
      .poll(() => [...told].toSorted(), patience)
      .toEqual(["memory:///a.md", "prompts", "resources", "tools"]);
    await expect.poll(() => [...others].toSorted(), patience).toEqual(["prompts", "tools"]);
  });
});
