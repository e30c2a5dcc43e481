/** Counts or condenses what a turn would be shown, without running a turn. */
import { redact } from "../../../kernel/kit/secrets.ts";
import { estimateText, NO_USAGE } from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type Mask,
  type Queries,
  reason,
  type Services,
  type Sql,
  type TurnItem,
} from "../../../kernel/plugin.ts";
import type { TokenCount } from "../../models/services.ts";
import { systemText } from "../context/prompt.ts";
import { digest, summarise, summariseTurns } from "../context/window.ts";
import type { Extensions } from "../extensions.ts";
import { allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { Agent, Turn } from "../services.ts";
import type { TurnSettings } from "../settings.ts";
import type { History } from "../threads/history.ts";
import { findThread, NO_SUMMARY, noThread } from "../threads/thread-row.ts";
import type { RenderedMessage } from "../threads/tokens.ts";
import { estimateTokens, estimateTools } from "../threads/tokens.ts";
import { findOrigin, isOnPath, readPath } from "../threads/turns/branch.ts";
import { renderItems } from "../threads/turns/messages.ts";
import { openToolbox, type ToolSources, underRules } from "./toolbox.ts";

export interface PreviewParts {
  readonly sql: Sql;
  readonly history: History;
  readonly models: Services["models"];
  readonly sources: ToolSources;
  readonly extensions: Extensions;
  settings(): Promise<TurnSettings>;
  readonly mask: Mask;
}

export function createPreview(parts: PreviewParts): Pick<Agent, "measure" | "contextOf" | "condense"> {
  const { sql, history, models, extensions, mask } = parts;
  const trusted = extensions.followed;

  /** All that was said, turn by turn: what is stored, what the turn brings, and what it says itself. */
  async function said(turn: Turn, isCounted = false): Promise<readonly (readonly RenderedMessage[])[]> {
    const seq = await numberOf(sql, turn);
    const past =
      turn.thread === undefined || seq === undefined
        ? undefined
        : await history.read(turn.thread, 0, seq + 1, await readPath(sql, turn.thread, seq));
    const { preamble = {} } = turn;
    const own = [...(preamble.history ?? []), ...itemsOf(turn)];
    const present = renderItems(own, preamble, past?.open ?? [], { mask, trusted, isCounted }).messages;
    return [...(past?.turns ?? []).map(({ messages }) => messages), present];
  }

  /** What stands before the conversation: the tools and the sections. */
  async function before(turn: Turn) {
    refuseWidening(turn);
    const scopes = scopesOf(turn);
    const allows = (tool: string) => allowsTool(scopes, tool);
    const scope = {
      user: turn.user,
      channel: turn.channel,
      thread: turn.thread ?? "",
      external: turn.answer?.tools ?? [],
      callersWin: turn.answer?.callersToolsWin ?? false,
      allows,
      require: () => {},
    };
    const sources = underRules(parts.sources, await parts.settings());
    const [toolbox, preface] = await Promise.all([
      openToolbox(sources, scope, { onTrouble() {} }),
      extensions.preface(turn.user, allows),
    ]);
    return { toolbox, ...preface, scopes };
  }

  return {
    async contextOf(which) {
      const { user, thread } = which;
      const turn: Turn = { ...which, input: { type: "message", text: "" } };
      const [{ toolbox, sections, topics, memory, scopes }, row, seq] = await Promise.all([
        before(turn),
        findThread(sql, user, thread),
        numberOf(sql, turn),
      ]);
      if (row === undefined) throw noThread(thread);
      const [path, chain, spent] = await Promise.all([
        readPath(sql, thread, seq ?? 0),
        models.chain(row.model, scopes),
        sql.get<{ usd: number | null; saved: number | null }>(SPENT, thread),
      ]);
      const [model] = chain;
      if (model === undefined) throw new Fault("unavailable", "no_model", "There is no model to ask.");
      const summary = isOnPath(path, row.summary.to) ? row.summary : NO_SUMMARY;
      const past = seq === undefined ? [] : (await history.read(thread, summary.to, seq + 1, path)).turns;
      const turns = past.map(({ messages }) => messages);
      const heard = { summary: summary.text, past: turns, items: [], required: [] };
      const tools = toolbox.offer(heard, undefined);
      const sizes = { instructions: 0, tools: estimateTools(tools), memory: 0, conversation: 0, files: 0 };
      sizes.memory = memory.reduce((sum, text) => sum + estimateText(text), 0);
      const system = estimateText(systemText("", [...sections, ...Object.values(topics), ...toolbox.about]));
      sizes.instructions = Math.max(0, system - sizes.memory);
      sizes.conversation = estimateText(summary.text ?? "");
      for (const message of turns.flat()) {
        const size = estimateTokens(message);
        const kind = kindOf(message);
        const words = kind === "conversation" ? estimateTokens(bare(message)) : size;
        sizes[kind] += words;
        sizes.files += size - words;
      }
      const inputTokens = Object.values(sizes).reduce((sum, tokens) => sum + tokens, 0);
      const counted = { inputTokens, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
      return {
        model: model.name,
        window: model.window,
        ...sizes,
        total: inputTokens,
        isSummarised: summary.text !== undefined,
        cost: models.addCost(NO_USAGE, model.name, counted).totalCost,
        spent: spent?.usd ?? 0,
        saved: spent?.saved ?? 0,
      };
    },

    async measure(turn) {
      const toolChoice = turn.answer?.toolChoice;
      const named = typeof toolChoice === "object" ? new Set(toolChoice.names) : undefined;
      const [{ toolbox, sections, topics }, turns] = await Promise.all([before(turn), said(turn, true)]);
      const heard = {
        summary: undefined,
        past: turns,
        items: [],
        required: turn.answer?.requiredTools ?? [],
      };
      return [
        estimateText(systemText("", [...sections, ...Object.values(topics), ...toolbox.about])),
        estimateText(turn.preamble?.instructionsOnce ?? ""),
        estimateTools(toolbox.offer(heard, named)),
        ...turns.flat().map((message) => estimateTokens(message)),
      ].reduce((sum, tokens) => sum + tokens, 0);
    },

    async condense(turn, signal = new AbortController().signal) {
      refuseWidening(turn);
      const scopes = scopesOf(turn);
      const [model] = await models.chain(undefined, scopes);
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

/** What its turns have cost, with what was asked of models beside them. */
const SPENT = `SELECT sum(turn_figures.usd) AS usd, sum(turn_figures.saved_usd) AS saved FROM turns JOIN turn_figures
    ON turn_figures.created_at = turns.created_at AND turn_figures.turn = turns.id
  WHERE turns.thread = ?`;

/** What the results of these tools are, rather than conversation. */
const RESULTS = { memory_: "memory", workspace_: "files" } as const;

function kindOf(message: RenderedMessage): "conversation" | "memory" | "files" {
  if (message.role !== "tool") return "conversation";
  const [, kind] = Object.entries(RESULTS).find(([prefix]) => message.call.name.startsWith(prefix)) ?? [];
  return kind ?? "conversation";
}

/** The message without the files that came with it. */
const bare = (message: RenderedMessage): RenderedMessage =>
  message.role === "assistant" ? message : { ...message, attachments: [] };

/** The number of the turn that it goes on from; undefined where it begins a thread. */
async function numberOf(queries: Queries, turn: Turn): Promise<number | undefined> {
  const { thread, user, after } = turn;
  if (thread === undefined || after === null) return undefined;
  if (after !== undefined) return (await findOrigin(queries, turn, thread)).seq;
  const query = 'SELECT max(seq) AS seq FROM turns WHERE thread = ? AND "user" = ?';
  return (await queries.get<{ seq: number | null }>(query, thread, user))?.seq ?? undefined;
}

function itemsOf({ input }: Turn): readonly TurnItem[] {
  const outputs = input.type === "tool_output" ? [input] : input.type === "tool_outputs" ? input.outputs : [];
  const results = outputs.map(({ call, output }): TurnItem => {
    return { type: "tool_result", id: "", call, outcome: { status: "ok", output } };
  });
  const text = "text" in input ? (input.text ?? "") : "";
  return text === "" ? results : [...results, { type: "message", id: "", role: "user", text }];
}
