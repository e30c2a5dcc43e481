/** What a turn asks for, looked at before it is opened: what cannot be had is refused, and nothing is stored. */
import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { ExternalTool, Turn } from "../../../kernel/plugin.ts";
import type { Models } from "../models/choose.ts";
import { allowedModels, allowsTool, scopesOf } from "../safety/scope.ts";
import { assertChoosable } from "./answer/choice.ts";
import { ableModels, bringsOnlyText } from "./answer/inputs.ts";
import type { ToolboxSources } from "./toolbox.ts";

export interface AdmissionParts {
  readonly sources: ToolboxSources;
  readonly models: Pick<Models, "current">;
  /** The caller's tools that a thread remembers. */
  toolsOf(user: string, thread: string): Promise<readonly ExternalTool[]>;
}

const MOST_SCHEMAS = 1000;

export type Admit = (turn: Turn) => Promise<void>;

export function createAdmission({ sources, models, toolsOf }: AdmissionParts): Admit {
  /** Digests of schemas that were used before: most callers send the same few again and again. */
  const usable = new LRUCache<string, true>({ max: MOST_SCHEMAS });

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

  async function admitFormat({ format }: Turn): Promise<void> {
    const { host } = sources;
    if (format?.type !== "json_schema" || host?.checkJson === undefined) return;
    const digest = createHash("sha256").update(JSON.stringify(format.schema)).digest("base64");
    if (usable.has(digest)) return;
    await host.checkJson(format.schema, null, { signal: new AbortController().signal });
    usable.set(digest, true);
  }

  async function admitInputs(turn: Turn): Promise<void> {
    if (bringsOnlyText(turn)) return;
    ableModels(allowedModels(await models.current(), scopesOf(turn)), turn);
  }

  return async (turn) => {
    await Promise.all([admitChoice(turn), admitFormat(turn), admitInputs(turn)]);
  };
}
