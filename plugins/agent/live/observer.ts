/**
 * Reports turns to operators: a trace of each, numbers of all, and events in the log. Never what was said, unless asked for.
 * The names of spans and attributes are OpenTelemetry's for generative AI, which are in development: this file alone spells them.
 */

import type { CallOutcome } from "../../../host/services.ts";
import type {
  Log,
  Mask,
  ModelName,
  Services,
  Sql,
  ToolCall,
  TurnRecord,
  Usage,
} from "../../../kernel/plugin.ts";
import type { Node } from "../../store/services.ts";
import type { Attributes, CallTrace, Telemetry } from "../../telemetry/services.ts";
import type { OwnOutcome, Turn } from "../services.ts";

type Asking = Parameters<Services["models"]["stream"]>[2]["observer"]["asking"];

export interface TurnObserver {
  /** One request to a model; a turn makes one for each answer, and more where it has to try again. */
  readonly asking: Asking;
  calling(call: ToolCall): {
    readonly trace: CallTrace;
    ended(outcome: CallOutcome | OwnOutcome): void;
  };
  /** Something that the person is told, too: a retry, another model, a summary. */
  noticed(code: string): void;
  spent(model: ModelName, usage: Usage): void;
  ended(record: TurnRecord): void;
}

export type Observers = ReturnType<typeof createObservers>;

const SECONDS = [0.1, 0.3, 1, 3, 10, 30, 100, 300];
const TOOL_SECONDS = [0.005, 0.02, 0.1, 0.3, 1, 3, 10, 60];
// As much of a text as collectors take.
const MAX_SAID_LENGTH = 8_000;
/** Events that an operator should look at; the rest happens every day. */
const WORRYING = new Set(["model_failover", "tools_unavailable"]);
/** Providers by the names that the conventions give them. */
const PROVIDERS: Readonly<Record<string, string>> = { "openai-compatible": "openai" };

const usageAttributes = (
  tokens: Pick<Usage, "inputTokens" | "outputTokens" | "cachedTokens">,
): Attributes => ({
  "gen_ai.usage.input_tokens": tokens.inputTokens,
  "gen_ai.usage.output_tokens": tokens.outputTokens,
  "gen_ai.usage.cache_read.input_tokens": tokens.cachedTokens,
});

