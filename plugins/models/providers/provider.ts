/** Models of the network: what speaks with each is loaded when first asked, errors are put into words. */
import type { Model } from "../../../kernel/kit.ts";
import type { ModelName } from "../../../kernel/plugin.ts";
import type { Endpoint, ProviderName, Speak } from "./endpoint.ts";
import { explain } from "./explain.ts";
import { formatsOf, inputsOf } from "./inputs.ts";

export interface ProviderSettings extends Endpoint {
  readonly provider: ProviderName;
  readonly window: number;
  /** Where the operator says so; the model's name tells otherwise. */
  readonly takes?: Model["takes"] | undefined;
}

export function createProviderModel(settings: ProviderSettings): Model {
  const name: ModelName = { provider: settings.provider, name: settings.name };
  let loading: Promise<Speak> | undefined;

  return {
    name,
    window: settings.window,
    takes: settings.takes ?? inputsOf(settings.provider, settings.name),
    formats: formatsOf(settings.provider),
    async *stream(request, signal) {
      loading ??= load(settings);
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

async function load(settings: ProviderSettings): Promise<Speak> {
  switch (settings.provider) {
    case "openai":
      return (await import("./packages/speak.ts")).speakOpenAI(settings);
    case "anthropic":
      return (await import("./packages/speak.ts")).speakAnthropic(settings);
    default: {
      const { speakChatCompletions } = await import("./chat-completions/speak.ts");
      // Ollama does not read `tool_choice`.
      return speakChatCompletions(settings, { readsToolChoice: settings.provider !== "ollama" });
    }
  }
}
