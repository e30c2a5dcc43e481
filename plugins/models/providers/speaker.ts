/** Asks one endpoint: builds the prompt, reads the answer, and asks again without what the server refuses. */
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { AnswerPart, Endpoint } from "./language-model.ts";
import { createLessons } from "./lessons.ts";
import { buildPrompt } from "./prompt.ts";
import type { Quirks } from "./quirks.ts";
import { createReader } from "./reader.ts";
import { ALL_NEEDS, type Hint, missingNeed, type RefusedHint, refusedHint } from "./refusals.ts";
import type { Speak } from "./server.ts";
import { createThoughts } from "./thoughts.ts";

// A server that never stops pausing would be asked for ever.
const MAX_PAUSES = 20;

export function createSpeaker(endpoint: Endpoint, quirks: Quirks, lessons = createLessons()): Speak {
  const thoughts = createThoughts(quirks.thoughts);
  return async function* (request, abortSignal) {
    // A field that a request with tools may not have may be right in one without.
    const lessonOf = (hint: Hint) => `without ${hint}${request.tools.length > 0 ? ", with tools" : ""}`;
    const without = new Set([...quirks.hints].filter((hint) => lessons.has(lessonOf(hint))));
    const needs = new Set(ALL_NEEDS.filter((need) => lessons.has(`needs ${need}`)));
    const refused: RefusedHint[] = [];
    // What the model said before its server paused.
    const said: AnswerPart[] = [];
    const called: ToolCall[] = [];
    let pauses = 0;
    // Each round leaves out one hint more or adds a need, so there are no more rounds than those and pauses.
    for (;;) {
      const { options, hints } = buildPrompt(request, quirks, thoughts, without, needs);
      const prompt =
        said.length > 0 ? [...options.prompt, { role: "assistant" as const, content: said }] : options.prompt;
      let isPaused = false as boolean;
      const read = createReader((answer, isPause) => {
        said.push(...answer);
        isPaused = isPause && ++pauses <= MAX_PAUSES;
        if (!isPaused) thoughts.keep(request.user, said);
        return isPaused;
      }, called);
      let hasBegun = said.length > 0;
      try {
        for await (const parts of endpoint({ ...options, prompt, abortSignal })) {
          hasBegun = true;
          // Only now is it certain that the hints were the reason.
          for (const { hint, isUnknown } of refused.splice(0)) if (isUnknown) lessons.learn(lessonOf(hint));
          for (const need of needs) lessons.learn(`needs ${need}`, lessonOf("thoughts"));
          yield read(parts);
        }
        if (!isPaused) return;
      } catch (error) {
        const need = hasBegun ? undefined : missingNeed(error);
        if (need !== undefined && !needs.has(need)) {
          needs.add(need);
          without.delete("thoughts");
          continue;
        }
        const found = hasBegun ? undefined : refusedHint(error, hints);
        if (found === undefined) throw error;
        if (found.hint === "thoughts") thoughts.forget(request.user, request.messages);
        refused.push(found);
        without.add(found.hint);
      }
    }
  };
}
