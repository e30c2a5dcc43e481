import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { createMetrics } from "../../../plugins/telemetry/metrics.ts";
import { ROOT } from "../../support/clone.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { openGateway } from "../../support/services/gateway.ts";

const tools = { weather: { run: () => ({ status: "ok", output: "sunny" }) as const } };

async function measured(): Promise<string> {
  const model = await scriptedModel();
  const gateway = await openGateway({ model, tools, variables: { TOOL_APPROVALS: "*=allow" } });
  const ask = () => gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  for (let turn = 0; turn < 9; turn++) {
    if (turn === 0) model.script({ calls: [{ name: "weather", arguments: {} }] });
    model.script({ text: "Hello", usage: { input: 10, output: 2 } });
    await ask();
  }
  model.script({ status: 401, error: { message: "bad key" } });
  await ask();
  return (await gateway.ask("/metrics")).text;
}

test("after ten turns, one of them failed, the numbers say so", async () => {
  const text = await measured();
  expect(text).toContain('postern_turns_total{channel="gateway",outcome="completed"} 9');
  expect(text).toMatch(/postern_turns_total\{channel="gateway",outcome="model_\w+"\} 1/);
  expect(text).toMatch(/postern_model_errors_total\{model="scripted",code="model_\w+"\} 1/);
  expect(text).toContain('postern_tokens_total{model="scripted",kind="input"} 100');
  expect(text).toContain('postern_tool_calls_total{tool="weather",outcome="ok"} 1');
  expect(text).toContain('postern_turn_seconds_count{channel="gateway"} 10');
  expect(text).toContain('postern_model_first_token_seconds_count{model="scripted"} 10');
  for (const name of [
    "postern_jobs",
    "postern_gates_waiting",
    "postern_gate_oldest_seconds",
    "postern_nodes",
  ])
    expect(text).toMatch(new RegExp(`^${name}(?:\\{[^}]*\\})? \\d`, "m"));

  // Every number that the dashboard and the alerts ask for is there.
  const dashboard = readFileSync(join(ROOT, ".deploy", "grafana-dashboard.json"), "utf8");
  const rules = readFileSync(join(ROOT, ".deploy", "alerts.yaml"), "utf8");
  const { groups } = parse(rules) as { groups: readonly { readonly rules: readonly { expr: string }[] }[] };
  const { panels } = JSON.parse(dashboard) as {
    panels: readonly { targets?: readonly { expr: string }[] }[];
  };
  const expressions = [
    ...groups.flatMap((group) => group.rules.map(({ expr }) => expr)),
    ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ];
  const asked = new Set(expressions.flatMap((expr) => expr.match(/\b(?:postern|nodejs|process)_\w+/g) ?? []));
  const hostsOwn = new Set(["postern_tool_processes", "postern_tool_memory_bytes"]);
  const there = new Set(
    [...text.matchAll(/^# TYPE (\S+) (\w+)/gm)].flatMap(([, name = "", type]) =>
      type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  expect([...asked].filter((name) => !there.has(name) && !hostsOwn.has(name))).toEqual([]);
  expect(asked.size).toBeGreaterThan(12);
});

test("names that strangers choose do not fill a monitor", async () => {
  const metrics = createMetrics();
  const counter = metrics.counter("postern_calls_total", "Calls", ["tool"]);
  for (let at = 0; at < 1000; at++) counter.add({ tool: `tool-${at}` });
  counter.add({ tool: "tool-1" });
  const series = (await metrics.render())
    .split("\n")
    .filter((line) => line.startsWith("postern_calls_total{"));
  expect(series.length).toBeLessThan(310);
  expect(series).toContain('postern_calls_total{tool="other"} 700');
  expect(series).toContain('postern_calls_total{tool="tool-1"} 2');
});

test("what waits for a caller's function or a pairing is no work that is late", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  model.script({ calls: [{ name: "find_order", arguments: {} }] });
  const run = await gateway.service.service("agent").run({
    user: "operator",
    channel: "test",
    input: { type: "message", text: "Where is it?" },
    answer: { tools: [{ name: "find_order" }] },
  });
  expect((await run.record).gate?.type).toBe("external_tool");
  await gateway.service.service("jobs").submit({
    user: "webhook/ann",
    channel: "webhook",
    message: "Hello",
    waitsForPairing: true,
  });
  const { text } = await gateway.ask("/metrics");
  for (const name of ["postern_gates_waiting", "postern_gate_oldest_seconds", "postern_job_oldest_seconds"])
    expect(text).toMatch(new RegExp(`^${name} 0$`, "m"));
});
