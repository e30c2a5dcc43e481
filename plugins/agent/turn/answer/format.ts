/** Holds an answer to its format: models that support one are given it, others are told, and the text is checked. */

import type { Tools } from "../../../../host/services.ts";
import { Fault } from "../../../../kernel/plugin.ts";
import type { Format, Model, ModelMessage } from "../../../models/services.ts";

export type AnswerFormat = ReturnType<typeof createFormat>;

interface Judged {
  /** The text that the caller gets. */
  readonly text: string;
  /** In words; none where it is what was asked for. */
  readonly mistakes: readonly string[];
}

const MAX_ANSWER_LENGTH = 1 << 20;
const SHOWN_MISTAKES = 3;
/** Any other server may take the wish and ignore it. */
const KEEPS_WORD: ReadonlySet<string> = new Set(["openai", "anthropic"]);

export function createFormat(format: Format, checkJson: Tools["checkJson"]) {
  return {
    canBeAskedOf: (model: Model) => model.formats.has(format.type),
    /** Whether it then gives it: its words need not be held back until they have been looked at. */
    isKeptBy: (model: Model | undefined) =>
      model?.formats.has(format.type) === true && KEEPS_WORD.has(model.name.provider),
    /** For a model that cannot be asked for it. */
    words: wordsFor(format),
    /** `wasHeld`: nobody has heard it yet, so that what a model put around it can go. */
    async judge(given: string, wasHeld: boolean, signal: AbortSignal): Promise<Judged> {
      const text = wasHeld ? withoutFence(given) : given;
      if (text.length > MAX_ANSWER_LENGTH) return { text, mistakes: ["it is longer than 1 MiB"] };
      let value: unknown;
      try {
        value = JSON.parse(text);
      } catch (error) {
        return { text, mistakes: [`it is not JSON: ${(error as Error).message}`] };
      }
      if (format.type === "json_object") {
        const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
        return { text, mistakes: isObject ? [] : ["it is not a JSON object"] };
      }
      return { text, mistakes: (await checkJson?.(format.schema, value, { signal })) ?? [] };
    },
  };
}

function wordsFor(format: Format): string {
  const alone = "Answer with JSON alone: nothing before or after it, and no Markdown fence around it.";
  if (format.type === "json_object") return `${alone} It must be one JSON object.`;
  const what = format.description === undefined ? "" : ` It is: ${format.description}`;
  return `${alone} It must match this JSON Schema, which is named ${format.name}.${what}\n${JSON.stringify(format.schema)}`;
}

/** Models like to wrap JSON as they would for people. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  const start = trimmed.indexOf("\n");
  const isFenced = trimmed.startsWith("```") && trimmed.endsWith("```") && start !== -1;
  return isFenced ? trimmed.slice(start, -3).trim() : trimmed;
}

/** Shows a model what was wrong with its answer, and asks once more. */
export function correction(text: string, mistakes: readonly string[]): readonly ModelMessage[] {
  const wrong = `Your answer does not fit the format that was asked for: ${mistakes.join("; ")}. Answer again with the corrected JSON alone.`;
  return [
    { role: "assistant", text, calls: [] },
    { role: "user", text: wrong },
  ];
}

export function misformatted(mistakes: readonly string[]): Fault {
  const first = mistakes.slice(0, SHOWN_MISTAKES).join("; ");
  const message = `The model's answer does not fit the format that was asked for: ${first}.`;
  return new Fault("turn", "invalid_format", message);
}
