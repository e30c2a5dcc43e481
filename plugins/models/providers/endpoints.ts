/** Chooses the endpoint of a provider that a request goes to. */
import type { ModelRequest } from "../services.ts";
import { callErrorOf } from "./explain.ts";
import { QUIRKS } from "./quirks.ts";
import type { ProviderSettings, Speak } from "./server.ts";
import { createSpeaker } from "./speaker.ts";

export async function connect(settings: ProviderSettings): Promise<Speak> {
  switch (settings.provider) {
    case "openai":
      return await connectOpenAI(settings);
    case "anthropic": {
      const { openAnthropic } = await import("./packages.ts");
      return createSpeaker(await openAnthropic(settings), QUIRKS.anthropic);
    }
    default: {
      const { openChatCompletions } = await import("./chat-completions/endpoint.ts");
      return createSpeaker(openChatCompletions(settings), QUIRKS[settings.provider]);
    }
  }
}

/**
 * Chat completions, which every proxy of OpenAI's has. Only the Responses API returns a summary of what a model thought,
 * and lets models from GPT-5.6 on think if there are tools.
 */
async function connectOpenAI(settings: ProviderSettings): Promise<Speak> {
  const { openOpenAI } = await import("./packages.ts");
  const endpoints = await openOpenAI(settings);
  const chat = createSpeaker(endpoints.chat, QUIRKS["openai-chat"]);
  const responses = createSpeaker(endpoints.responses, QUIRKS["openai-responses"]);
  let hasResponses = true;
  return async function* (request, signal) {
    if (hasResponses && needsResponses(settings.name, request)) {
      try {
        return yield* responses(request, signal);
      } catch (error) {
        if (callErrorOf(error).statusCode !== 404) throw error;
        hasResponses = false;
      }
    }
    yield* chat(request, signal);
  };
}

function needsResponses(name: string, { generation }: ModelRequest): boolean {
  return generation?.reasoningSummary !== undefined || /^gpt-5\.(?:[6-9]|\d\d)/.test(name);
}
