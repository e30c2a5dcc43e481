/** Decides which tools an answer may call: the caller's choice, and how many calls of ours are left. */

import { Fault, type ToolCall, type ToolOutcome } from "../../../../kernel/plugin.ts";
import type { ModelTool, ToolChoice } from "../../../models/services.ts";
import type { AnswerPolicy } from "../../services.ts";
import type { Toolbox } from "../toolbox.ts";

interface Offer {
  readonly tools: readonly ModelTool[];
  readonly toolChoice?: ToolChoice;
}

export type Choice = ReturnType<typeof createChoice>;

export function createChoice(
  { toolChoice, maxToolCalls = Number.POSITIVE_INFINITY }: AnswerPolicy = {},
  toolbox: Pick<Toolbox, "isExternal">,
) {
  let isFirst = true;
  let left = maxToolCalls;
  const names = typeof toolChoice === "object" ? new Set(toolChoice.names) : undefined;

  return {
    /** The names that may be called, where the caller chose some. */
    names,
    /** For the next answer, of the tools that its model is offered. */
    offer(): (tools: readonly ModelTool[]) => Offer {
      // The required call was made in the first answer: a model that had to call again would never finish.
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

    /** Told of each call of an answer; returns the outcome of one that must not be made. */
    refuse({ name }: ToolCall): ToolOutcome | undefined {
      if (toolChoice === "none") return refusal("No tool may be called in this request. Answer without.");
      if (names?.has(name) === false)
        return refusal(`Only these tools may be called in this request: ${[...names].join(", ")}.`);
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
export function assertChoosable(names: readonly string[], known: ReadonlySet<string>): void {
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined && names.length > 0) return;
  const message =
    unknown === undefined ? "No tool is named to choose from." : `There is no tool "${unknown}" to choose.`;
  throw new Fault("invalid", "unknown_tool_choice", message, { param: "tool_choice" });
}
