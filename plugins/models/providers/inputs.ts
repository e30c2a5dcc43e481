/** What a model can be shown besides text, and which formats it can be asked for: by its provider and its name. */
import type { Format, InputKind } from "../../../kernel/kit.ts";
import type { Env } from "../../../kernel/plugin.ts";
import type { ProviderName } from "./endpoint.ts";

type Inputs = ReadonlySet<InputKind>;

const KINDS: ReadonlySet<string> = new Set<InputKind>(["image", "file", "audio"]);
/** Families that see, as their names tell on any server. */
const SEES =
  /vision|llava|pixtral|moondream|vl(?![a-z])|gpt-4o|gpt-4\.1|gpt-[5-9]|claude|gemini|gemma-?[3-9]|llama-?4/i;

/** What the operator says of the model; undefined where the name has to tell. */
export function readInputs(env: Env): Inputs | undefined {
  const name = "MODEL_INPUTS";
  const given = env.list(
    name,
    "What the model takes (text,image,audio,file), if it is not known from the name",
  );
  const kinds = given.filter((kind) => kind !== "text");
  if (kinds.some((kind) => !KINDS.has(kind))) env.refuse(name, "a list of text, image, audio, file");
  return given.length === 0 ? undefined : new Set(kinds as InputKind[]);
}

export function inputsOf(provider: ProviderName, name: string): Inputs {
  const hears: readonly InputKind[] = /audio/i.test(name) ? ["audio"] : [];
  // Which server it is, and so whether it takes files, does not show in a model's name.
  if (provider === "ollama" || provider === "openai-compatible")
    return new Set(SEES.test(name) ? ["image"] : []);
  return new Set(["image", "file", ...hears]);
}

export function formatsOf(provider: ProviderName): ReadonlySet<Format["type"]> {
  // Anthropic's models are held to a schema, and to nothing without one.
  return new Set(provider === "anthropic" ? ["json_schema"] : ["json_object", "json_schema"]);
}
