/** What the terminal and joined commands use, held against both who provide it: this process, and a client over the gateway. */
import { describe, expect, onTestFinished, test } from "vitest";
import type { AnyPlugin, TurnEvent } from "../../../kernel/plugin.ts";
import { createClient } from "../../../plugins/client/plugin.ts";
import local from "../../../plugins/tui/local/plugin.ts";
import { temporaryFolder } from "../../support/home.ts";
import { eventsOf, scriptedModel, type TestTool, textIn } from "../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../support/services/gateway.ts";
import { bootKernel } from "../../support/services/kernel.ts";

const tools: Readonly<Record<string, TestTool>> = {
  post: { writes: true, run: () => ({ status: "ok", output: "posted" }) },
};

const PROVIDERS = ["this process", "a client"] as const;

async function open(provider: (typeof PROVIDERS)[number]) {
  const model = await scriptedModel();
  const { service, url } = await openGateway({ model, tools, plugins: [local as AnyPlugin] });
  const address = {
    locate: () => ({ origin: url, token: OPERATOR_TOKEN }),
    command: `postern --url ${url}`,
    refusedHint: "",
  };
  const provides =
    provider === "this process"
      ? service
      : await bootKernel(createClient(address), {}, { home: temporaryFolder(), serving: false });
  const terminal = provides.service("terminal");
  const heard: { readonly event: TurnEvent; readonly turn: string }[] = [];
  onTestFinished(
    terminal.watch(
      (event, { id }) => void heard.push({ event, turn: id }),
      () => {},
    ),
  );
  /** Resolves with the events of a turn when it has ended. */
  const endOf = async (turn: string): Promise<readonly TurnEvent[]> => {
    const its = () => heard.flatMap((one) => (one.turn === turn ? [one.event] : []));
    await expect.poll(() => its().some(({ type }) => type === "done" || type === "failed")).toBe(true);
    return its();
  };
  const send = async (text: string, thread?: string, attachments: readonly string[] = []) => {
    const started = await terminal.send({ text, thread, attachments, model: undefined });
    return { ...started, events: await endOf(started.id) };
  };
  const ports = {
    terminal,
    conversations: provides.service("conversations"),
    jobControl: provides.service("jobControl"),
    taskControl: provides.service("taskControl"),
    routineControl: provides.service("routineControl"),
  };
  return { ...ports, model, service, send, endOf };
}

