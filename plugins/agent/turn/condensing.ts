/** What a turn would be shown, counted or put into a few paragraphs, without a turn. */
import {
  estimateText,
  estimateTokens,
  estimateTools,
  NO_USAGE,
  type RenderedMessage,
  redact,
  type TokenCount,
} from "../../../kernel/kit.ts";
import {
  Fault,
  type Mask,
  type Queries,
  reason,
  type Services,
  type Sql,
  type Turn,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import { systemText } from "../context/prompt.ts";
import { summarise } from "../context/summary.ts";
import { digest, summariseTurns } from "../context/window.ts";
import type { Extensions } from "../extensions.ts";
import { allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { Agent } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import type { History } from "../threads/history.ts";
import { findOrigin, readPath } from "../threads/turns/branch.ts";
import { renderItems } from "../threads/turns/rendering.ts";
import { openToolbox, type ToolSources, underRules } from "./toolbox.ts";

export interface CondensingParts {
  readonly sql: Sql;
  readonly history: History;
  readonly models: Services["models"];
  readonly sources: ToolSources;
  readonly extensions: Extensions;
  settings(): Promise<TurnSettings>;
  readonly mask: Mask;
}

export function createCondensing(parts: CondensingParts): Pick<Agent, "measure" | "condense"> {
  const { sql, history, models, extensions, mask } = parts;
  const trusted = extensions.followed;

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
        extensions.preface(turn.user, allows),
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
      const [model] = await models.chain(undefined, { scopes, capUsd: undefined });
      if (model === undefined) throw new Fault("unavailable", "no_model", "There is no model to ask.");
      const turns = await said(turn);
      let usage = NO_USAGE;
      const count = async (tokens: TokenCount): Promise<void> => {
        const spent = models.addCost(NO_USAGE, model.name, tokens);
        usage = models.addCost(usage, model.name, tokens);
        await sql.transaction(async (tx) => models.spend(tx, turn.user, spent, scopes));
      };
      const condenseText = async (transcript: string): Promise<string> => {
        if (model.name.provider === "builtin") return digest(transcript);
        await models.assertLeft(turn.user, await models.dailyCap(), scopes);
        try {
          return redact(mask, await summarise(model, transcript, { signal, count }));
        } catch (error) {
          if (signal.aborted || error instanceof Fault) throw error;
          throw new Fault("unavailable", "model_unavailable", `The model did not answer: ${reason(error)}`);
        }
      };
      return {
        text: await summariseTurns(undefined, turns, Math.floor(model.window / 4), condenseText),
        usage,
      };
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
