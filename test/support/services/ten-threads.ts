/** Ten threads of the built-in model, and a scripted model that answers nearly as that one did. */
import { expect } from "vitest";
import type { ChatRequest, ModelReply } from "../servers/model-server.ts";
import { bootAgent, message, scriptedModel, type TestTool } from "./agent.ts";
import { weather } from "./builtin-tools.ts";

export const CITIES = ["Berlin", "Oslo", "Rome", "Lima", "Cairo", "Paris", "Tokyo", "Quito"];
export const ASKED = [
  ...CITIES.map((city) => `What is the weather in ${city}?`),
  "Hello",
  "What can you do?",
];
export const USER = "operator";

/** A home with ten threads, each with one turn of the built-in model, and the calls that were made of the tool. */
export async function tenThreads(more: Partial<TestTool> = {}) {
  const calls: unknown[] = [];
  const tools = {
    weather: {
      ...{ description: weather.description, schema: weather.schema, ...more },
      run: (params: unknown) => ({ status: "ok" as const, output: `{"temperature": ${calls.push(params)}}` }),
    },
  };
  const { service, home, stop } = await bootAgent({ tools });
  const threads: string[] = [];
  for (const text of ASKED) {
    const turn = await service("agent").run({ user: USER, channel: "test", input: message(text) });
    expect((await turn.record).status).toMatch(/completed|waiting/);
    threads.push(turn.thread);
  }
  await stop();
  const model = await scriptedModel();
  model.otherwise(answerAsBuiltin);
  const variables = { MODEL_PROVIDER: "openai-compatible" };
  const boot = (others = {}) => bootAgent({ home, tools, model, variables: { ...variables, ...others } });
  return { home, threads, calls, model, boot };
}

/** Calls the tool as the built-in model did; for Rome with other arguments, and for Lima not at all. */
export function answerAsBuiltin({ messages }: ChatRequest): ModelReply {
  const usage = { input: 1000, output: 50 };
  const last = messages.at(-1);
  const said = last?.content as string;
  const city = CITIES.find((name) => said.includes(`in ${name}?`));
  if (last?.role === "tool") return { text: "It is mild.", usage };
  if (city === undefined || city === "Lima") return { text: `An answer to: ${said}`, usage };
  const params = { city, action: "get_current", ...(city === "Rome" && { units: "imperial" }) };
  return { calls: [{ name: "weather", arguments: params }], usage };
}
