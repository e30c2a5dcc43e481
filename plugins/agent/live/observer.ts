/** What operators learn of turns: a trace of each, numbers of all, and events in the log. Never what was said, unless asked for. */
import type { CallTrace, Telemetry } from "../../../kernel/kit.ts";
import type {
  CallOutcome,
  Log,
  Mask,
  ModelName,
  OwnOutcome,
  Services,
  ToolCall,
  Turn,
  TurnRecord,
  Usage,
} from "../../../kernel/plugin.ts";
import * as names from "./conventions.ts";

/** Watches one request to a model. */
type Asking = Parameters<Services["models"]["stream"]>[2]["observer"]["asking"];

export interface TurnObserver {
  /** One request to a model; a turn makes one for each answer, and more where it has to try again. */
  readonly asking: Asking;
  calling(call: ToolCall): CallObserver;
  /** Something that the person is told, too: a retry, another model, a summary. */
  noticed(code: string): void;
  spent(model: ModelName, usage: Usage): void;
  ended(record: TurnRecord): void;
}

export interface CallObserver {
  readonly trace: CallTrace;
  ended(outcome: CallOutcome | OwnOutcome): void;
}

export interface Observers {
  turn(turn: Turn, opened: { readonly id: string; readonly thread: string }): TurnObserver;
}

const SECONDS = [0.1, 0.3, 1, 3, 10, 30, 100, 300];
const TOOL_SECONDS = [0.005, 0.02, 0.1, 0.3, 1, 3, 10, 60];
// As much of a text as collectors take.
const MAX_SAID_LENGTH = 8_000;
/** What an operator should look at; the rest happens every day. */
const WORRYING = new Set(["model_failover", "tools_unavailable"]);

export function createObservers(
  { metrics, tracer }: Telemetry,
  mask: Mask,
  log: Log,
  serving = true,
): Observers {
  // A command has one turn, and tells how it went itself.
  const everyday = serving ? "info" : "debug";
  const turns = metrics.counter("postern_turns_total", "Turns by how they ended", ["channel", "outcome"]);
  const turnSeconds = metrics.histogram(
    "postern_turn_seconds",
    "Time from a turn's start to its end",
    ["channel"],
    SECONDS,
  );
  const firstToken = metrics.histogram(
    "postern_model_first_token_seconds",
    "Time from asking a model to its first output",
    ["model"],
    SECONDS,
  );
  const tokens = metrics.counter("postern_tokens_total", "Tokens read and written by models", [
    "model",
    "kind",
  ]);
  const cost = metrics.counter("postern_cost_usd_total", "What models cost, in US dollars", ["model"]);
  const modelErrors = metrics.counter("postern_model_errors_total", "Failed requests to models", [
    "model",
    "code",
  ]);
  const toolCalls = metrics.counter("postern_tool_calls_total", "Tool calls by outcome", ["tool", "outcome"]);
  const toolSeconds = metrics.histogram(
    "postern_tool_call_seconds",
    "Time that tool calls took",
    ["tool"],
    TOOL_SECONDS,
  );

  const said = (text: string) => mask.hide(text).slice(0, MAX_SAID_LENGTH);

  return {
    turn(turn, { id, thread }) {
      const { user, channel } = turn;
      const began = performance.now();
      const about = { turn: id, thread, user };
      const span = tracer.start(names.INVOKE_AGENT, {
        ...turn.trace,
        attributes: names.agentAttributes({ id, thread, user, channel }),
      });
      let calls = 0;

      return {
        asking(model, request) {
          const asked = performance.now();
          const chat = span.child(names.chatName(model), {
            kind: "client",
            attributes: names.chatAttributes(model),
          });
          if (tracer.showsContent) chat.set({ [names.SAID.input]: said(JSON.stringify(request.messages)) });
          let hasBegun = false;
          let text = "";
          return {
            traceparent: chat.traceparent,
            received(parts) {
              if (!hasBegun && parts.length > 0) {
                hasBegun = true;
                const seconds = (performance.now() - asked) / 1000;
                firstToken.observe({ model: model.name }, seconds);
                chat.set({ [names.FIRST_TOKEN]: seconds });
              }
              for (const part of parts) {
                if (part.type === "usage") chat.set(names.usageAttributes(part));
                else if (part.type === "finish") chat.set({ [names.FINISH_REASONS]: [part.reason] });
                else if (part.type === "text" && tracer.showsContent) text += part.delta;
              }
            },
            ended(error) {
              if (text !== "") chat.set({ [names.SAID.output]: said(text) });
              const isCancelled = error === "cancelled";
              if (isCancelled) chat.set({ [names.STATUS]: error });
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
          const work = span.child(names.toolName(call.name), {
            attributes: names.toolAttributes(call.name, call.id),
          });
          if (tracer.showsContent) work.set({ [names.SAID.arguments]: said(call.params) });
          return {
            trace: { span: work, tellsHost: tracer.tellsHost },
            ended(outcome) {
              const failed = outcome.status === "error" ? outcome.code : undefined;
              const how = failed ?? outcome.status;
              toolCalls.add({ tool: call.name, outcome: how });
              toolSeconds.observe({ tool: call.name }, (performance.now() - asked) / 1000);
              if (outcome.status === "ok" && tracer.showsContent)
                work.set({ [names.SAID.result]: said(outcome.output) });
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
          const add = (kind: string, count: number) => {
            if (count > 0) tokens.add({ model: model.name, kind }, count);
          };
          add("input", usage.inputTokens);
          add("output", usage.outputTokens);
          add("cached", usage.cachedTokens);
          add("reasoning", usage.reasoningTokens);
          const dollars = Number(usage.totalCost);
          if (dollars > 0) cost.add({ model: model.name }, dollars);
        },

        ended({ status, error, gate, usage, model }) {
          const seconds = (performance.now() - began) / 1000;
          const outcome = error?.code ?? status;
          turns.add({ channel, outcome });
          turnSeconds.observe({ channel }, seconds);
          span.set({ ...names.usageAttributes(usage), [names.STATUS]: status });
          span.end(status === "failed" ? outcome : undefined);
          const entry = {
            ...about,
            channel,
            status,
            ...(model && { model: model.name }),
            millis: Math.round(seconds * 1000),
            calls,
            tokens: usage.inputTokens + usage.outputTokens,
            ...(Number(usage.totalCost) > 0 && { cost: usage.totalCost }),
          };
          // Without the message, which may hold what was said.
          if (status === "failed") log.warn({ ...entry, code: outcome }, `a turn failed: ${outcome}`);
          else if (gate)
            log[everyday](
              { ...entry, code: `${gate.type}_gate`, tool: gate.call.name },
              "a turn waits for an answer",
            );
          else log[everyday](entry, `a turn ${status === "cancelled" ? "was cancelled" : "ended"}`);
        },
      };
    },
  };
}
