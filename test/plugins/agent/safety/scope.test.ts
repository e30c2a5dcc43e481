import { describe, expect, test } from "vitest";
import type { TokenScope } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import type { ChatRequest } from "../../../support/servers/model-server.ts";
import { bootAgent, message, scriptedModel, type TestTool } from "../../../support/services/agent.ts";

const WEATHER: TestTool = { run: () => ({ status: "ok", output: "sunny" }) };
const MAIL: TestTool = { writes: true, run: () => ({ status: "ok", output: "sent" }) };

const scoped = (scope: Omit<TokenScope, "token">, token = "t1"): TokenScope => ({ token, ...scope });
const offered = (request: ChatRequest | undefined) =>
  request?.tools?.map(({ function: { name } }) => name) ?? [];

async function boot(variables: Readonly<Record<string, string>> = {}) {
  const model = await scriptedModel();
  model.otherwise({ text: "Done." });
  const kernel = await bootAgent({ model, variables, tools: { weather: WEATHER, mailer: MAIL } });
  const run = (scope: TokenScope | undefined, turn: Partial<Turn> = {}) =>
    kernel.service("agent").run({
      user: "ann",
      channel: "test",
      input: message("Go on"),
      ...(scope && { scope }),
      ...turn,
    });
  return { model, kernel, run };
}

