import { expect, test } from "vitest";
import { Settings, type Variables } from "../../../../kernel/settings/env.ts";
import { openFolderFiles } from "../../../../plugins/home/folder.ts";
import { homeFilesOf } from "../../../../plugins/home/open.ts";
import { createBuiltinModel } from "../../../../plugins/models/builtin/model.ts";
import { createModels, readModelChoice } from "../../../../plugins/models/choice/choose.ts";
import { createDefaults } from "../../../../plugins/models/choice/default-model.ts";
import { createLessons } from "../../../../plugins/models/providers/lessons.ts";
import { readPrices } from "../../../../plugins/models/spending/prices.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { openUpstream } from "../../../support/servers/upstream.ts";
import { afterThisTest } from "../../../support/undo.ts";

const LOG = { debug() {}, info() {}, warn() {}, error() {} };

async function modelsOf(variables: Variables, said: string[] = []) {
  const settings = new Settings(variables);
  const choice = readModelChoice(settings.for("agent"));
  settings.assertSound();
  const prices = await readPrices(homeFilesOf(openFolderFiles(temporaryFolder())));
  const models = createModels(
    { current: async () => choice, last: () => choice, onChange: () => () => {} },
    {
      ...{ builtin: createBuiltinModel(), prices, log: LOG, say: (line: string) => void said.push(line) },
      defaults: createDefaults(prices, undefined, () => {}),
      lessonsOf: () => createLessons(),
    },
  );
  return models;
}

async function chosen(variables: Variables) {
  const all = await (await modelsOf(variables)).current();
  return all.map(({ name, window }) => `${name.provider} ${name.name} ${window}`);
}

test("auto takes the first that is there: a base URL, Anthropic, OpenAI, else the builtin", async () => {
  const anthropic = { ANTHROPIC_API_KEY: "key-anthropic" };
  const openai = { OPENAI_API_KEY: "key-openai" };
  const base = { MODEL_BASE_URL: "http://127.0.0.1:1/v1", MODEL_NAME: "qwen" };
  expect(await chosen({ ...openai, ...anthropic, ...base })).toEqual(["openai-compatible qwen 128000"]);
  // Before anybody was asked, so that nothing leaves this machine.
  const named = async (variables: Variables) => (await modelsOf(variables)).name();
  expect(await named({ ...openai, ...anthropic })).toEqual({
    provider: "anthropic",
    name: "claude-sonnet-5-5",
  });
  expect(await named(openai)).toEqual({ provider: "openai", name: "gpt-6.1-terra" });
  expect(await chosen({})).toEqual(["builtin builtin 128000"]);
});

test("a named provider is taken at its word, with a second model behind it", async () => {
  expect(
    await chosen({
      MODEL_PROVIDER: "ollama",
      MODEL_NAME: "llama3.2",
      MODEL_CONTEXT_TOKENS: "8000",
      MODEL_FALLBACK_PROVIDER: "builtin",
    }),
  ).toEqual(["ollama llama3.2 8000", "builtin builtin 128000"]);
});

test("the window that a local server has loaded counts, and one in which an agent hardly fits is said", async () => {
  const pages: Readonly<Record<string, unknown>> = {
    "/v1/models": { data: [{ id: "gemma4:12b" }] },
    "/api/show": { capabilities: ["completion"], model_info: { "gemma4.context_length": 131_072 } },
    "/api/ps": { models: [{ name: "gemma4:12b", context_length: 4096 }] },
  };
  const upstream = await openUpstream(({ path }, response) => {
    response.writeHead(path in pages ? 200 : 404).end(JSON.stringify(pages[path] ?? {}));
  });
  afterThisTest(upstream.close);
  const said: string[] = [];
  const url = `http://127.0.0.1:${upstream.port}/v1`;
  const models = await modelsOf({ MODEL_PROVIDER: "ollama", MODEL_BASE_URL: url }, said);
  const [model] = await models.current();
  expect([model?.name.name, model?.window]).toEqual(["gemma4:12b", 4096]);
  expect(said).toEqual([
    expect.stringMatching(
      /^gemma4:12b has a window of 4,096 tokens at its server: .*OLLAMA_CONTEXT_LENGTH=65536/,
    ),
  ]);
  const [own] = await (await modelsOf({ MODEL_BASE_URL: url, MODEL_CONTEXT_TOKENS: "20000" })).current();
  expect(own?.window).toBe(20_000);
});

