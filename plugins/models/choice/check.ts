/** Tests the configured model: with one tiny request, or only by asking its server for the models it offers. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { localKind } from "../../../kernel/kit/outbound.ts";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { redact } from "../../../kernel/kit/secrets.ts";
import {
  type DiagnoseContext,
  Fault,
  type Finding,
  type Log,
  type Mask,
  reason,
} from "../../../kernel/plugin.ts";
import type { ModelRow, ModelTable } from "../../home/services.ts";
import type { SettingValues, StoredSettings } from "../../store/services.ts";
import { findLocalServers, listModels, readLoaded } from "../providers/facts.ts";
import { createLessons } from "../providers/lessons.ts";
import { askServer, type Server } from "../providers/server.ts";
import type { Model, ModelCheck, ModelRequest, ModelTest } from "../services.ts";
import { type Prices, tablesOf } from "../spending/prices.ts";
import { createLookup, dayIn, retiresBy } from "../table/lookup.ts";
import { chosenModels, configuredServer, type ModelChoice, readModelChoice, smallWindow } from "./choose.ts";
import { createDefaults, KEPT_DEFAULTS, WARN_DAYS } from "./default-model.ts";

export interface CheckParts {
  isMissing(): boolean;
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

export function createModelCheck({
  settings,
  builtin,
  prices,
  mask,
  log,
  isMissing,
}: CheckParts): ModelCheck {
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
    isMissing,
    findLocal: findLocalServers,
    async test(values) {
      const choice = await choose(values);
      const [model = builtin] = await chosenModels(choice, {
        ...{ builtin, prices, log, say() {} },
        defaults: createDefaults(prices, undefined, () => {}),
        lessonsOf: () => createLessons(),
      }).current();
      if (model === builtin)
        return {
          ...{ ok: true, model: model.name, millis: 0, models: [] },
          message:
            "The built-in model answers. It knows dates, arithmetic, memory and how to use tools, and is not a language model.",
        };
      const start = performance.now();
      const server = configuredServer({ ...choice, provider: model.name.provider as typeof choice.provider });
      const [came, models] = await Promise.all([ask(model), server ? listModels(server) : []]);
      return { ...came, model: model.name, millis: Math.round(performance.now() - start), models };
    },
    async reach(values) {
      const server = configuredServer(await choose(values));
      if (server === undefined) return { models: [] };
      const [problem, models] = await Promise.all([problemOf(server), listModels(server)]);
      return { models, ...(problem !== undefined && { problem: redact(mask, problem) }) };
    },
  };
}

/** For `postern doctor`: does the configured model's server answer, does it take our key, and does the model retire soon? */
export async function diagnoseModel({
  config: { choice },
  home,
  stored,
}: Pick<DiagnoseContext<{ readonly choice: ModelChoice }>, "config" | "home" | "stored">): Promise<
  readonly Finding[]
> {
  if (choice.provider === "builtin")
    return [finding(true, "the built-in model answers: MODEL_PROVIDER is builtin")];
  const server = configuredServer(choice);
  if (server === undefined)
    return [finding(true, "no model is configured: a local Ollama server or the built-in model will answer")];
  const problem = await problemOf(server);
  const { provider = "" } = server;
  const tables = tablesOf(await readFetched(home));
  const lookup = createLookup(tables);
  const name =
    choice.name ?? (await stored.keyed<string>(KEPT_DEFAULTS, provider)) ?? lookup.defaults(provider)[0];
  const row = name === undefined ? undefined : lookup.find(name);
  const isLocal = name !== undefined && (await localKind(new URL(server.baseUrl))) !== undefined;
  const small = isLocal ? smallWindow(name, await readLoaded(server, name)) : undefined;
  return [
    finding(problem === undefined, problem ?? `${server.baseUrl} answers`),
    ...(name !== undefined && retiresBy(row, dayIn(WARN_DAYS)) ? [retirement(name, row)] : []),
    ...(small === undefined ? [] : [{ ...finding(true, small), warning: true }]),
    ...((tables.at(-1)?.date ?? "") < dayIn(-WARN_DAYS) ? [OLD_TABLE] : []),
  ];
}

const OLD_TABLE: Finding = {
  ...finding(
    true,
    'what is known of models is more than 60 days old: "postern models update" fetches a newer table',
  ),
  warning: true,
};

function retirement(name: string, { retires, replaced_by: next }: ModelRow = {}): Finding {
  const what = `${name} ${(retires ?? "") > dayIn(0) ? "retires" : "retired"} on ${retires}`;
  if (next === undefined) return { ...finding(true, `${what}: choose another model`), warning: true };
  return {
    ...finding(true, `${what}: "postern config set MODEL_NAME ${next}" switches to its replacement`),
    warning: true,
    fix: {
      about: `switch to ${next}`,
      asks: "another model answers then",
      apply: (context) =>
        context.with(["settings"], ({ settings }) => settings.change({ MODEL_NAME: next }, OPERATOR)),
    },
  };
}

/** A table that cannot be read is for the home's own check to report. */
async function readFetched(home: string): Promise<ModelTable | undefined> {
  try {
    return JSON.parse(await readFile(join(home, "models-fetched.json"), "utf8")) as ModelTable;
  } catch {
    return undefined;
  }
}

async function problemOf(server: Server): Promise<string | undefined> {
  const { baseUrl: url } = server;
  try {
    const { status } = await askServer(server, "/models");
    if (status === 401 || status === 403) return `${url} rejected the key (${status}): check the API key`;
    return status >= 500 ? `${url} returned ${status}: the server is up but failing` : undefined;
  } catch (error) {
    const why = error instanceof Error && error.cause !== undefined ? reason(error.cause) : reason(error);
    return `${url} cannot be reached (${why}): start its server, or check MODEL_BASE_URL`;
  }
}

function finding(ok: boolean, detail: string): Finding {
  return { name: "model", ok, detail };
}
