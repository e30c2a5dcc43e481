import { createServer } from "node:http";
import { expect, test } from "vitest";
import { type CollectedSpan, startCollector } from "../../support/servers/collector.ts";
import { listen } from "../../support/servers/listening.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { openGateway } from "../../support/services/gateway.ts";

/** A ratio samples by the last 14 digits, which are random, those below its share of all: these are at 0.28. */
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`;
const UNWATCHED = `00-${TRACE}-b7ad6b7169203331-00`;
const tools = {
  weather: { run: () => ({ status: "ok", output: "sunny in Lisbon" }) as const },
  broken: { run: () => ({ status: "error", code: "tool_error", message: "no" }) as const },
};

async function traced(variables: Readonly<Record<string, string>> = {}) {
  const collector = await startCollector();
  const model = await scriptedModel();
  const gateway = await openGateway({
    model,
    tools,
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "10",
      OTEL_EXPORTER_OTLP_HEADERS: "x-team=blue%20ones",
      TOOL_APPROVALS: "*=allow",
      ...variables,
    },
  });
  /** Stops once so many turns were collected: a stop alone does not wait for a collector that takes long. */
  const stop = async (turns: number) => {
    const collected = () => collector.spans.filter(({ name }) => name === "invoke_agent postern").length;
    await expect.poll(collected).toBe(turns);
    await gateway.service.stop();
  };
  return { collector, model, gateway, stop };
}

/** As a tree of names. */
function tree(spans: readonly CollectedSpan[], parent?: string): unknown {
  const children = spans.filter((span) => span.parent === parent);
  return children.map(({ name, id }) => [name, tree(spans, id)]);
}

test("a message is one trace: the agent, the model, its tools; a failure and a cancel are told as such", async () => {
  const { collector, model, gateway, stop } = await traced();
  model.script(
    {
      calls: [
        { name: "weather", arguments: {} },
        { name: "broken", arguments: {} },
      ],
      usage: { input: 11, output: 7 },
    },
    { text: "Take a hat." },
  );
  const { body } = await gateway.ask("/api/chat", {
    method: "POST",
    body: { message: "Is it sunny in Lisbon?" },
    headers: { traceparent: PARENT },
  });
  model.script({ status: 401, error: { message: "bad key sk-planted" } });
  const failed = await gateway.ask("/api/chat", { method: "POST", body: { message: "Again?" } });
  expect(failed.body.status).toBe("failed");
  const { promise, resolve } = Promise.withResolvers<string>();
  model.script({ text: ["Well", promise] });
  const sent = await gateway.ask("/api/chat/send", { method: "POST", body: { message: "Long story" } });
  await expect.poll(() => model.requests.length).toBe(4);
  await gateway.ask(`/api/turns/${sent.body.message_id}/cancel`, { method: "POST" });
  resolve("");
  await expect
    .poll(async () => (await gateway.ask(`/api/turns/${sent.body.message_id}`)).body.status)
    .toBe("cancelled");
  await stop(3);

  const first = collector.spans.filter(({ trace }) => trace === TRACE);
  expect(tree(first, PARENT.split("-")[2])).toEqual([
    [
      "invoke_agent postern",
      expect.arrayContaining([
        ["chat scripted", []],
        ["execute_tool weather", []],
        ["execute_tool broken", []],
        ["chat scripted", []],
      ]),
    ],
  ]);
  const named = (name: string) => first.find((span) => span.name === name);
  expect(named("invoke_agent postern")?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": body.thread_id,
    "postern.turn.id": body.message_id,
    "postern.channel": "gateway",
    "user.id": "operator",
  });
  expect(named("chat scripted")?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "scripted",
    "gen_ai.usage.input_tokens": 11,
    "gen_ai.usage.output_tokens": 7,
    "gen_ai.response.finish_reasons": ["tool_calls"],
  });
  expect(named("execute_tool broken")).toMatchObject({
    failed: true,
    attributes: { "error.type": "tool_error" },
  });
  expect(named("execute_tool weather")).toMatchObject({ failed: false });

  const cancelled = collector.spans.filter(({ attributes }) => attributes["postern.status"] === "cancelled");
  expect(cancelled.map(({ name, failed: isFailed }) => [name, isFailed])).toEqual([
    ["chat scripted", false],
    ["invoke_agent postern", false],
  ]);
  const agents = collector.spans.filter(({ name }) => name === "invoke_agent postern");
  expect(agents.map(({ failed: isFailed }) => isFailed)).toEqual([false, true, false]);
  const asked = collector.spans.filter(
    ({ name, trace }) => name === "chat scripted" && trace === agents[1]?.trace,
  );
  expect(asked).toMatchObject([{ failed: true, attributes: { "error.type": failed.body.error.code } }]);
  // What was said is nobody's business, nor what a provider quoted.
  for (const said of ["Lisbon", "Take a hat", "sk-planted", "story"])
    expect(collector.text).not.toContain(said);
  expect(collector.headers[0]).toMatchObject({ path: "/v1/traces", "x-team": "blue ones" });
});

test("content is recorded where the operator asks for it, without secrets", async () => {
  const { collector, model, gateway, stop } = await traced({
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    ANTHROPIC_API_KEY: "sk-ant-planted-value",
  });
  model.script({ text: "Say sk-ant-planted-value to nobody." });
  await gateway.ask("/api/chat", { method: "POST", body: { message: "Is it sunny in Lisbon?" } });
  await stop(1);
  expect(collector.text).toContain("Is it sunny in Lisbon?");
  expect(collector.text).not.toContain("sk-ant-planted-value");
});

test("where no collector is named nothing of it is loaded, and models are told of no trace", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  await gateway.ask("/api/chat", {
    method: "POST",
    body: { message: "Hi" },
    headers: { traceparent: PARENT },
  });
  expect(model.headers[0]).not.toHaveProperty("traceparent");
});

test("a model's server and the trace of a request are told of each other", async () => {
  const { collector, model, gateway, stop } = await traced();
  await gateway.ask("/api/chat", {
    method: "POST",
    body: { message: "Hi" },
    headers: { traceparent: PARENT },
  });
  await stop(1);
  const [chat] = collector.spans.filter(({ name }) => name.startsWith("chat "));
  expect(model.headers[0]).toMatchObject({ traceparent: `00-${TRACE}-${chat?.id}-01` });
});

test("a collector that is not there costs spans and a line in the log, never a turn or the stop", async () => {
  const { gateway } = await traced({
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
    OTEL_BSP_SCHEDULE_DELAY: "60000",
  });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  expect(body.status).toBe("completed");
  await gateway.service.stop();
  expect(gateway.service.logged.filter((line) => line.includes("traces_lost"))).toMatchObject([
    expect.stringContaining('"spans":2'),
  ]);
});

test("protobuf is what collectors are sent unless they want JSON", async () => {
  const sent: { type: string | undefined; bytes: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    sent.push({ type: request.headers["content-type"], bytes: Buffer.concat(await request.toArray()) });
    response.end();
  });
  const { gateway } = await traced({
    OTEL_EXPORTER_OTLP_ENDPOINT: (await listen(server)).url,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
  });
  await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  await expect.poll(() => sent.some(({ bytes }) => bytes.includes("invoke_agent postern"))).toBe(true);
  expect(new Set(sent.map(({ type }) => type))).toEqual(new Set(["application/x-protobuf"]));
});

test.each([
  { sampler: "always_off", parent: PARENT, flag: "00" },
  { sampler: "always_on", parent: UNWATCHED, flag: "01" },
  { sampler: "parentbased_always_on", parent: UNWATCHED, flag: "00" },
  { sampler: "parentbased_always_off", parent: PARENT, flag: "01" },
  { sampler: "traceidratio", ratio: "0.3", parent: PARENT, flag: "01" },
  { sampler: "traceidratio", ratio: "0.2", parent: PARENT, flag: "00" },
])(
  "$sampler $ratio: of $parent the next server is told $flag",
  async ({ sampler, ratio = "1", parent, flag }) => {
    const { collector, model, gateway, stop } = await traced({
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: ratio,
    });
    await gateway.ask("/api/chat", {
      method: "POST",
      body: { message: "Hi" },
      headers: { traceparent: parent },
    });
    await stop(flag === "01" ? 1 : 0);
    expect(model.headers[0]?.["traceparent"]).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-${flag}$`));
    expect(collector.spans.length > 0).toBe(flag === "01");
  },
);

test.each([
  ["OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"],
  ["OTEL_TRACES_SAMPLER", "sometimes"],
  ["OTEL_TRACES_SAMPLER_ARG", "2"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "no-value"],
])("%s=%s is refused in words", async (name, value) => {
  await expect(traced({ [name]: value })).rejects.toThrow(name);
});
