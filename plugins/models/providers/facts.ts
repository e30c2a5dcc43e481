/** What servers say of their models: in their lists, and servers on this machine or network about what they have loaded. */

import { isRecord, tryRecord } from "../../../kernel/kit/text.ts";
import type { ModelRow } from "../../home/services.ts";
import type { LocalServer } from "../services.ts";
import { askServer, type Server } from "./server.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A model as its server lists it. */
export interface Offered {
  readonly name: string;
  /** What the list says of it: little at OpenAI, its price at OpenRouter. */
  readonly row: ModelRow;
}

const MAX_NAMES = 500;

/** Returns none if the server does not list its models. */
export async function listOffered(server: Server): Promise<readonly Offered[]> {
  if (server.provider === "google") return listGoogle(server);
  // Anthropic lists twenty at a time otherwise.
  const path = `/models${server.provider === "anthropic" ? "?limit=1000" : ""}`;
  const { data } = await askForRecord(server, path);
  if (!Array.isArray(data)) return [];
  return data
    .filter(isRecord)
    .flatMap((entry) => {
      const { id } = entry;
      return typeof id === "string" && id.length <= 200 ? [{ name: id, row: listedRow(entry) }] : [];
    })
    .slice(0, MAX_NAMES);
}

/** Google's own list says more than the one next to its chat completions. */
async function listGoogle(server: Server): Promise<readonly Offered[]> {
  const root = { ...server, baseUrl: server.baseUrl.replace(/\/openai\/?$/, "") };
  const { models } = await askForRecord(root, "/models?pageSize=1000");
  if (!Array.isArray(models)) return [];
  return models.filter(isRecord).flatMap((entry) => {
    const { name, supportedGenerationMethods: methods } = entry;
    const chats = Array.isArray(methods) && methods.includes("generateContent");
    if (typeof name !== "string" || name.length > 200 || !chats) return [];
    const [window, output] = [tokens(entry["inputTokenLimit"]), tokens(entry["outputTokenLimit"])];
    return {
      name: name.replace(/^models\//, ""),
      row: { ...(window && { window }), ...(output && { output }) },
    };
  });
}

export async function listModels(server: Server): Promise<readonly string[]> {
  return (await listOffered(server)).map(({ name }) => name);
}

/** Where model servers listen that people run on their own machine, if nobody told them otherwise. */
const LOCAL_PORTS: Readonly<Record<string, number>> = {
  Ollama: 11434,
  "LM Studio": 1234,
  "llama.cpp": 8080,
  vLLM: 8000,
  Jan: 1337,
};

export async function findLocalServers(): Promise<readonly LocalServer[]> {
  const found = await Promise.all(
    Object.entries(LOCAL_PORTS).map(async ([name, port]) => {
      const baseUrl = `http://127.0.0.1:${port}/v1`;
      return { name, baseUrl, models: await listModels({ baseUrl, key: undefined }) };
    }),
  );
  return found.filter(({ models }) => models.length > 0);
}

/** Each provider has fields of its own, and none means something else at another. */
function listedRow(entry: Fields): ModelRow {
  const window =
    tokens(entry["max_input_tokens"]) ?? tokens(entry["context_length"]) ?? tokens(entry["max_model_len"]);
  const output = tokens(entry["max_tokens"]);
  const retires = day(entry["retires_at"] ?? entry["shutdown_date"] ?? entry["expiration_date"]);
  const price = priceOfToken(entry["pricing"]);
  const parameters = entry["supported_parameters"];
  const inputs = fieldsOf(entry["architecture"])["input_modalities"];
  return {
    ...(window && { window }),
    ...(output && { output }),
    ...(retires && { retires }),
    ...(price && { prices: [price] }),
    ...(Array.isArray(inputs) && { inputs: KINDS.filter((kind) => inputs.includes(kind)) }),
    ...(Array.isArray(parameters) && !parameters.includes("tools") && { tools: "none" as const }),
  };
}

const KINDS = ["image", "file", "audio"] as const;

/** OpenRouter's prices are of one token. Those below zero are not known before the request. */
function priceOfToken(given: unknown) {
  const { prompt, completion, input_cache_read, input_cache_write } = fieldsOf(given);
  const [input, output] = [perMillion(prompt), perMillion(completion)];
  if (input === undefined || output === undefined) return undefined;
  const [read, write] = [perMillion(input_cache_read), perMillion(input_cache_write)];
  return { input, output, ...(read && { read }), ...(write && { write }) };
}

function perMillion(price: unknown): string | undefined {
  const dollars = typeof price === "string" && price !== "" ? Number(price) * 1_000_000 : Number.NaN;
  return dollars >= 0 && dollars < 1_000_000 ? String(Number(dollars.toFixed(6))) : undefined;
}

/** The window that is really loaded, and what the model can, as Ollama, llama.cpp or LM Studio say it. */
export async function readLoaded(server: Server, name: string): Promise<ModelRow> {
  const root = { ...server, baseUrl: server.baseUrl.replace(/\/v1\/?$/, "") };
  const [shown, running, props, studio] = await Promise.all([
    askForRecord(root, "/api/show", { model: name }),
    askForRecord(root, "/api/ps"),
    askForRecord(root, "/props"),
    askForRecord(root, "/api/v1/models"),
  ]);
  return { ...ollamaRow(shown, running, name), ...llamaRow(props), ...studioRow(studio, name) };
}

function ollamaRow(shown: Fields, running: Fields, name: string): ModelRow {
  const { capabilities, parameters } = shown;
  const info = Object.entries(fieldsOf(shown["model_info"]));
  const trained = tokens(info.find(([key]) => key.endsWith(".context_length"))?.[1]);
  const configured = tokens(Number(/^num_ctx\s+(\d+)/m.exec(String(parameters))?.[1]));
  const loaded = tokens(find(running["models"], ["name", "model"], name)["context_length"]);
  const window = loaded ?? (configured && trained ? Math.min(configured, trained) : (configured ?? trained));
  if (!Array.isArray(capabilities)) return {};
  return abilities(window, capabilities.includes("vision"), capabilities.includes("tools"));
}

function llamaRow(props: Fields): ModelRow {
  const settings = fieldsOf(props["default_generation_settings"]);
  if (!("n_ctx" in settings)) return {};
  const { vision } = fieldsOf(props["modalities"]);
  const { supports_tools } = fieldsOf(props["chat_template_caps"]);
  return abilities(tokens(settings["n_ctx"]), vision === true, supports_tools !== false);
}

function studioRow(studio: Fields, name: string): ModelRow {
  const model = find(studio["models"], ["key", "id"], name);
  const { loaded_instances: instances, max_context_length: most } = model;
  const first = fieldsOf(Array.isArray(instances) ? instances[0] : undefined);
  const { vision, trained_for_tool_use } = fieldsOf(model["capabilities"]);
  if (vision === undefined && most === undefined) return {};
  const loaded = tokens(fieldsOf(first["config"])["context_length"]);
  return abilities(loaded ?? tokens(most), vision === true, trained_for_tool_use !== false);
}

function abilities(window: number | undefined, sees: boolean, calls: boolean): ModelRow {
  return {
    ...(window && { window }),
    inputs: sees ? ["image"] : [],
    ...(!calls && { tools: "none" }),
  };
}

async function askForRecord(server: Server, path: string, body?: object): Promise<Fields> {
  try {
    const reply = await askServer(server, path, body);
    return reply.status === 200 ? tryRecord(Buffer.from(reply.body).toString()) : {};
  } catch {
    return {};
  }
}

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});

const tokens = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined;

/** Seconds since 1970, or a text that begins with the day. */
function day(value: unknown): string | undefined {
  if (typeof value === "number" && value > 0 && value < 1e11)
    return new Date(value * 1000).toISOString().slice(0, 10);
  return typeof value === "string" ? /^\d{4}-\d{2}-\d{2}/.exec(value)?.[0] : undefined;
}

function find(list: unknown, keys: readonly string[], name: string): Fields {
  const found = Array.isArray(list)
    ? list.find((one) => isRecord(one) && keys.some((key) => one[key] === name))
    : undefined;
  return fieldsOf(found);
}
