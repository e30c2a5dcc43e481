/** What a turn asks for, looked at before it is opened: what cannot be had is refused, and nothing is stored. */
import type { ExternalTool, Turn } from "../../../kernel/plugin.ts";
import { allowsTool, scopesOf } from "../safety/scope.ts";
import { assertChoosable } from "./answer/choice.ts";
import type { ToolboxSources } from "./toolbox.ts";

export interface AdmissionParts {
  readonly sources: ToolboxSources;
  /** The caller's tools that a thread remembers. */
  toolsOf(user: string, thread: string): Promise<readonly ExternalTool[]>;
}

export type Admit = (turn: Turn) => Promise<void>;

export function createAdmission({ sources, toolsOf }: AdmissionParts): Admit {
  async function admitChoice(turn: Turn): Promise<void> {
    const { user, thread, toolChoice, tools, input } = turn;
    if (typeof toolChoice !== "object") return;
    const isRemembered = tools === undefined && thread !== undefined && input.type !== "message";
    const [installed, callers] = await Promise.all([
      sources.host?.list().catch(() => undefined) ?? [],
      isRemembered ? toolsOf(user, thread) : (tools ?? []),
    ]);
    // A host that cannot say what it has now may have it when the turn runs.
    if (installed === undefined) return;
    const ours = [...sources.own, ...installed].filter(({ name }) => allowsTool(scopesOf(turn), name));
    assertChoosable(toolChoice, new Set([...ours, ...callers].map(({ name }) => name)));
  }

  return async (turn) => {
    await admitChoice(turn);
  };
}
