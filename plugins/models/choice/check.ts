/** Tries a model out with one tiny request, and says in words what came of it. */

import {
  type Model,
  type ModelRequest,
  type ModelTest,
  redact,
  type SettingValues,
  type StoredSettings,
} from "../../../kernel/kit.ts";
import { Fault, type Log, type Mask, reason } from "../../../kernel/plugin.ts";
import { listModels } from "../providers/offered.ts";
import type { ModelCheck } from "../services.ts";
import type { Prices } from "../spending/prices.ts";
import { chosenModels, endpointOf, readModelChoice } from "./choose.ts";

export interface CheckParts {
  readonly settings: StoredSettings;
  readonly builtin: Model;
  readonly prices: Prices;
  readonly mask: Mask;
  readonly log: Log;
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_LENGTH = 200;

const REQUEST: ModelRequest = {
  system: "You are being tested.",
  messages: [{ role: "user", text: "Reply with one word: ready" }],
  tools: [],
  temperature: undefined,
  // Enough for models that think first.
  generation: { maxOutputTokens: 256 },
};

export function createModelCheck({ settings, builtin, prices, mask, log }: CheckParts): ModelCheck {
  const choose = (values: SettingValues) => settings.preview("models", readModelChoice, values);

  async function ask(model: Model): Promise<Pick<ModelTest, "ok" | "message" | "code" | "answer">> {
    const { name, provider } = model.name;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      let text = "";
      for await (const parts of model.stream(REQUEST, signal)) {
        for (const part of parts) if (part.type === "text") text += part.delta;
        if (text.length >= MAX_ANSWER_LENGTH) break;
      }
      const answer = redact(mask, text.trim().slice(0, MAX_ANSWER_LENGTH));
      const said = answer === "" ? "answered" : `answered: ${answer}`;
      return { ok: true, message: `The model ${name} (${provider}) ${said}`, answer };
    } catch (error) {
      if (signal.aborted) {
        const message = `The model ${name} (${provider}) did not answer within ${TIMEOUT_MS / 1000} seconds.`;
        return { ok: false, code: "model_timeout", message };
      }
      const code = error instanceof Fault ? error.code : "model_error";
      const hint = code === "model_refused" ? " Check the model's name and the URL." : "";
      return { ok: false, code, message: redact(mask, reason(error)) + hint };
    }
  }

  return {
    async test(values) {
      const choice = await choose(values);
      const [model = builtin] = await chosenModels(choice, builtin, prices, log).current();
      if (model === builtin)
        return {
          ...{ ok: true, model: model.name, millis: 0, models: [] },
          message:
            "The built-in model answers. It knows dates, arithmetic, memory and how to use tools, and is not a language model.",
        };
      const start = performance.now();
      const endpoint = endpointOf({ ...choice, provider: model.name.provider as typeof choice.provider });
      const [came, models] = await Promise.all([ask(model), endpoint ? listModels(endpoint) : []]);
      return { ...came, model: model.name, millis: Math.round(performance.now() - start), models };
    },
    async list(values) {
      const endpoint = endpointOf(await choose(values));
      return endpoint === undefined ? [] : listModels(endpoint);
    },
  };
}
