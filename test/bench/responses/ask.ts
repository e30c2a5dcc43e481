/** The model asked through its provider's package and nothing else: what no turn can be faster than. */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

const [modelUrl, callers, requests] = process.argv.slice(2) as [string, string, string];
const model = createOpenAICompatible({ baseURL: modelUrl, name: "bench", includeUsage: true }).chatModel(
  "scripted",
);
const prompt = [
  { role: "system" as const, content: "You are an agent that answers in few words." },
  { role: "user" as const, content: [{ type: "text" as const, text: "Where is order 7?" }] },
];

async function ask(): Promise<void> {
  const { stream } = await model.doStream({ prompt });
  for await (const part of stream) if (part.type === "error") throw part.error;
}

process.on("message", async () => {
  let left = Number(requests);
  const began = performance.now();
  await Promise.all(
    Array.from({ length: Number(callers) }, async () => {
      while (left-- > 0) await ask();
    }),
  );
  process.send?.({ perSecond: (Number(requests) / (performance.now() - began)) * 1000 });
});
process.on("disconnect", () => process.exit());
process.send?.({ url: modelUrl });
