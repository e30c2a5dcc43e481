/** Chooses the endpoint of a provider that a request goes to. */
import type { ModelRequest } from "../services.ts";
import { callErrorOf, refusalText } from "./explain.ts";
import { createLessons } from "./lessons.ts";
import { QUIRKS, quirksOfCompatible } from "./quirks.ts";
import type { ProviderSettings, Speak } from "./server.ts";
import { createSpeaker } from "./speaker.ts";

export async function connect(settings: ProviderSettings): Promise<Speak> {
  switch (settings.provider) {
    case "openai":
      return await connectOpenAI(settings);
    case "anthropic": {
      const { openAnthropic } = await import("./packages.ts");
      const quirks = { ...QUIRKS.anthropic, alwaysThinks: alwaysThinks(settings) };
      return createSpeaker(await openAnthropic(settings), quirks, settings.lessons);
    }
    default: {
      const { openChatCompletions } = await import("./chat-completions/endpoint.ts");
      const { provider, name } = settings;
      const quirks = provider === "ollama" ? QUIRKS.ollama : quirksOfCompatible(name);
      return createSpeaker(openChatCompletions(settings), quirks, settings.lessons);
    }
  }
}

/**
 * Chat completions, which every proxy of OpenAI's has. Only the Responses API returns a summary of what a model thought,
 * and takes tools of models from GPT-5.6 on. A server that says that a model is to be asked at the other one is right.
 */
async function connectOpenAI(settings: ProviderSettings): Promise<Speak> {
  const { openOpenAI } = await import("./packages.ts");
  const { name, tools, lessons = createLessons() } = settings;
  const endpoints = await openOpenAI(settings);
  const speakers: Readonly<Record<Door, Speak>> = {
    chat: createSpeaker(endpoints.chat, QUIRKS["openai-chat"], lessons),
    responses: createSpeaker(endpoints.responses, QUIRKS["openai-responses"], lessons),
  };
  return async function* (request, signal) {
    const taught = DOORS.find((door) => lessons.has(door));
    const door = taught ?? (tools === "responses" || needsResponses(name, request) ? "responses" : "chat");
    const other = door === "chat" ? "responses" : "chat";
    let hasBegun = false;
    try {
      for await (const parts of speakers[door](request, signal)) {
        hasBegun = true;
        yield parts;
      }
      return;
    } catch (error) {
      if (hasBegun || !pointsTo(other, error)) throw error;
    }
    for await (const parts of speakers[other](request, signal)) {
      // Only now is it certain that the door was the reason.
      lessons.learn(other, door);
      yield parts;
    }
  };
}

type Door = "chat" | "responses";
const DOORS: readonly Door[] = ["chat", "responses"];

function pointsTo(other: Door, error: unknown): boolean {
  const { statusCode } = callErrorOf(error);
  if (other === "chat") return statusCode === 404 || /chat[/ ]completions/i.test(refusalText(error));
  return /v1\/responses|responses (?:api|endpoint)/i.test(refusalText(error, 404));
}

function needsResponses(name: string, { generation }: ModelRequest): boolean {
  const [, major = 0, minor = 0] = /^gpt-(\d+)(?:\.(\d+))?/.exec(name)?.map(Number) ?? [];
  return generation?.reasoningSummary !== undefined || major > 5 || (major === 5 && minor > 5);
}

/** Of Claude's models the table does not know, those from the sixth generation on. */
function alwaysThinks({ name, levels }: ProviderSettings): boolean {
  const [, major = 0] = /^claude-[a-z]+-(\d+)/.exec(name)?.map(Number) ?? [];
  return levels === undefined ? major > 5 : !levels.includes("none");
}