test("Google's default follows the table and what its own list offers, which tells the windows", async () => {
  const asked: unknown[] = [];
  const generateContent = ["generateContent", "countTokens"];
  const upstream = await openUpstream(({ method, path, headers }, response) => {
    if (path.startsWith("/v1beta/models"))
      asked.push([method, headers["x-goog-api-key"], headers.authorization]);
    const models = [
      { name: "models/gemini-embedding-2", supportedGenerationMethods: ["embedContent"] },
      {
        ...{ name: "models/gemini-3.8-flash", supportedGenerationMethods: generateContent },
        ...{ inputTokenLimit: 150_000, outputTokenLimit: 65_536, thinking: true },
      },
    ];
    response.end(JSON.stringify(path.startsWith("/v1beta/models?") ? { models } : {}));
  });
  afterThisTest(upstream.close);
  const MODEL_BASE_URL = `http://127.0.0.1:${upstream.port}/v1beta/openai`;
  const google = { MODEL_PROVIDER: "google", MODEL_API_KEY: "key-google", MODEL_BASE_URL };
  expect(await chosen(google)).toEqual(["google gemini-3.8-flash 150000"]);
  // Google refuses a key that comes as a person's token.
  expect(asked).toEqual([["GET", "key-google", undefined]]);
  expect((await modelsOf({ MODEL_PROVIDER: "google", MODEL_API_KEY: "k" })).name()).toEqual({
    provider: "google",
    name: "gemini-3.8-flash",
  });
  await expect(chosen({ MODEL_PROVIDER: "google" })).rejects.toThrow("MODEL_API_KEY");
});

test("a provider without what it needs is a configuration problem that names the variable", async () => {
  await expect(chosen({ MODEL_PROVIDER: "openai-compatible" })).rejects.toThrow("MODEL_BASE_URL");
  await expect(chosen({ MODEL_PROVIDER: "openai" })).rejects.toThrow("OPENAI_API_KEY");
  await expect(chosen({ MODEL_PROVIDER: "anthropic" })).rejects.toThrow("ANTHROPIC_API_KEY");
  await expect(chosen({ MODEL_PROVIDER: "gpt" })).rejects.toThrow("MODEL_PROVIDER");
});

test.each([
  [{ OPENAI_API_KEY: "k", MODEL_NAME: "gpt-6.1-terra" }, ["file", "image"], ["json_object", "json_schema"]],
  [
    { OPENAI_API_KEY: "k", MODEL_NAME: "gpt-audio" },
    ["audio", "file", "image"],
    ["json_object", "json_schema"],
  ],
  [{ ANTHROPIC_API_KEY: "k", MODEL_NAME: "claude-sonnet-5-5" }, ["file", "image"], ["json_schema"]],
  [{ MODEL_PROVIDER: "ollama", MODEL_NAME: "llama3.2" }, [], ["json_object", "json_schema"]],
  [{ MODEL_PROVIDER: "ollama", MODEL_NAME: "qwen2.5vl:7b" }, ["image"], ["json_object", "json_schema"]],
  [{ MODEL_PROVIDER: "ollama", MODEL_NAME: "llama3.2-vision" }, ["image"], ["json_object", "json_schema"]],
  [{ MODEL_BASE_URL: "http://127.0.0.1:1/v1" }, [], ["json_object", "json_schema"]],
  [
    { MODEL_BASE_URL: "http://127.0.0.1:1/v1", MODEL_INPUTS: "text, image,audio" },
    ["audio", "image"],
    ["json_object", "json_schema"],
  ],
  [
    { OPENAI_API_KEY: "k", MODEL_NAME: "gpt-6.1-terra", MODEL_INPUTS: "text" },
    [],
    ["json_object", "json_schema"],
  ],
  [{ MODEL_PROVIDER: "builtin", MODEL_INPUTS: "image" }, [], ["json_object", "json_schema"]],
])("%j takes %j besides text, and answers in %j", async (variables, takes, formats) => {
  const [model] = await (await modelsOf(variables)).current();
  expect([...(model?.takes ?? [])].sort()).toEqual(takes);
  expect([...(model?.formats ?? [])].sort()).toEqual(formats);
});

test("inputs that no model has are a configuration problem", async () => {
  await expect(modelsOf({ MODEL_INPUTS: "text,video" })).rejects.toThrow(
    /MODEL_INPUTS: got .*video.*, expected a list of text, image, audio, file/,
  );
});
