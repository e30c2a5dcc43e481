/** Checks a turn's request before it is opened: what cannot be had is refused, and nothing is stored. */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { Fault, type ModelName, type Services } from "../../../kernel/plugin.ts";
import { allowsTool, scopesOf } from "../safety/scope.ts";
import type { ExternalTool, Turn } from "../services.ts";
import { fitTexts } from "../threads/attachments/fitting.ts";
import { assertChoosable } from "./answer/choice.ts";
import { ableModels, bringsOnlyText } from "./answer/inputs.ts";
import type { ToolSources } from "./toolbox.ts";

export interface AdmissionParts {
  readonly sources: ToolSources;
  readonly models: Pick<Services["models"], "chain" | "choose">;
  chosenFor(turn: Turn): Promise<ModelName | undefined>;
  toolsOf(user: string, thread: string): Promise<readonly ExternalTool[]>;
}

const MAX_SCHEMAS = 1000;

/** Returns the turn as it can run, with long files cut to what fits. */
export type Admit = (turn: Turn) => Promise<Turn>;

export function createAdmission(parts: AdmissionParts): Admit {
  const { sources, models, toolsOf } = parts;
  /** Digests of schemas that were used before: most callers send the same few again and again. */
  const usable = new LRUCache<string, true>({ max: MAX_SCHEMAS });

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
    const ours = [...sources.own(), ...installed].filter(({ name }) => allowsTool(scopesOf(turn), name));
    assertChoosable(toolChoice.names, new Set([...ours, ...callers].map(({ name }) => name)));
  }

  async function admitFormat({ format }: Turn): Promise<void> {
    const { host } = sources;
    if (format?.type !== "json_schema" || host?.checkJson === undefined) return;
    const digest = hash("sha256", JSON.stringify(format.schema), "base64");
    if (usable.has(digest)) return;
    await host.checkJson(format.schema, null, { signal: new AbortController().signal });
    usable.set(digest, true);
  }

  async function admitInputs(turn: Turn): Promise<Turn> {
    if (bringsOnlyText(turn) && !turn.attached?.length) return turn;
    const scopes = scopesOf(turn);
    const chain = await models.chain(await parts.chosenFor(turn), { scopes, capUsd: undefined });
    const [model] = ableModels(chain, turn);
    return model === undefined ? turn : fitTexts(turn, model);
  }

  /** A new thread may begin with a model of its own. */
  async function admitModel(turn: Turn): Promise<Turn> {
    if (turn.model === undefined) return turn;
    if (turn.thread !== undefined) {
      const message = "Only a new thread begins with a model: change that of a thread itself.";
      throw new Fault("invalid", "model_on_thread", message, { param: "model" });
    }
    return { ...turn, model: await models.choose(turn.model, turn.scope) };
  }

  return async (given) => {
    const turn = await admitModel(given);
    const [admitted] = await Promise.all([admitInputs(turn), admitChoice(turn), admitFormat(turn)]);
    return admitted;
  };
}