describe.each(PROVIDERS)("through %s", (provider) => {
  test("a turn is started and followed, and its thread listed, read, renamed, exported and removed", async () => {
    const { terminal, model, send } = await open(provider);
    model.otherwise({ text: ["Your bike ", "is red."] });
    const { id, thread, events } = await send("What colour is my bike?");
    expect(events.map(({ type }) => type)).toEqual(["started", "text", "text", "usage", "done"]);
    expect(events[0]).toMatchObject({ turn: id, thread });
    expect(textIn(events)).toBe("Your bike is red.");
    const [record] = await terminal.threads.turns(thread, 5);
    expect(events.at(-1)).toMatchObject({ record: { id, items: record?.items } });
    expect(record).toMatchObject({ id, thread, channel: "tui", user: "operator", status: "completed" });
    expect(await terminal.threads.turn(id)).toEqual(record);

    const { threads } = terminal;
    const { total, window } = await threads.contextOf(thread);
    expect(total).toBeGreaterThan(0);
    expect(window).toBeGreaterThan(total);
    await threads.rename(thread, "The bike");
    await threads.setModel(thread, terminal.model());
    expect(await threads.find(thread)).toMatchObject({ title: "The bike", model: terminal.model() });
    await threads.setModel(thread, undefined);
    expect((await threads.find(thread))?.model).toBeUndefined();
    const other = await send("And my car?");
    expect((await threads.list({ limit: 1 })).items).toMatchObject([{ id: other.thread }]);
    const { next } = await threads.list({ limit: 1 });
    expect(await threads.list({ limit: 5, before: next })).toMatchObject({ items: [{ id: thread }] });
    expect((await threads.list({ limit: 5, q: "car" })).items).toHaveLength(1);

    const { name, text } = await threads.export(thread, "markdown");
    expect(name).toBe("The bike.md");
    expect((await Array.fromAsync(text)).join("")).toContain("Your bike is red.");
    await threads.remove(thread);
    expect(await threads.find(thread)).toBeUndefined();
    const late = terminal.send({ text: "Hello?", thread, attachments: [], model: undefined });
    await expect(late).rejects.toMatchObject({ kind: "missing", code: "thread_not_found" });
  });

  test("a gate is answered, an answer asked for again, and a turn cancelled", async () => {
    const { terminal, model, send, endOf } = await open(provider);
    model.script(
      { calls: [{ name: "post", arguments: {} }] },
      { text: "It is posted." },
      { text: "A first answer." },
      { text: "Another answer." },
      { text: "Long", end: "stall" },
    );
    const { thread } = await send("Post it");
    const gate = (await terminal.threads.find(thread))?.gate;
    expect(gate).toMatchObject({ type: "approval", call: { name: "post" }, grants: ["may use post"] });
    const answered = await terminal.answer(
      { type: "approval", gate: gate?.id ?? "", decision: "once" },
      thread,
    );
    expect(answered.thread).toBe(thread);
    expect(textIn(await endOf(answered.id))).toBe("It is posted.");

    const { id } = await send("Say something", thread);
    const again = await terminal.retry(id);
    expect(textIn(await endOf(again.id))).toBe("Another answer.");
    const shown = await terminal.threads.turns(thread, 10);
    expect(shown.map((turn) => turn.id)).toContain(again.id);
    expect(shown.map((turn) => turn.id)).not.toContain(id);

    const endless = await terminal.send({ text: "On and on", thread, attachments: [], model: undefined });
    expect(await terminal.cancel(endless.id)).toBe(true);
    expect((await endOf(endless.id)).at(-1)).toMatchObject({ type: "done", status: "cancelled" });
    expect(await terminal.cancel(endless.id)).toBe(false);
  });

  test("files go with a message, and one that is not accepted is refused in words", async () => {
    const { terminal, model, send } = await open(provider);
    const { limits, add, remove } = terminal.uploads;
    expect(limits).toMatchObject({ files: expect.any(Number), fileBytes: expect.any(Number) });
    const note = { name: "notes.md", data: Buffer.from("The code word is heron.\n") };
    const upload = await add(note);
    expect(upload).toMatchObject({ name: "notes.md", kind: "file", size: note.data.byteLength });
    await send("What is the code word?", undefined, [upload.id]);
    expect(JSON.stringify(model.requests.at(-1))).toContain("heron");
    const unsent = await add(note);
    expect(await remove(unsent.id)).toBe(true);
    expect(await remove(unsent.id)).toBe(false);
    await expect(add({ name: "a.bin", data: new Uint8Array([0, 1, 2]) })).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  test("files of the workspace are listed, read and taken back; memory is listed and searched", async () => {
    const { terminal, model, send } = await open(provider);
    model.script(
      {
        calls: [
          { name: "workspace_write", arguments: { path: "/plans/may.md", text: "Plant the beans.\n" } },
        ],
      },
      { text: "Wrote it." },
      {
        calls: [{ name: "memory_write", arguments: { path: "notes/heron.md", text: "The heron is grey." } }],
      },
      { text: "I will remember that." },
    );
    const { id, thread } = await send("Write a plan");
    const { files, memory } = terminal;
    expect(await files?.list("/", { limit: 10 })).toMatchObject({
      items: [{ path: "/plans", kind: "folder" }],
    });
    expect((await files?.list("/", { deep: true, limit: 10 }))?.items.at(-1)).toMatchObject({
      ...{ path: "/plans/may.md", kind: "file", bytes: 17, version: 1 },
    });
    expect(await files?.find("/nothing.md")).toBeUndefined();
    const part = await files?.read("/plans/may.md", 5);
    expect(part?.entry).toMatchObject({ path: "/plans/may.md", mime: expect.stringContaining("text/") });
    expect(Buffer.from(part?.data ?? []).toString()).toBe("Plant");
    expect((await files?.usage())?.bytes).toBeGreaterThanOrEqual(17);
    const [set] = (await files?.log(5)) ?? [];
    expect(set).toMatchObject({
      writer: { kind: "model", turn: id, thread },
      changes: [{ path: "/plans/may.md", change: "created" }],
    });
    expect(await files?.undo(set?.id ?? "", { thread })).toMatchObject({
      set: { id: expect.any(String) },
      conflicts: [],
    });
    expect((await files?.log(5))?.find((one) => one.id === set?.id)?.undoneBy).toBeDefined();

    await send("Remember the heron");
    expect(await memory?.list()).toMatchObject([{ path: "notes/heron.md", bytes: 18 }]);
    expect((await memory?.search("heron", 5))?.[0]).toMatchObject({ path: "notes/heron.md" });
  });

  test("the service describes itself: its version, channels, models, tools, jobs and tasks", async () => {
    const { terminal, service } = await open(provider);
    expect(terminal.version).toBe("0.0.0-test");
    expect(terminal.plugins()).toContainEqual(
      expect.objectContaining({ name: "gateway", kind: "channel", on: true }),
    );
    expect(terminal.joined?.problem()).toBeUndefined();
    expect((await terminal.models()).items[0]).toMatchObject({ ...terminal.model(), role: "configured" });
    expect(await terminal.tools()).toMatchObject([
      { name: "post", version: "1.0.0", grants: ["may use post"] },
    ]);
    const job = await service.service("jobs").submit({ user: "operator", message: "Hello", channel: "test" });
    await service.service("jobs").wait(job.id, 60_000);
    expect(await terminal.jobs.list(5)).toMatchObject([
      { id: job.id, user: "operator", status: "completed" },
    ]);
    expect(await terminal.jobs.counts()).toEqual({ queued: 0, running: 0 });
    expect(await terminal.tasks.list()).toEqual([]);
    expect(await terminal.tasks.cancel("nonsense")).toBeUndefined();
  });

  test("commands ask, count what was used, and handle threads, jobs and routines", async () => {
    const { conversations, jobControl, taskControl, routineControl, model, service } = await open(provider);
    model.otherwise({ text: "Red." });
    const run = await conversations.ask("What colour is my bike?");
    expect(textIn(await eventsOf(run))).toBe("Red.");
    expect(await run.record).toMatchObject({ channel: "ask", status: "completed" });
    const { thread } = await conversations.ask("And now?", run.thread);
    expect(thread).toBe(run.thread);
    const { items } = await conversations.turns("operator", thread, { limit: 1 });
    await expect.poll(async () => (await conversations.find("operator", thread))?.turns).toBe(2);
    expect(items).toMatchObject([{ thread, input: { text: "And now?" } }]);
    const today = new Date().toISOString().slice(0, 10);
    const until = new Date(Date.parse(today) + 86_400_000).toISOString();
    const spans = [{ since: new Date(today).toISOString(), until }];
    const used = await conversations.usage({ spans, by: "channel" });
    expect(used).toMatchObject({
      figures: { groups: [{ name: "ask" }] },
      storage: { maxBytes: expect.any(Number) },
    });
    expect((await conversations.usage({ spans, by: "tool" })).figures.total.count).toBe(0);

    const { id } = await service.service("jobs").submit({ user: "operator", message: "Hi", channel: "test" });
    await service.service("jobs").wait(id, 60_000);
    expect((await jobControl.list({ status: "completed" })).items).toMatchObject([{ id }]);
    expect(await jobControl.find(id)).toMatchObject({ id, status: "completed", response: "Red." });
    expect(await jobControl.find("nonsense")).toBeUndefined();
    expect(await jobControl.cancel(id)).toMatchObject({ id, status: "completed" });
    expect((await jobControl.retry(id))?.id).not.toBe(id);
    expect(await taskControl.list({ limit: 5 })).toEqual([]);

    const added = await routineControl.add({
      ...{ user: "operator", schedule: "weekdays at 8:00", text: "Say hello", tz: "Europe/Berlin" },
      ...{ timeoutSecs: 60, budget: { usd: 0.1, per: "run" } },
    });
    expect(added).toMatchObject({ tz: "Europe/Berlin", timeoutSecs: 60, budget: { usd: 0.1, per: "run" } });
    expect(await routineControl.list("operator")).toEqual([added]);
    const changed = await routineControl.change(added.id, { paused: true, timeoutSecs: 90, budget: null });
    expect(changed).toMatchObject({ status: "paused", timeoutSecs: 90 });
    expect(changed?.budget).toBeUndefined();
    expect(await routineControl.runs(added.id)).toMatchObject({ items: [] });
    expect((await routineControl.preview("weekdays at 8:00", "UTC")).firings).toHaveLength(5);
    expect(await routineControl.remove(added.id)).toBe(true);
    expect(await routineControl.remove(added.id)).toBe(false);
    expect(await routineControl.find(added.id)).toBeUndefined();
  });
});