export function createObservers({ metrics, tracer }: Telemetry, mask: Mask, log: Log, serving = true) {
  // A command has one turn, and tells how it went itself.
  const everyday = serving ? "info" : "debug";
  const counter = (name: string, help: string, ...labels: string[]) => metrics.counter(name, help, labels);
  const histogram = (name: string, help: string, label: string, buckets = SECONDS) =>
    metrics.histogram(name, help, [label], buckets);
  const turns = counter("postern_turns_total", "Turns by how they ended", "channel", "outcome");
  const turnSeconds = histogram("postern_turn_seconds", "Time from a turn's start to its end", "channel");
  const firstTokenHelp = "Time from asking a model to its first output";
  const firstToken = histogram("postern_model_first_token_seconds", firstTokenHelp, "model");
  const tokens = counter("postern_tokens_total", "Tokens read and written by models", "model", "kind");
  const cost = counter("postern_cost_usd_total", "What models cost, in US dollars", "model");
  const modelErrors = counter("postern_model_errors_total", "Failed requests to models", "model", "code");
  const toolCalls = counter("postern_tool_calls_total", "Tool calls by outcome", "tool", "outcome");
  const toolHelp = "Time that tool calls took";
  const toolSeconds = histogram("postern_tool_call_seconds", toolHelp, "tool", TOOL_SECONDS);

  const said = (text: string) => mask.hide(text).slice(0, MAX_SAID_LENGTH);

  return {
    turn(turn: Turn, { id, thread }: { readonly id: string; readonly thread: string }): TurnObserver {
      const { user, channel } = turn;
      const began = performance.now();
      const about = { turn: id, thread, user };
      const span = tracer.start("invoke_agent postern", {
        ...turn.work?.trace,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "postern",
          "gen_ai.conversation.id": thread,
          "user.id": user,
          "postern.turn.id": id,
          "postern.channel": channel,
        },
      });
      let calls = 0;

      return {
        asking(model, request) {
          const asked = performance.now();
          const chat = span.child(`chat ${model.name}`, {
            kind: "client",
            attributes: {
              "gen_ai.operation.name": "chat",
              "gen_ai.provider.name": PROVIDERS[model.provider] ?? model.provider,
              "gen_ai.request.model": model.name,
            },
          });
          if (tracer.showsContent)
            chat.set({ "gen_ai.input.messages": said(JSON.stringify(request.messages)) });
          let hasBegun = false;
          let text = "";
          return {
            traceparent: chat.traceparent,
            received(parts) {
              if (!hasBegun && parts.length > 0) {
                hasBegun = true;
                const seconds = (performance.now() - asked) / 1000;
                firstToken.observe({ model: model.name }, seconds);
                chat.set({ "gen_ai.response.time_to_first_chunk": seconds });
              }
              for (const part of parts) {
                if (part.type === "usage") chat.set(usageAttributes(part));
                else if (part.type === "finish")
                  chat.set({ "gen_ai.response.finish_reasons": [part.reason] });
                else if (part.type === "text" && tracer.showsContent) text += part.delta;
              }
            },
            ended(error) {
              if (text !== "") chat.set({ "gen_ai.output.messages": said(text) });
              const isCancelled = error === "cancelled";
              if (isCancelled) chat.set({ "postern.status": error });
              chat.end(isCancelled ? undefined : error);
              if (error === undefined || isCancelled) return;
              modelErrors.add({ model: model.name, code: error });
              log.warn({ ...about, model: model.name, code: error }, `the model failed: ${error}`);
            },
          };
        },

        calling(call) {
          const asked = performance.now();
          calls++;
          const work = span.child(`execute_tool ${call.name}`, {
            attributes: {
              "gen_ai.operation.name": "execute_tool",
              "gen_ai.tool.name": call.name,
              "gen_ai.tool.call.id": call.id,
              "gen_ai.tool.type": "function",
            },
          });
          if (tracer.showsContent) work.set({ "gen_ai.tool.call.arguments": said(call.params) });
          return {
            trace: { span: work, tellsHost: tracer.tellsHost },
            ended(outcome) {
              const failed = outcome.status === "error" ? outcome.code : undefined;
              const how = failed ?? outcome.status;
              toolCalls.add({ tool: call.name, outcome: how });
              toolSeconds.observe({ tool: call.name }, (performance.now() - asked) / 1000);
              if (outcome.status === "ok" && tracer.showsContent)
                work.set({ "gen_ai.tool.call.result": said(outcome.output) });
              work.end(failed);
              if (failed !== undefined)
                log[everyday]({ ...about, tool: call.name, code: failed }, `a tool call failed: ${failed}`);
            },
          };
        },

        noticed(code) {
          span.event(code);
          log[WORRYING.has(code) ? "warn" : everyday]({ ...about, code }, `notice: ${code}`);
        },

        spent(model, usage) {
          for (const kind of ["input", "output", "cached", "reasoning"] as const) {
            const count = usage[`${kind}Tokens`];
            if (count > 0) tokens.add({ model: model.name, kind }, count);
          }
          const dollars = Number(usage.totalCost);
          if (dollars > 0) cost.add({ model: model.name }, dollars);
        },

        ended({ status, error, gate, usage, model }) {
          const seconds = (performance.now() - began) / 1000;
          const outcome = error?.code ?? status;
          turns.add({ channel, outcome });
          turnSeconds.observe({ channel }, seconds);
          span.set({ ...usageAttributes(usage), "postern.status": status });
          span.end(status === "failed" ? outcome : undefined);
          const entry = {
            ...about,
            channel,
            status,
            model: model?.name,
            millis: Math.round(seconds * 1000),
            calls,
            tokens: usage.inputTokens + usage.outputTokens,
            ...(Number(usage.totalCost) > 0 && { cost: usage.totalCost }),
          };
          // Without the message, which may hold what was said.
          if (status === "failed") log.warn({ ...entry, code: outcome }, `a turn failed: ${outcome}`);
          else if (gate) {
            const asked = { ...entry, code: `${gate.type}_gate`, tool: gate.call.name };
            log[everyday](asked, "a turn waits for an answer");
          } else log[everyday](entry, `a turn ${status === "cancelled" ? "was cancelled" : "ended"}`);
        },
      };
    },
  };
}

// A caller's function is the caller's to run, and many never come back: nobody here could answer. Quotes inside of the
// call's params are escaped, so this can only be the gate's own field.
const FOR_A_PERSON = `gate IS NOT NULL AND binned_at IS NULL AND gate NOT LIKE '%"type":"external_tool"%'`;

/** Measures how much waits, and for how long, when the metrics are asked for. */
export function measureWaiting({ metrics }: Telemetry, sql: Sql, node: Node): void {
  metrics.gauge("postern_gates_waiting", "Threads that wait for a person's answer", async () => {
    const count = `SELECT COUNT(*) AS count FROM threads WHERE ${FOR_A_PERSON}`;
    const row = await sql.get<{ count: number }>(count);
    return Number(row?.count ?? 0);
  });
  metrics.gauge("postern_gate_oldest_seconds", "How long the oldest of them has waited", async () => {
    const find = `SELECT MIN(updated_at) AS oldest FROM threads WHERE ${FOR_A_PERSON}`;
    const row = await sql.get<{ oldest: string | null }>(find);
    return row?.oldest ? Math.max(0, (Date.now() - Date.parse(row.oldest)) / 1000) : 0;
  });
  metrics.gauge("postern_store_round_trip_seconds", "Time that a statement without work takes", async () => {
    const began = performance.now();
    await sql.get("SELECT 1 AS one");
    return (performance.now() - began) / 1000;
  });
  metrics.gauge("postern_nodes", "Nodes that live on this store", async () => (await node.list()).length);
}
