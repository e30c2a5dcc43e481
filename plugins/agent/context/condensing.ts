/** Counts or summarises what a turn would be shown, without running a turn. */
import {
  type Agent,
  Fault,
  type Mask,
  type Queries,
  reason,
  type Sql,
  type Turn,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import type { Models } from "../models/choose.ts";
import type { RenderedMessage } from "../models/model.ts";
import { redact } from "../safety/redact.ts";
import { allowedModels, allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { TurnSettings } from "../settings.ts";
import { NO_USAGE, type Prices } from "../spending/cost.ts";
import type { Spending } from "../spending/spending.ts";
import type { History } from "../threads/history.ts";
import { findOrigin, readPath } from "../threads/turns/branch.ts";
import { renderItems } from "../threads/turns/rendering.ts";
import type { RunnerParts } from "../turn/runner.ts";
import { openToolbox, underRules } from "../turn/toolbox.ts";
import { SUMMARY_SYSTEM, systemText } from "./prompt.ts";
import { estimateText, estimateTokens, estimateTools } from "./tokens.ts";
import { digest, summariseTurns } from "./window.ts";

export interface CondensingParts {
  readonly sql: Sql;
  readonly history: History;
  readonly models: Models;
  readonly prices: Prices;
  readonly spending: Spending;
  readonly sources: RunnerParts["sources"];
  readonly preface: RunnerParts["preface"];
  settings(): Promise<TurnSettings>;
  readonly mask: Mask;
  readonly trusted: ReadonlySet<string>;
}

export function createCondensing(parts: CondensingParts): Pick<Agent, "measure" | "condense"> {
  const { sql, history, mask, trusted } = parts;

  /** All that was said, turn by turn: what is stored, what the turn brings, and what it says itself. */
  async function said(turn: Turn): Promise<readonly (readonly RenderedMessage[])[]> {
    const seq = await numberOf(sql, turn);
    const past =
      turn.thread === undefined || seq === undefined
        ? undefined
        : await history.read(turn.thread, 0, seq + 1, await readPath(sql, turn.thread, seq));
    const preface = { instructions: turn.instructions, context: turn.context, outside: turn.outside };
    const own = [...(turn.history ?? []), ...itemsOf(turn)];
    const present = renderItems(own, preface, past?.open ?? [], { mask, trusted }).messages;
    return [...(past?.turns ?? []).map(({ messages }) => messages), present];
  }

  return {
    async measure(turn) {
      refuseWidening(turn);
      const scopes = scopesOf(turn);
      const allows = (tool: string) => allowsTool(scopes, tool);
      const { toolChoice } = turn;
      const named = typeof toolChoice === "object" ? new Set(toolChoice.names) : undefined;
      const scope = {
        user: turn.user,
        channel: turn.channel,
        thread: turn.thread ?? "",
        external: turn.tools ?? [],
        callersWin: turn.callersToolsWin ?? false,
        allows,
        require: () => {},
      };
      const [toolbox, { sections }, turns] = await Promise.all([
        parts
          .settings()
          .then((settings) => openToolbox(underRules(parts.sources, settings), scope, () => {})),
        parts.preface(turn.user, allows),
        said(turn),
      ]);
      return [
        estimateText(systemText(new Date(), [...sections, ...toolbox.about])),
        estimateText(turn.instructionsOnce ?? ""),
        estimateTools(
          toolbox.offer(
            { summary: undefined, past: turns, items: [], required: turn.requiredTools ?? [] },
            named,
          ),
        ),
        ...turns.flat().map((message) => estimateTokens(message)),
      ].reduce((sum, tokens) => sum + tokens, 0);
    },

    async condense(turn, signal = new AbortController().signal) {
      refuseWidening(turn);
      const scopes = scopesOf(turn);
      const [model] = allowedModels(await parts.models.current(), scopes);
      if (model === undefined) throw new Fault("unavailable", "no_model", "There is no model to ask.");
      const turns = await said(turn);
      let usage = NO_USAGE;
      const summarise = async (transcript: string): Promise<string> => {
        if (model.name.provider === "builtin") return digest(transcript);
        const { dailyUsdCap } = await parts.settings();
        await parts.spending.assertLeft(turn.user, dailyUsdCap, scopes);
        let text = "";
        const request = {
          system: SUMMARY_SYSTEM,
          messages: [{ role: "user", text: transcript } as const],
          tools: [],
          temperature: undefined,
        };
        try {
          for await (const pieces of model.stream(request, signal))
            for (const piece of pieces) {
              if (piece.type === "text") text += piece.delta;
              if (piece.type !== "usage") continue;
              const spent = parts.prices.add(NO_USAGE, model.name, piece);
              usage = parts.prices.add(usage, model.name, piece);
              await sql.transaction(async (tx) => parts.spending.add(tx, turn.user, spent, scopes));
            }
        } catch (error) {
          if (signal.aborted || error instanceof Fault) throw error;
          throw new Fault("unavailable", "model_unavailable", `The model did not answer: ${reason(error)}`);
        }
        return text.trim() === "" ? digest(transcript) : redact(mask, text);
      };
      return { text: await summariseTurns(undefined, turns, Math.floor(model.window / 4), summarise), usage };
    },
  };
}

/** The number of the turn that it goes on from; undefined where it begins a thread. */
async function numberOf(queries: Queries, turn: Turn): Promise<number | undefined> {
  const { thread, user, after } = turn;
  if (thread === undefined || after === null) return undefined;
  if (after !== undefined) return (await findOrigin(queries, turn, thread)).seq;
  const query = 'SELECT max(seq) AS seq FROM turns WHERE thread = ? AND "user" = ?';
  return (await queries.get<{ seq: number | null }>(query, thread, user))?.seq ?? undefined;
}

function itemsOf({ input }: Turn): readonly TurnItem[] {
  if (input.type === "message")
    return input.text === "" ? [] : [{ type: "message", id: "", role: "user", text: input.text }];
  const result = (call: string, output: string): TurnItem => ({
    ...{ type: "tool_result", id: "", call, outcome: { status: "ok", output } },
  });
  if (input.type === "tool_output") return [result(input.call, input.output)];
  if (input.type !== "tool_outputs") return [];
  const text = input.text ?? "";
  return [
    ...input.outputs.map(({ call, output }) => result(call, output)),
    ...(text === "" ? [] : [{ type: "message", id: "", role: "user", text } as const]),
  ];
}
