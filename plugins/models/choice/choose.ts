/** Chooses the model that answers: as configured, or with `auto` the first that is there. */

import { LRUCache } from "lru-cache";
import { localKind } from "../../../kernel/kit/outbound.ts";
import { type Env, type Log, type ModelName, reason } from "../../../kernel/plugin.ts";
import type { ModelRow } from "../../home/services.ts";
import type { Live } from "../../store/services.ts";
import { listOffered, readLoaded } from "../providers/facts.ts";
import type { LessonsOf } from "../providers/lessons.ts";
import { createProviderModel } from "../providers/provider.ts";
import { findOllama, OLLAMA_URL, type ProviderName, type Server } from "../providers/server.ts";
import type { InputKind, Model } from "../services.ts";
import type { Prices } from "../spending/prices.ts";
import { windowOf } from "../table/lookup.ts";
import type { DefaultModels } from "./default-model.ts";

const PROVIDERS = ["builtin", "openai", "anthropic", "google", "ollama", "openai-compatible"] as const;
const INPUTS: ReadonlySet<string> = new Set<InputKind>(["image", "file", "audio"]);

interface ModelSettings {
  readonly provider: (typeof PROVIDERS)[number] | "auto";
  readonly name: string | undefined;
  readonly baseUrl: string | undefined;
  readonly key: string | undefined;
}

export interface ModelChoice extends ModelSettings {
  readonly anthropicKey: string | undefined;
  readonly openaiKey: string | undefined;
  readonly window: number | undefined;
  readonly inputs: Model["takes"] | undefined;
  readonly fallback: ModelSettings | undefined;
}

export interface ConfiguredModels {
  current(): Promise<readonly Model[]>;
  /** The servers that offer other models, one of each provider, the configured one first. */
  servers(): Promise<readonly ModelServer[]>;
  readonly builtin: Model;
  name(): ModelName;
  /** True if its server is on this machine or the local network. */
  isLocal(model: ModelName): boolean;
}

export interface ModelServer extends Server {
  readonly provider: ProviderName;
  make(name: string): Model;
}

const USUAL_NAMES: Readonly<Record<string, string>> = {
  ollama: "gemma4",
};
const USUAL_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  anthropic: "https://api.anthropic.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta/openai",
  ollama: `${OLLAMA_URL}/v1`,
};
const USUAL_WINDOW = 128_000;
const MIN_WINDOW = 32_000;
/** Models that were chosen for threads, kept with what speaks to them. */
const MAX_MADE = 50;

export function readModelChoice(env: Env): ModelChoice {
  const main = {
    provider: env.oneOf("MODEL_PROVIDER", ["auto", ...PROVIDERS], "auto", "Which provider's model answers"),
    name: env.text("MODEL_NAME", undefined, "The model's name"),
    baseUrl: env.url("MODEL_BASE_URL", undefined, "URL of an OpenAI-compatible server"),
    key: env.secret("MODEL_API_KEY", "Key for MODEL_BASE_URL, or for the chosen provider"),
  };
  const keys = {
    anthropicKey: env.secret("ANTHROPIC_API_KEY", "Key for Anthropic"),
    openaiKey: env.secret("OPENAI_API_KEY", "Key for OpenAI"),
  };
  const window = env.number(
    "MODEL_CONTEXT_TOKENS",
    undefined,
    { min: 1000, max: 10_000_000 },
    "The model's context window in tokens, if it is not known from the name",
  );
  const inputs = readInputs(env);
  const { provider } = main;
  const isReachable = main.key !== undefined || main.baseUrl !== undefined;
  if (provider === "openai-compatible" && main.baseUrl === undefined)
    env.refuse("MODEL_BASE_URL", "the server's URL, because MODEL_PROVIDER is openai-compatible");
  if (provider === "openai" && !isReachable && keys.openaiKey === undefined)
    env.refuse("OPENAI_API_KEY", "a key, because MODEL_PROVIDER is openai");
  if (provider === "anthropic" && !isReachable && keys.anthropicKey === undefined)
    env.refuse("ANTHROPIC_API_KEY", "a key, because MODEL_PROVIDER is anthropic");
  if (provider === "google" && !isReachable)
    env.refuse("MODEL_API_KEY", "a key, because MODEL_PROVIDER is google");
  const fallbackProvider = env.oneOf(
    "MODEL_FALLBACK_PROVIDER",
    ["none", ...PROVIDERS],
    "none",
    "Provider of the fallback model",
  );
  const fallback = {
    name: env.text("MODEL_FALLBACK_NAME", undefined, "Name of the fallback model"),
    baseUrl: env.url("MODEL_FALLBACK_BASE_URL", undefined, "URL of the fallback model's server"),
    key: env.secret("MODEL_FALLBACK_API_KEY", "Its key"),
  };
  if (fallbackProvider === "openai-compatible" && fallback.baseUrl === undefined)
    env.refuse(
      "MODEL_FALLBACK_BASE_URL",
      "the server's URL, because MODEL_FALLBACK_PROVIDER is openai-compatible",
    );
  env.sends("MODEL_API_KEY", "MODEL_BASE_URL");
  if (main.key === undefined) sendOwnKey(env, provider, "MODEL_BASE_URL");
  env.sends("MODEL_FALLBACK_API_KEY", "MODEL_FALLBACK_BASE_URL");
  if (fallback.key === undefined) sendOwnKey(env, fallbackProvider, "MODEL_FALLBACK_BASE_URL");
  return {
    ...main,
    ...keys,
    window,
    inputs,
    fallback: fallbackProvider === "none" ? undefined : { provider: fallbackProvider, ...fallback },
  };
}