describe("tools", () => {
  test("a turn is offered only the tools of its token; none means none of ours, and the caller's stay", async () => {
    const { model, kernel, run } = await boot();
    await kernel.service("memory").write("ann", "USER.md", "Ann lives in Oslo.");
    const tools = [{ name: "shell" }];
    await (await run(undefined, { answer: { tools } })).record;
    await (await run(scoped({ tools: [] }), { answer: { tools } })).record;
    await (await run(scoped({ tools: ["weather", "memory_read"] }), { answer: { tools } })).record;
    await (await run(scoped({ perDayUsd: 5 }), { answer: { tools } })).record;
    const [all, none, some, unlimited] = model.requests;
    expect(offered(all)).toEqual(expect.arrayContaining(["weather", "mailer", "memory_write", "shell"]));
    expect(offered(none)).toEqual(["shell"]);
    expect(offered(some).toSorted()).toEqual(["memory_read", "shell", "weather"]);
    expect(offered(unlimited)).toEqual(offered(all));
    // What only a tool of the agent's would tell is not put before the model either.
    expect([all, none, some].map((request) => JSON.stringify(request).includes("Oslo"))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("a call of a tool outside the scope is refused in words, and the turn goes on", async () => {
    const { model, run } = await boot();
    model.script({
      calls: [
        { id: "c1", name: "weather", arguments: {} },
        { id: "c2", name: "memory_write", arguments: { path: "a.md", text: "x" } },
      ],
    });
    const turn = await (await run(scoped({ tools: ["mailer"] }))).record;
    expect(turn.status).toBe("completed");
    const outcomes = turn.items.flatMap((item) => (item.type === "tool_result" ? [item.outcome] : []));
    expect(outcomes).toEqual(
      ["weather", "memory_write"].map((name) => ({
        status: "error",
        code: "tool_not_allowed",
        message: `The token of this conversation may not use the tool ${name}. Do not try it again.`,
      })),
    );
  });

  test("who answers a gate without a scope goes on within the scope of the turn that opened it", async () => {
    const { model, kernel, run } = await boot();
    const scope = scoped({ tools: ["mailer"] });
    const call = (id: string) => ({ calls: [{ id, name: "mailer", arguments: {} }] });
    model.script(call("c1"), call("c2"), { calls: [{ id: "c3", name: "weather", arguments: {} }] });
    const first = await (await run(scope)).record;
    const answer = async (gate: string) =>
      (
        await run(undefined, {
          thread: first.thread,
          input: { type: "approval", gate, decision: "once" },
        })
      ).record;
    const second = await answer(first.gate?.id ?? "");
    // Held over a second gate, too, and nowhere to be seen.
    const third = await answer(second.gate?.id ?? "");
    expect(third.status).toBe("completed");
    expect(model.requests.map(offered)).toEqual(model.requests.map(() => ["mailer"]));
    expect(third.items).toContainEqual(
      expect.objectContaining({ outcome: expect.objectContaining({ code: "tool_not_allowed" }) }),
    );
    const later = await (await run(undefined, { thread: first.thread })).record;
    expect(later.status).toBe("completed");
    expect(offered(model.requests.at(-1))).toContain("weather");
    expect(await kernel.service("approvals").remembered("ann")).toEqual({});
  });

  test("two scopes meet at a gate: only what both allow is there", async () => {
    const { model, run } = await boot();
    model.script({ calls: [{ id: "c1", name: "shell", arguments: {} }] });
    const first = await (
      await run(scoped({ tools: ["weather", "mailer"] }), { answer: { tools: [{ name: "shell" }] } })
    ).record;
    await (
      await run(scoped({ tools: ["weather", "memory_read"] }, "t2"), {
        thread: first.thread,
        input: { type: "tool_output", call: "c1", output: "ok" },
      })
    ).record;
    expect(offered(model.requests.at(-1))).toEqual(["weather", "shell"]);
  });

  test("a branch that answers the call of an older turn is bound by that turn", async () => {
    const { model, run } = await boot();
    const tools = [{ name: "shell" }];
    const call = { calls: [{ id: "c1", name: "shell", arguments: {} }] };
    model.script(call);
    const first = await (await run(scoped({ tools: ["weather"] }), { answer: { tools } })).record;
    const answer = async () =>
      (
        await run(undefined, {
          thread: first.thread,
          after: first.id,
          input: { type: "tool_output", call: "c1", output: "ok" },
        })
      ).record;
    expect((await answer()).status).toBe("completed");
    expect((await answer()).status).toBe("completed");
    expect(model.requests.map(offered)).toEqual(Array(3).fill(["weather", "shell"]));
  });

  test("a job is bound by the scope of its turn, and completes with the error where that refuses it", async () => {
    const { model, kernel } = await boot();
    const jobs = kernel.service("jobs");
    const done = async (scope: TokenScope) => {
      const job = { user: "ann", channel: "test", message: "Go on", turn: { scope } };
      return await jobs.wait((await jobs.submit(job)).id, 60_000);
    };
    expect(await done(scoped({ tools: ["weather"] }))).toMatchObject({
      status: "completed",
      response: "Done.",
    });
    expect(model.requests.map(offered)).toEqual([["weather"]]);
    expect((await done(scoped({ models: ["gpt-9"] })))?.error?.code).toBe("model_not_allowed");
  });

  test("a token with a scope cannot allow a tool for good, and the gate stays", async () => {
    const { model, kernel, run } = await boot();
    model.script({ calls: [{ id: "c1", name: "mailer", arguments: {} }] });
    const { thread, gate } = await (await run(undefined)).record;
    const always = run(scoped({ models: ["scripted"] }), {
      thread,
      input: { type: "approval", gate: gate?.id ?? "", decision: "always" },
    });
    await expect(always).rejects.toMatchObject({ kind: "forbidden", code: "scoped_token" });
    expect(await kernel.service("approvals").pending("ann")).toHaveLength(1);
  });
});

describe("models", () => {
  test("a model outside the scope is refused before anything is stored, in words that name what is allowed", async () => {
    const { model, kernel, run } = await boot();
    await expect(run(scoped({ models: ["gpt-5-mini", "claude"] }))).rejects.toMatchObject({
      kind: "forbidden",
      code: "model_not_allowed",
      message:
        "This token may only use gpt-5-mini, claude, but the model here is scripted. Use another token, or ask the operator for one.",
    });
    expect((await kernel.service("threads").list("ann")).items).toEqual([]);
    expect(model.requests).toEqual([]);
    for (const models of [["scripted"], ["openai-compatible/scripted"]])
      expect((await (await run(scoped({ models }))).record).status).toBe("completed");
  });

  test("of a chain only the models in scope are asked: a fallback outside it does not take over", async () => {
    const fallback = await scriptedModel();
    fallback.otherwise({ text: "From the fallback." });
    const { model, run } = await boot({
      MODEL_FALLBACK_PROVIDER: "openai-compatible",
      MODEL_FALLBACK_BASE_URL: fallback.url,
      MODEL_FALLBACK_NAME: "second",
    });
    model.otherwise({ status: 401 });
    expect((await (await run(scoped({ models: ["scripted"] }))).record).error?.code).toBe(
      "model_unauthorized",
    );
    expect(fallback.requests).toEqual([]);
    const turn = await (await run(scoped({ models: ["second"] }))).record;
    expect(turn).toMatchObject({ status: "completed", model: { name: "second" } });
    expect(model.requests).toHaveLength(1);
  });
});

describe("money", () => {
  const priced = { MODEL_NAME: "gpt-4o" };
  const dear = { text: "Done.", usage: { input: 100_000, output: 10_000 } };

  test("a token's own cap counts its turns and no others, and says when it resets", async () => {
    const { model, kernel, run } = await boot(priced);
    model.otherwise(dear);
    const one = scoped({ perDayUsd: 0.3 });
    const other = scoped({ perDayUsd: 0.3 }, "t2");
    await (await run(undefined)).record;
    expect((await (await run(one)).record).status).toBe("completed");
    const refused = await (await run(one)).record;
    expect(refused).toMatchObject({
      status: "failed",
      error: {
        code: "daily_cap",
        message:
          "This token has used $0.35 today and the cap is $0.30 per day. It resets at midnight UTC; the operator sets it when the token is created (--per-day-usd).",
      },
    });
    expect((await (await run(other)).record).status).toBe("completed");
    expect((await (await run(undefined)).record).status).toBe("completed");
    await kernel.service("accounts").addUser("ann", "user");
    await kernel.service("accounts").removeUser("ann", { withData: true });
    expect((await (await run(one)).record).status).toBe("completed");
  });

  test("the turn that answers a gate is paid by the token whose turn opened it", async () => {
    const { model, run } = await boot(priced);
    const scope = scoped({ perDayUsd: 0.5 });
    model.script({ calls: [{ id: "c1", name: "mailer", arguments: {} }], usage: dear.usage }, dear);
    const { thread, gate } = await (await run(scope)).record;
    await (
      await run(undefined, { thread, input: { type: "approval", gate: gate?.id ?? "", decision: "once" } })
    ).record;
    expect((await (await run(scope)).record).error?.message).toContain("used $0.70 today");
  });

  test("a model on this machine costs nothing, whatever the cap", async () => {
    const { model, run } = await boot();
    model.otherwise(dear);
    for (const _ of [1, 2])
      expect((await (await run(scoped({ perDayUsd: 0.01 }))).record).status).toBe("completed");
  });
});
