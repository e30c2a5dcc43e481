/** A turn as the checks of other plugins see it, while it runs or afterwards. */
import type { Queries, ToolInfo } from "../../../kernel/plugin.ts";
import type { Extensions, TurnPreface } from "../extensions.ts";
import { showTool } from "../safety/foreign.ts";
import type { CheckedTurn, Threads, Turn } from "../services.ts";
import { fileText, findSpoken, readAbove, readPast } from "../threads/past-turns.ts";
import type { RunningWriter } from "../threads/writing/writer.ts";
import type { ToolSources } from "./toolbox.ts";

type Installed = ReadonlyMap<string, ToolInfo>;

export function checkedTurn(
  parts: { readonly sql: Queries; readonly extensions: Extensions; readonly replaceTools?: unknown },
  turn: Turn,
  writer: Pick<RunningWriter, "id" | "thread" | "seq" | "isBranched" | "isFirst" | "items">,
  preface: Promise<TurnPreface>,
): (installed: Installed) => CheckedTurn {
  const { sql, extensions } = parts;
  const { user, input, attached = [], preamble = {} } = turn;
  const { instructions, context, outside, instructionsOnce } = preamble;
  const files = new Map(attached.map(({ id, data, text }) => [id, fileText(text ?? data)]));
  return (installed) => ({
    id: writer.id,
    thread: writer.thread,
    ...{ user, input, instructions, context, outside, instructionsOnce, files, installed },
    items: writer.items,
    persons: async () => (await preface).persons,
    strangers: async () => (await preface).strangers,
    unattended: turn.work?.unattended ?? false,
    isReplay: parts.replaceTools !== undefined,
    isOwn: extensions.isOwn,
    isFollowed: (tool) => extensions.followed.has(tool),
    show: showTool,
    tree: turn.work?.task?.turns?.[0] ?? writer.id,
    above: () => readAbove(sql, turn.work?.task?.turns),
    past: async (known) =>
      writer.isFirst ? { branch: "", after: 0, turns: [] } : await readPast(sql, writer, known),
  });
}

/** Reads a stored turn to be checked once more. */
export function createCheckedReader(
  sql: Queries,
  extensions: Extensions,
  host: ToolSources["host"],
): Threads["checked"] {
  return async (id) => {
    const turn = await findSpoken(sql, id);
    if (turn === undefined) return undefined;
    const tools = (await host?.list()) ?? [];
    return {
      ...turn,
      unattended: false,
      isReplay: true,
      installed: new Map(tools.map((tool) => [tool.name, tool])),
      isOwn: extensions.isOwn,
      isFollowed: (tool) => extensions.followed.has(tool),
      show: showTool,
      persons: async () => (await extensions.preface(turn.user, () => true)).persons,
      strangers: async () => (await extensions.preface(turn.user, () => true)).strangers,
      tree: turn.id,
      above: async () => [],
      past: (known) => readPast(sql, { ...turn, isBranched: true }, known),
    };
  };
}