/** Undefined where the model's name has to tell what it takes. */
function readInputs(env: Env): Model["takes"] | undefined {
  const name = "MODEL_INPUTS";
  const given = env.list(
    name,
    "What the model takes (text,image,audio,file), if it is not known from the name",
  );
  const kinds = given.filter((kind) => kind !== "text");
  if (kinds.some((kind) => !INPUTS.has(kind))) env.refuse(name, "a list of text, image, audio, file");
  return given.length === 0 ? undefined : new Set(kinds as InputKind[]);
}

/** A provider's own key goes to another server of that provider's kind too. */
function sendOwnKey(env: Env, provider: string, url: string): void {
  if (provider === "openai") env.sends("OPENAI_API_KEY", url);
  if (provider === "anthropic") env.sends("ANTHROPIC_API_KEY", url);
}

/** Returns the server of the configured model; undefined where nothing has to be reached. */
export function configuredServer(choice: ModelChoice): Server | undefined {
  const settings = certain(choice);
  const server = settings && serverAt(choice, settings);
  return server?.baseUrl === "" ? undefined : server;
}

function serverAt(choice: ModelChoice, { provider, baseUrl, key }: ModelSettings): Server {
  const ownKey = { openai: choice.openaiKey, anthropic: choice.anthropicKey }[provider as string];
  return { provider, baseUrl: baseUrl ?? USUAL_URLS[provider] ?? "", key: key ?? ownKey };
}

/** What models are made with. */
export interface ModelParts {
  readonly builtin: Model;
  readonly prices: Prices;
  readonly defaults: DefaultModels;
  readonly lessonsOf: LessonsOf;
  readonly log: Log;
  /** Tells the operator. */
  say(line: string): void;
}

/** Follows the choice: a turn that begins after it has changed gets other models. */
export function createModels(
  live: Live<ModelChoice>,
  parts: ModelParts,
): ConfiguredModels & { /** Takes what the tables say now. */ renew(): void } {
  const make = (choice: ModelChoice) => ({ choice, ...chosenModels(choice, parts) });
  let made = make(live.last());
  const follow = (choice: ModelChoice) => {
    if (made.choice !== choice) made = make(choice);
    return made;
  };
  live.onChange(follow);
  return {
    renew() {
      made = make(made.choice);
    },
    current: async () => follow(await live.current()).current(),
    servers: async () => follow(await live.current()).servers(),
    builtin: parts.builtin,
    name: () => made.name(),
    isLocal: (model) => made.isLocal(model),
  };
}

