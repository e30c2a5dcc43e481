/** Answers the calls of a replay from what was recorded when the turn ran: nothing is executed. */
import { isDeepStrictEqual } from "node:util";
import { tryJson } from "../../../kernel/kit/text.ts";
import { Fault, type ToolCall, type TurnItem } from "../../../kernel/plugin.ts";
import type { OwnTool } from "../services.ts";
import type { Toolbox } from "../turn/toolbox.ts";

type Result = Extract<TurnItem, { type: "tool_result" }>;

export const DIFFERS = "differs_here";

export function createRecordedCalls(items: readonly TurnItem[], own: readonly OwnTool[]) {
  const unanswered: ToolCall[] = [];
  const recorded: { readonly call: ToolCall; readonly params: unknown; readonly result: Result }[] = [];
  for (const item of items) {
    if (item.type === "tool_call") unanswered.push(item.call);
    if (item.type !== "tool_result") continue;
    const at = unanswered.findIndex(({ id }) => id === item.call);
    const [call] = at === -1 ? [] : unanswered.splice(at, 1);
    if (call) recorded.push({ call, params: readParams(call), result: item });
  }
  const answered = new Map<string, Result>();
  let questions = 0;

  /** Whether the person would be asked first. A tool that always asks may prepare its question, such as build what it proposes: it is not planned. */
  async function asks(toolbox: Toolbox, call: ToolCall): Promise<boolean> {
    if (own.some(({ name, needsPerson }) => name === call.name && needsPerson)) return true;
    return (await toolbox.plan(call, undefined)).type === "ask";
  }

  /** A call that is made again gets the next result of the same, and then the last one again. */
  function take(call: ToolCall): Result {
    const params = readParams(call);
    const same = recorded.filter(
      (other) => other.call.name === call.name && isDeepStrictEqual(other.params, params),
    );
    const used = new Set(answered.values());
    const found = same.find(({ result }) => !used.has(result)) ?? same.at(-1);
    if (found !== undefined) return found.result;
    throw new Fault("turn", DIFFERS, `There is no recorded result of ${call.name} with ${call.params}.`);
  }

  return {
    /** How many calls the person would have been asked about first. */
    questions: () => questions,
    /** The files that came with the recorded result of this call. */
    attachmentsOf: (call: string) => answered.get(call)?.attachments,
    /** The same tools, planned as ever, so that questions are counted, and then answered without being called. */
    replace: (toolbox: Toolbox): Toolbox => ({
      ...toolbox,
      isExternal: () => false,
      async plan(call) {
        if (await asks(toolbox, call)) questions++;
        const result = take(call);
        answered.set(call.id, result);
        const { outcome, origins } = result;
        return {
          type: "run",
          writes: false,
          run: async () => ({ ...outcome, ...(origins && { origins }) }),
        };
      },
    }),
  };
}

export type RecordedCalls = ReturnType<typeof createRecordedCalls>;

/** Two models write the same arguments with other white space, or in another order. */
const readParams = ({ params }: ToolCall): unknown => tryJson(params) ?? params;
