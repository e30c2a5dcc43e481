/** Has a model put a transcript into a few paragraphs. */
import type { Model, TokenCount } from "../../../kernel/kit.ts";
import { SUMMARY_SYSTEM } from "./prompt.ts";
import { digest } from "./window.ts";

export interface SummaryRun {
  readonly signal: AbortSignal;
  /** Called with everything that comes from the model. */
  alive?(): void;
  count(tokens: TokenCount): void | Promise<void>;
}

/** A digest where the model has nothing to say. Throws what the model throws. */
export async function summarise(
  model: Model,
  transcript: string,
  { signal, alive, count }: SummaryRun,
): Promise<string> {
  const request = {
    system: SUMMARY_SYSTEM,
    messages: [{ role: "user", text: transcript } as const],
    tools: [],
    temperature: undefined,
  };
  let text = "";
  for await (const parts of model.stream(request, signal)) {
    alive?.();
    for (const part of parts) {
      if (part.type === "text") text += part.delta;
      else if (part.type === "usage") await count(part);
    }
  }
  return text.trim() === "" ? digest(transcript) : text;
}