export function chosenModels(
  choice: ModelChoice,
  { builtin, prices, defaults, lessonsOf, log, say }: ModelParts,
): ConfiguredModels {
  const make = (
    settings: ModelSettings,
    takes: Model["takes"] | undefined,
    window = choice.window,
  ): Model => {
    if (settings.provider === "builtin" || settings.provider === "auto") return builtin;
    const provider: ProviderName = settings.provider;
    const name = settings.name ?? defaults.first(provider) ?? USUAL_NAMES[provider] ?? "default";
    const row = prices.find({ provider, name }) ?? {};
    const server = serverAt(choice, settings);
    return createProviderModel({
      ...server,
      tools: row.tools,
      levels: row.levels,
      lessons: lessonsOf(server, name),
      ...(isCompatible(provider) && { onCut: sayOnce(name) }),
      provider,
      name,
      window: window ?? windowOf(row) ?? USUAL_WINDOW,
      takes: takes ?? inputsOf(provider, row),
    });
  };
  const cut = new Set<string>();
  const sayOnce = (name: string) => (read: number, sent: number) => {
    if (cut.has(name)) return;
    cut.add(name);
    say(
      `${name} read ${read.toLocaleString("en")} tokens of a prompt of about ${sent.toLocaleString("en")}: its server cuts what its window does not hold. Give it a larger one there, or say how large it is with MODEL_CONTEXT_TOKENS.`,
    );
  };
  const rest = choice.fallback === undefined ? [] : [make(choice.fallback, undefined)];
  const sure = certain(choice);
  const local = findLocal(choice);
  let main: ModelSettings = sure ?? choice;
  let first = make(main, choice.inputs);
  const made = new LRUCache<string, Model>({ max: MAX_MADE });

  async function settle(): Promise<void> {
    if (sure === undefined) {
      const name = await findOllama();
      if (name === undefined) return;
      main = { ...choice, provider: "ollama", name: choice.name ?? name };
      log.info({ model: main.name }, "found a local Ollama server, using it");
    }
    const { provider } = main;
    if (provider === "builtin" || provider === "auto") return;
    const server = serverAt(choice, main);
    const offered = await listOffered(server);
    prices.learn(provider, offered);
    const names = offered.map(({ name }) => name);
    const usual = async () =>
      provider in USUAL_URLS && provider !== "ollama" ? defaults.choose(provider, names) : names[0];
    const name = main.name ?? (await usual());
    if (name !== undefined) main = { ...main, name };
    if (name !== undefined && (provider === "ollama" || (await localKind(new URL(server.baseUrl))))) {
      const row = await readLoaded(server, name);
      prices.learn(provider, [{ name, row }]);
      const problem = smallWindow(name, row);
      if (problem !== undefined) say(problem);
    }
    first = make(main, choice.inputs);
  }
  // In the background: start-up does not wait for it, and by the first turn it is over.
  let settling: Promise<unknown> | undefined;
  const settled = () => {
    settling ??= Promise.all([
      local.looked,
      settle().catch((error) => log.warn({ error }, `the model server could not be asked: ${reason(error)}`)),
    ]);
    return settling;
  };

  const serverOf = (settings: ModelSettings, provider: ProviderName): ModelServer => ({
    ...serverAt(choice, settings),
    provider,
    make(name) {
      const key = JSON.stringify([provider, name]);
      // Its own window, where that is known: the one that is configured is of another model.
      const window = windowOf(prices.find({ provider, name }) ?? {});
      const model = made.get(key) ?? make({ ...settings, name }, undefined, window);
      made.set(key, model);
      return model;
    },
  });

  return {
    async current() {
      await settled();
      return [first, ...rest];
    },
    async servers() {
      await settled();
      const servers = new Map<ProviderName, ModelServer>();
      for (const settings of [main, ...(choice.fallback ? [choice.fallback] : []), ...withOwnKeys(choice)]) {
        const { provider } = settings;
        if (provider === "auto" || provider === "builtin" || servers.has(provider)) continue;
        servers.set(provider, serverOf(settings, provider));
      }
      return [...servers.values()];
    },
    builtin,
    name: () => first.name,
    isLocal: ({ provider }) => local.providers.has(provider),
  };
}

/** Says what is wrong with a window in which an agent's instructions, tools and results hardly fit. */
export function smallWindow(name: string, { window }: ModelRow): string | undefined {
  if (window === undefined || window >= MIN_WINDOW) return undefined;
  return `${name} has a window of ${window.toLocaleString("en")} tokens at its server: an agent needs ${MIN_WINDOW.toLocaleString("en")}, better twice as many. Set it there (Ollama: OLLAMA_CONTEXT_LENGTH=65536, llama.cpp: --ctx-size 65536).`;
}

/** Looks where the servers are that the operator gave an address of: one of a provider that is elsewhere counts for all of it. */
function findLocal(choice: ModelChoice) {
  const providers = new Set<string>();
  const given = [certain(choice) ?? choice, ...(choice.fallback ? [choice.fallback] : [])];
  const look = async () => {
    const kinds = await Promise.all(
      given.map(async ({ provider, baseUrl }) => ({
        provider,
        isLocal: baseUrl !== undefined && (await localKind(new URL(baseUrl))) !== undefined,
      })),
    );
    for (const { provider } of kinds)
      if (kinds.every((one) => one.provider !== provider || one.isLocal)) providers.add(provider);
  };
  return { providers, looked: look() };
}

/** A compatible server's name does not tell whether it accepts files. Undefined if the table does not say. */
function inputsOf(provider: ProviderName, { inputs }: ModelRow): Model["takes"] | undefined {
  return inputs && new Set(inputs.filter((kind) => !isCompatible(provider) || kind === "image"));
}

const isCompatible = (provider: ProviderName) => provider !== "openai" && provider !== "anthropic";

/** Providers that there is a key for, whichever is configured. */
function withOwnKeys({ anthropicKey, openaiKey }: ModelChoice): readonly ModelSettings[] {
  const all = [
    { provider: "anthropic", key: anthropicKey },
    { provider: "openai", key: openaiKey },
  ] as const;
  return all
    .filter(({ key }) => key !== undefined)
    .map((each) => ({ ...each, name: undefined, baseUrl: undefined }));
}

/** Returns the choice if it is certain; undefined where a local Ollama server has to be looked for. */
function certain(choice: ModelChoice): ModelSettings | undefined {
  if (choice.provider !== "auto") return choice;
  if (choice.baseUrl !== undefined) return { ...choice, provider: "openai-compatible" };
  if (choice.anthropicKey !== undefined) return { ...choice, provider: "anthropic" };
  if (choice.openaiKey !== undefined) return { ...choice, provider: "openai" };
  return undefined;
}
