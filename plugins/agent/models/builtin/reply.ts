/** What the built-in model answers with: words, calls, and what the words asked. */
import type { ModelTool } from "../model.ts";
import type { Filled } from "./fill.ts";
import type { Candidate } from "./match.ts";
import type { Branch, Params } from "./schema.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly params: Params }[];
  /** What the text asked for; the next message may answer it. */
  readonly pending?: Pending;
}

export type Pending =
  | { readonly type: "missing"; readonly tool: ModelTool; readonly branch: Branch; readonly filled: Filled }
  | { readonly type: "choice"; readonly candidates: readonly Candidate[] }
  | { readonly type: "offer"; readonly fact: string };

/** The call of a tool, where it is there. */
export function call(tools: readonly ModelTool[], name: string, params: Params): Reply | undefined {
  return has(tools, name) ? { text: "", calls: [{ name, params }] } : undefined;
}

export function has(tools: readonly ModelTool[], name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

export function say(text: string): Reply {
  return { text, calls: [] };
}
