/** Checks a turn's request before it is opened: what cannot be had is refused, and nothing is stored. */
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { giveWay } from "../../../kernel/kit/concurrency.ts";
import { Fault, type ModelName, type Services } from "../../../kernel/plugin.ts";
import type { UserStorage } from "../../store/services.ts";
import { allowsTool, refuseWidening, scopesOf } from "../safety/scope.ts";
import type { Turn } from "../services.ts";
import { fitTexts } from "../threads/attachments/room.ts";
import type { Ledger } from "../threads/ledger.ts";
import { assertChoosable } from "./answer/choice.ts";
import { ableModels, bringsOnlyText } from "./answer/inputs.ts";
import type { ToolSources } from "./toolbox.ts";

export interface AdmissionParts {
  readonly sources: ToolSources;
  readonly models: Pick<Services["models"], "name" | "chain" | "choose">;
  readonly storage: Pick<UserStorage, "take">;
  readonly ledger: Pick<Ledger, "thread" | "tools">;
}

export interface Admitted {
  /** As it can run, with long files cut to what fits. */
  readonly turn: Turn;
  readonly model: ModelName;
  /** In bytes; 0 if it counts nothing against its user's storage. */
  readonly size: number;
}

export type Admit = (turn: Turn) => Promise<Admitted>;

const MAX_SCHEMAS = 1000;
const MAX_MESSAGE_LENGTH = 4_000_000;

export function createAdmission({ sources, models, storage, ledger }: AdmissionParts): Admit {
  /** Digests of schemas that were used before: most callers send the same few again and again. */
  const usable = new LRUCache<string, true>({ max: MAX_SCHEMAS });

  /** A new thread may begin with a model of its own. */
  async function withModel(turn: Turn): Promise<Turn> {
    const model = turn.answer?.model;
    if (model === undefined) return turn;
    if (turn.thread !== undefined) {
      const message = "Only a new thread begins with a model: change that of a thread itself.";
      throw new Fault("invalid", "model_on_thread", message, { param: "model" });
    }
    return { ...turn, answer: { ...turn.answer, model: await models.choose(model, turn.scope) } };
  }

  /** The models that would answer it, best first. */
  async function chainFor(turn: Turn) {
    const { user, thread } = turn;
    const chosen = thread === undefined ? chosenFor(turn) : (await ledger.thread(user, thread))?.model;
    return models.chain(chosen, scopesOf(turn));
  }

  async function fitInputs(turn: Turn): Promise<Turn> {
    if (bringsOnlyText(turn) && !turn.attached?.length) return turn;
    const [model] = ableModels(await chainFor(turn), turn);
    return model === undefined ? turn : fitTexts(turn, model);
  }

  async function refuseChoice(turn: Turn): Promise<void> {
    const { user, thread, input } = turn;
    const { toolChoice, tools } = turn.answer ?? {};
    if (typeof toolChoice !== "object") return;
    const isRemembered = tools === undefined && thread !== undefined && input.type !== "message";
    const [installed, callers] = await Promise.all([
      sources.host?.list().catch(() => undefined) ?? [],
      isRemembered ? ledger.tools(user, thread) : (tools ?? []),
    ]);
    // A host that cannot say what it has now may have it when the turn runs.
    if (installed === undefined) return;
    const ours = [...sources.own(), ...installed].filter(({ name }) => allowsTool(scopesOf(turn), name));
    assertChoosable(toolChoice.names, new Set([...ours, ...callers].map(({ name }) => name)));
  }

  async function refuseFormat({ answer }: Turn): Promise<void> {
    const format = answer?.format;
    const { host } = sources;
    if (format?.type !== "json_schema" || host?.checkJson === undefined) return;
    const digest = hash("sha256", JSON.stringify(format.schema), "base64");
    if (usable.has(digest)) return;
    await host.checkJson(format.schema, null, { signal: new AbortController().signal });
    usable.set(digest, true);
  }

  /** The model that it is opened with. Rejects with a `Fault` if its token allows none that is here. */
  async function modelOf(turn: Turn): Promise<ModelName> {
    refuseWidening(turn);
    if (scopesOf(turn).length === 0)
      return (turn.thread === undefined ? chosenFor(turn) : undefined) ?? models.name();
    const [model] = await chainFor(turn);
    return model?.name ?? models.name();
  }

  return async (given) => {
    assertReadable(given);
    const size = isNewText(given) ? sizeOf(given) : 0;
    await giveWay(size);
    if (size > 0) await storage.take(given.user, size);
    const wanted = await withModel(given);
    const [turn] = await Promise.all([fitInputs(wanted), refuseChoice(wanted), refuseFormat(wanted)]);
    return { turn, model: await modelOf(turn), size };
  };
}

/** What `withModel` has chosen. */
const chosenFor = ({ answer }: Turn) => answer?.model as ModelName | undefined;

/** An answer at a gate is short, and the turn that waits for it may come to its end. */
const isNewText = ({ input, keeping }: Turn): boolean =>
  !keeping?.ephemeral &&
  !keeping?.isCounted &&
  (input.type === "message" || input.type.startsWith("tool_output"));

function sizeOf({ input, preamble, answer, attached = [] }: Turn): number {
  const { history, instructions, context, outside } = preamble ?? {};
  const told = JSON.stringify([input, history, instructions, context, outside, answer?.tools]);
  return attached.reduce((sum, { data }) => sum + data.byteLength, Buffer.byteLength(told));
}

/** Refused before it is stored: no model's window takes a longer one. */
function assertReadable({ input, preamble = {} }: Turn): void {
  const { instructions = "", instructionsOnce = "", history = [] } = preamble;
  const said = input.type === "message" ? input.text.length : 0;
  const lengths = history.map((item) => (item.type === "message" ? item.text.length : 0));
  const own = said + instructions.length + instructionsOnce.length;
  if (lengths.reduce((longest, length) => Math.max(longest, length), own) <= MAX_MESSAGE_LENGTH) return;
  const words = `A message may have at most ${MAX_MESSAGE_LENGTH} characters, with its instructions. Send the text as a file, or in parts.`;
  throw new Fault("invalid", "message_too_long", words, { param: "message" });
}
