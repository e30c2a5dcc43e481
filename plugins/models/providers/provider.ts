/** Models of the network: what speaks with each is loaded when first asked, errors are put into words. */

import type { ModelName } from "../../../kernel/plugin.ts";
import type { Model, ModelRequest } from "../services.ts";
import { explain } from "./explain.ts";
import type { ProviderSettings, Speak } from "./server.ts";

/** Families that see, as their names tell on any server. */
const SEES =
  /vision|llava|pixtral|moondream|vl(?![a-z])|gpt-4o|gpt-4\.1|gpt-[5-9]|claude|gemini|gemma-?[3-9]|llama-?4/i;

export function createProviderModel(settings: ProviderSettings): Model {
  const name: ModelName = { provider: settings.provider, name: settings.name };
  let loading: Promise<Speak> | undefined;

  return {
    name,
    window: settings.window,
    takes: settings.takes ?? inputsOf(settings),
    // Anthropic's models are held to a schema, and to nothing without one.
    formats: new Set(settings.provider === "anthropic" ? ["json_schema"] : ["json_object", "json_schema"]),
    async *stream(asked, signal) {
      const request = settings.tools === "none" ? withoutTools(asked) : asked;
      loading ??= import("./endpoints.ts").then(({ connect }) => connect(settings));
      try {
        const speak = await loading;
        yield* speak(request, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw explain(error, name, request.format);
      }
    },
  };
}

/** For a model that cannot call any: it would answer with nonsense, or not at all. */
function withoutTools({ toolChoice: _, parallelCalls: __, ...request }: ModelRequest): ModelRequest {
  return { ...request, tools: [] };
}

function inputsOf({ provider, name }: ProviderSettings): Model["takes"] {
  // The model's name does not tell which server it is, and so whether it accepts files.
  if (provider === "ollama" || provider === "openai-compatible")
    return new Set(SEES.test(name) ? ["image"] : []);
  return new Set(/audio/i.test(name) ? ["image", "file", "audio"] : ["image", "file"]);
}
