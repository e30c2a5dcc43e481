/** Lists the models that may be chosen for a thread: the configured ones, and those that the servers of the configured providers offer. */

import { LRUCache } from "lru-cache";
import { Fault, type ModelName, type TokenScope } from "../../../kernel/plugin.ts";
import { listOffered } from "../providers/facts.ts";
import type { Model, ModelOption, Models } from "../services.ts";
import type { Prices } from "../spending/prices.ts";
import { dayIn, priceOf, windowOf } from "../table/lookup.ts";
import type { ConfiguredModels, ModelServer } from "./choose.ts";

interface CatalogParts {
  readonly models: ConfiguredModels;
  readonly prices: Pick<Prices, "find" | "learn">;
}

// Servers get a new model now and then, and one that is away may be back soon.
const LISTED_MS = 5 * 60_000;
const AWAY_MS = 15_000;
const MAX_SERVERS = 20;
const SHOWN = 10;
/** A stranger's words that people read and pick: nothing that could be taken for something else. */
const NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/;
/** Models that are not for chat. */
const EMBEDS = /embed|rerank/i;
const OTHER_WORK =
  /^(?:text-moderation|omni-moderation|whisper|tts|dall-e|gpt-image|chatgpt-image|sora|babbage|davinci)|realtime|transcribe|-tts/;

export function createModelCatalog({
  models,
  prices,
}: CatalogParts): Pick<Models, "list" | "choose" | "chain" | "hostOf"> {
  const listed = new LRUCache<string, Promise<readonly string[]>>({ max: MAX_SERVERS });

  /** Empty where the server does not say. */
  function namesOf({ provider, baseUrl, key: apiKey }: ModelServer): Promise<readonly string[]> {
    const server = { provider, baseUrl, key: apiKey };
    const key = JSON.stringify(server);
    const known = listed.get(key);
    if (known !== undefined) return known;
    const reading = listOffered(server).then((offered) => {
      prices.learn(provider, offered);
      const names = offered.map(({ name }) => name);
      const fit = names.filter(
        (name) => NAME.test(name) && !EMBEDS.test(name) && !(provider === "openai" && OTHER_WORK.test(name)),
      );
      listed.set(key, reading, { ttl: fit.length > 0 ? LISTED_MS : AWAY_MS });
      return fit.toSorted();
    });
    listed.set(key, reading);
    return reading;
  }

  /** All there is here, also what a user may not use. */
  async function readAll() {
    const [chain, servers] = await Promise.all([models.current(), models.servers()]);
    const offered = await Promise.all(
      servers.map(async (server) => ({ provider: server.provider, names: await namesOf(server) })),
    );
    const options = new Map<string, ModelOption>();
    const add = (option: ModelOption) => {
      const key = wholeName(option);
      if (!options.has(key)) options.set(key, { ...option, ...factsOf(option) });
    };
    for (const [at, { name }] of chain.entries())
      add({ ...name, role: at === 0 ? "configured" : "fallback" });
    for (const { provider, names } of offered) for (const name of names) add({ provider, name });
    add(models.builtin.name);
    return {
      options: [...options.values()],
      unlisted: offered.filter(({ names }) => names.length === 0).map(({ provider }) => provider as string),
    };
  }

  function factsOf(model: ModelName): Pick<ModelOption, "window" | "price" | "retires" | "replacedBy"> {
    const row = prices.find(model);
    if (row === undefined) return {};
    const price = priceOf(row, 0, dayIn(0));
    return {
      ...(row.window && { window: windowOf(row) }),
      ...(price && { price: { input: price.input, output: price.output } }),
      ...(row.retires && { retires: row.retires }),
      ...(row.replaced_by && { replacedBy: row.replaced_by }),
    };
  }

  async function find(chosen: ModelName): Promise<Model> {
    const [chain, servers] = await Promise.all([models.current(), models.servers()]);
    const known = [...chain, models.builtin].find(({ name }) => wholeName(name) === wholeName(chosen));
    const made = known ?? servers.find(({ provider }) => provider === chosen.provider)?.make(chosen.name);
    if (made !== undefined) return made;
    const message = `The model ${chosen.name} of this thread is gone: ${chosen.provider} is no longer set up here. Choose another model for this thread.`;
    throw new Fault("turn", "model_gone", message);
  }

  return {
    async list(scope) {
      const { options, unlisted } = await readAll();
      return { items: options.filter((option) => !scope || allowsModel(scope, option)), unlisted };
    },

    async choose(wanted, scope) {
      const { options, unlisted } = await readAll();
      const { provider = unlisted[0], name } = wanted;
      const found = options.find(
        (option) => option.name === name && option.provider === (wanted.provider ?? option.provider),
      );
      // A server that lists nothing may still have it; the turn says so where it does not.
      const unseen =
        provider !== undefined && unlisted.includes(provider) && NAME.test(name)
          ? { provider, name }
          : undefined;
      const option = found ?? unseen;
      if (option === undefined) {
        const some = options.slice(0, SHOWN).map((each) => each.name);
        const more = options.length > SHOWN ? ` and ${options.length - SHOWN} more` : "";
        const message = `There is no model of that name here. There are: ${some.join(", ")}${more}.`;
        throw new Fault("invalid", "unknown_model", message, { param: "model" });
      }
      allowedModels([{ name: option }], scope ? [scope] : []);
      return { provider: option.provider, name: option.name };
    },

    async hostOf({ provider }) {
      const server = (await models.servers()).find((each) => each.provider === provider);
      return server && new URL(server.baseUrl).host;
    },

    async chain(chosen, scopes) {
      const configured = await models.current();
      if (chosen === undefined) return allowedModels(configured, scopes);
      const model = await find(chosen);
      allowedModels([model], scopes);
      const others = configured.slice(1).filter((other) => other !== model);
      return allowedModels([model, ...others], scopes);
    },
  };
}

const wholeName = ({ provider, name }: ModelName): string => `${provider}/${name}`;

/** Those of the chain that every scope allows, best first. Throws where there is none. */
function allowedModels<Candidate extends { readonly name: ModelName }>(
  chain: readonly Candidate[],
  scopes: readonly TokenScope[],
): readonly Candidate[] {
  const allowed = chain.filter(({ name }) => scopes.every((scope) => allowsModel(scope, name)));
  if (allowed.length > 0 || chain.length === 0) return allowed;
  const named = scopes.flatMap(({ models }) => (models === undefined ? [] : [models.join(", ")]));
  const here = chain.map(({ name }) => name.name).join(", ");
  const message = `This token may only use ${named.join(" and ")}, but the model here is ${here}. Use another token, or ask the operator for one.`;
  throw new Fault("forbidden", "model_not_allowed", message, { param: "model" });
}

function allowsModel({ models }: TokenScope, { provider, name }: ModelName): boolean {
  return models === undefined || models.includes(name) || models.includes(`${provider}/${name}`);
}
