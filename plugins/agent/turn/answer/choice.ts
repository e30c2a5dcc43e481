/** Which tools an answer may call, as the request has it: the caller's choice, and how many calls of ours are left. */

import type { ModelTool, ToolChoice } from "../../../../kernel/kit.ts";
import { Fault, type ToolCall, type ToolOutcome, type Turn } from "../../../../kernel/plugin.ts";
import type { Toolbox } from "../toolbox.ts";

/** What a model is offered for one answer. */
export interface Offer {
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
}

export interface Choice {
  /** The names that may be called, where the caller chose some. */
  readonly names: ReadonlySet<string> | undefined;
  /** For the next answer, of the tools that its model is offered. */
  offer(): (tools: readonly ModelTool[]) => Offer;
  /** Told of each call of an answer; the outcome of one that must not be made. */
  refuse(call: ToolCall): ToolOutcome | undefined;
}

export function createChoice(
  { toolChoice, maxToolCalls = Number.POSITIVE_INFINITY }: Pick<Turn, "toolChoice" | "maxToolCalls">,
  toolbox: Pick<Toolbox, "isExternal">,
): Choice {
  let isFirst = true;
  let left = maxToolCalls;
  const names = typeof toolChoice === "object" ? new Set(toolChoice.names) : undefined;

  return {
    names,
    offer() {
      // What has to be called was called in the first answer: a model that had to go on would never come to an end.
      const isRequired =
        isFirst && (typeof toolChoice === "object" ? toolChoice.mode : toolChoice) === "required";
      isFirst = false;
      const mode = isRequired ? "required" : "auto";
      return (given) => {
        if (toolChoice === "none") return { tools: [] };
        const tools = left > 0 ? given : given.filter(({ name }) => toolbox.isExternal(name));
        if (names === undefined)
          return tools.length === 0 || !toolChoice ? { tools } : { tools, toolChoice: mode };
        const offered = tools.flatMap(({ name }) => (names.has(name) ? name : []));
        return offered.length === 0 ? { tools: [] } : { tools, toolChoice: { mode, names: offered } };
      };
    },

    refuse({ name }) {
      if (toolChoice === "none") return refusal("No tool may be called in this request. Answer without.");
      if (names?.has(name) === false)
        return refusal(`Of the tools only these may be called in this request: ${[...names].join(", ")}.`);
      if (toolbox.isExternal(name) || left-- > 0) return undefined;
      return refusal(
        `This request allows ${maxToolCalls} tool calls, which have been made. Answer without more.`,
      );
    },
  };
}

function refusal(message: string): ToolOutcome {
  return { status: "error", code: "not_allowed", message };
}

/** `known`: the names of all tools that the turn can call. */
export function assertChoosable(choice: ToolChoice | undefined, known: ReadonlySet<string>): void {
  if (typeof choice !== "object") return;
  const unknown = choice.names.find((name) => !known.has(name));
  if (unknown !== undefined || choice.names.length === 0)
    throw new Fault(
      "invalid",
      "unknown_tool_choice",
      unknown === undefined ? "No tool is named to choose from." : `There is no tool "${unknown}" to choose.`,
      { param: "tool_choice" },
    );
}
