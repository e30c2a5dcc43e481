/** Models of the network: what speaks with each is loaded when first asked, errors are put into words. */

import { estimateText } from "../../../kernel/kit/turns.ts";
import type { ModelName } from "../../../kernel/plugin.ts";
import type { Model, ModelRequest } from "../services.ts";
import { explain } from "./explain.ts";
import type { ProviderSettings, Speak } from "./server.ts";

/** Families that see, as their names tell on any server. */
const SEES =
  /vision|llava|pixtral|moondream|vl(?![a-z])|gpt-4o|gpt-4\.1|gpt-[5-9]|claude|gemini|gemma-?[3-9]|llama-?4/i;

const MIN_JUDGED_TOKENS = 4000;

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
        for await (const parts of speak(request, signal)) {
          const usage = settings.onCut && parts.find((part) => part.type === "usage");
          if (usage) reportCut(settings, request, usage.inputTokens);
          yield parts;
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw explain(error, name, request.format);
      }
    },
  };
}

/** Tokens are estimated by bytes, so only what is far too little is sure. */
function reportCut(
  { onCut }: ProviderSettings,
  { system, messages, tools }: ModelRequest,
  read: number,
): void {
  const texts = messages.map((message) => (message.role === "tool" ? message.output : message.text));
  const sent = [system, ...texts, JSON.stringify(tools)].reduce((sum, text) => sum + estimateText(text), 0);
  if (sent > MIN_JUDGED_TOKENS && read > 0 && read < sent * 0.4) onCut?.(read, sent);
}

/** For a model that cannot call any: it would answer with nonsense, or not at all. */
function withoutTools({ toolChoice: _, parallelCalls: __, ...request }: ModelRequest): ModelRequest {
  return { ...request, tools: [] };
}

function inputsOf({ provider, name }: ProviderSettings): Model["takes"] {
  // The model's name does not tell which server it is, and so whether it accepts files.
  if (provider !== "openai" && provider !== "anthropic") return new Set(SEES.test(name) ? ["image"] : []);
  return new Set(/audio/i.test(name) ? ["image", "file", "audio"] : ["image", "file"]);
}
