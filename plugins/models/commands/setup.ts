/** `postern setup`: a model that answers and a first tool, in a minute, and again any time. Enter keeps what is there. */

import { randomUUID } from "node:crypto";
import { autocomplete, isCancel, password, select, text } from "@clack/prompts";
import type { Command } from "commander";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { isInteractive, readSecret, say, sayJson, warn } from "../../../kernel/kit/terminal.ts";
import { visible } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault, reason } from "../../../kernel/plugin.ts";
import type { ChangeableSetting, StoredSettings } from "../../store/services.ts";
import type { ModelCheck, ModelTest, ReachedServer } from "../services.ts";

interface Options {
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly cap?: string;
  readonly keyStdin?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

type Values = Record<string, string | null>;

const LABELS: Readonly<Record<string, string>> = {
  anthropic: "Anthropic (Claude)",
  openai: "OpenAI (GPT)",
  google: "Google (Gemini)",
  ollama: "Ollama, on this machine",
  "openai-compatible": "Another server that speaks OpenAI's API (LM Studio, vLLM, OpenRouter …)",
  builtin: "None: look around with the built-in model",
};
const PROVIDERS = Object.keys(LABELS);
const KEYS: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-compatible": "MODEL_API_KEY",
  google: "MODEL_API_KEY",
};
const output = process.stderr;

/** A tool that is seen working, before anybody has to know what one is. */
const FIRST_TOOL = "convert";
const FIRST_PARAMS = { value: 26.2, from: "miles", to: "km" };

export function register(command: Command, context: CommandContext): void {
  command
    .option("--provider <name>", PROVIDERS.join(", "))
    .option("--key-stdin", "read the provider's key from standard input")
    .option("--base-url <url>", "the server, for openai-compatible")
    .option("--model <name>", "the model's name")
    .option("--cap <usd>", "US dollars a user may spend on models per day")
    .option("--yes", "ask nothing; save also where the test of the model fails")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Asks on a terminal; Enter keeps what is there. Without one, say what to set:

Examples:
  $ postern setup
  $ postern setup --provider anthropic --key-stdin --yes < key.txt
  $ postern setup --provider openai-compatible --base-url http://127.0.0.1:8000/v1 --model qwen --yes
  $ postern setup --provider ollama --model llama3.2 --cap 5 --yes --json`,
    )
    .action(async (options: Options) => {
      if (!isInteractive() && !options.yes) {
        const message =
          "There is no terminal to ask on: give --provider, --model, --key-stdin (the key on standard input) and --yes. See postern setup --help.";
        throw new Fault("invalid", "usage", message, { usage: true });
      }
      await context.with(["settings", "modelCheck"], async ({ settings, modelCheck }) => {
        const known = await settings.list();
        const values = options.yes ? await given(options, known) : await asked(options, known, modelCheck);
        const test = await modelCheck.test(values);
        warn(`${test.message}${test.millis > 0 ? ` (${(test.millis / 1000).toFixed(1)} s)` : ""}\n`);
        if (!test.ok && !options.yes && !(await savesAnyway())) throw cancelled();
        await save(settings, values, test, options);
      });
      if (options.json) return;
      if (!options.yes) await tryFirstTool(context);
      say(NEXT);
    });
}

/** Nothing is asked about settings that the environment fixes. */
function isOpen(known: readonly ChangeableSetting[], name: string): boolean {
  return known.find((setting) => setting.name === name)?.isFixed !== true;
}

async function given(options: Options, known: readonly ChangeableSetting[]): Promise<Values> {
  const { provider, baseUrl, model, cap, keyStdin } = options;
  const current = known.find(({ name }) => name === "MODEL_PROVIDER")?.value ?? "auto";
  const key = KEYS[provider ?? current];
  if (keyStdin && key === undefined)
    throw new Fault("invalid", "usage", `--key-stdin needs --provider ${Object.keys(KEYS).join(", ")}.`, {
      usage: true,
    });
  return {
    ...(provider !== undefined && { MODEL_PROVIDER: provider }),
    ...(baseUrl !== undefined && { MODEL_BASE_URL: baseUrl }),
    ...(model !== undefined && { MODEL_NAME: model }),
    ...(cap !== undefined && { DAILY_USD_CAP: cap }),
    ...(keyStdin && key !== undefined && { [key]: await readSecret(key) }),
  };
}

async function asked(
  options: Options,
  known: readonly ChangeableSetting[],
  modelCheck: ModelCheck,
): Promise<Values> {
  const find = (name: string) => known.find((setting) => setting.name === name);
  const values: Values = {};
  const put = (name: string, answer: string) => {
    if (answer !== "" && answer !== find(name)?.value) values[name] = answer;
  };
  let provider = find("MODEL_PROVIDER")?.value ?? "auto";
  if (!isOpen(known, "MODEL_PROVIDER"))
    warn(`The provider is ${provider}, set in the environment or .env.\n`);
  else {
    provider = options.provider ?? (await askProvider(provider, find, modelCheck));
    put("MODEL_PROVIDER", provider);
  }
  const askAddress = async () => {
    const current = find("MODEL_BASE_URL")?.value;
    const answer = await askText("URL of the server", current, problemOfUrl);
    put("MODEL_BASE_URL", answer === "" ? "" : completeUrl(answer));
  };
  const key = KEYS[provider];
  const askKey = async () => {
    if (key === undefined) return;
    const kept = find(key)?.isSet ? "; Enter keeps what is there" : "";
    put(key, answerOf(await password({ message: `${key} (hidden${kept})`, output })).trim());
  };
  const asksAddress = provider === "openai-compatible" && isOpen(known, "MODEL_BASE_URL");
  const asksKey = key !== undefined && isOpen(known, key);
  if (options.baseUrl !== undefined && asksAddress) put("MODEL_BASE_URL", completeUrl(options.baseUrl));
  else if (asksAddress) await askAddress();
  if (asksKey) await askKey();
  let reached = await reach(modelCheck, values);
  while (reached.problem !== undefined && provider !== "builtin") {
    warn(`${visible(reached.problem)}\n`);
    const next = await askAgain(asksKey, asksAddress);
    if (next === "go-on") break;
    await (next === "key" ? askKey() : askAddress());
    reached = await reach(modelCheck, values);
  }
  if (provider !== "builtin" && isOpen(known, "MODEL_NAME"))
    put("MODEL_NAME", options.model ?? (await askModel(reached.models, find("MODEL_NAME")?.value)));
  if (isOpen(known, "DAILY_USD_CAP"))
    put(
      "DAILY_USD_CAP",
      options.cap ??
        (await askText("US dollars a user may spend per day", find("DAILY_USD_CAP")?.value, problemOfCap)),
    );
  return values;
}

type Find = (name: string) => ChangeableSetting | undefined;

async function askProvider(current: string, find: Find, modelCheck: ModelCheck): Promise<string> {
  const local = await reach(modelCheck, { MODEL_PROVIDER: "ollama" });
  const isLocal = local.models.length > 0;
  const hints: Readonly<Record<string, string>> = {
    ...(isLocal && { ollama: `found, with ${local.models.slice(0, 3).join(", ")}` }),
    builtin: "works offline, not a language model",
    ...Object.fromEntries(
      Object.entries(KEYS).flatMap(([name, key]) => (find(key)?.isSet ? [[name, "a key is set"]] : [])),
    ),
  };
  const usual = isLocal ? "ollama" : (PROVIDERS.find((name) => find(KEYS[name] ?? "")?.isSet) ?? "anthropic");
  const answer = await select({
    message: "Whose model should answer?",
    options: PROVIDERS.map((value) => ({ value, label: LABELS[value], hint: hints[value] })),
    initialValue: PROVIDERS.includes(current) ? current : usual,
    output,
  });
  return answerOf(answer);
}

/** A server that cannot be asked is a problem in words, not the end of all questions. */
async function reach(modelCheck: ModelCheck, values: Values): Promise<ReachedServer> {
  return await modelCheck.reach(values).catch((error: unknown) => ({ models: [], problem: reason(error) }));
}

async function askAgain(asksKey: boolean, asksAddress: boolean): Promise<string> {
  const answer = await select({
    message: "What now?",
    options: [
      ...(asksKey ? [{ value: "key", label: "Give another key" }] : []),
      ...(asksAddress ? [{ value: "address", label: "Give another address" }] : []),
      { value: "go-on", label: "Go on all the same" },
    ],
    output,
  });
  return answerOf(answer);
}

const OTHER_MODEL = "\0other";

async function askModel(models: readonly string[], current: string | undefined): Promise<string> {
  if (models.length === 0) return await askText("Model", current);
  const first = current !== undefined && models.includes(current) ? current : models[0];
  const answer = await autocomplete({
    message: "Model (type to search)",
    options: [
      ...models.map((value) => ({ value, label: visible(value) })),
      { value: OTHER_MODEL, label: "Another name …" },
    ],
    initialValue: first,
    maxItems: 10,
    output,
  });
  const chosen = answerOf(answer);
  return chosen === OTHER_MODEL ? await askText("Model", current) : chosen;
}

/** People type `localhost:8000`. Only a server nearby gets its requests unencrypted. */
function completeUrl(typed: string): string {
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(typed)) return typed;
  const isNear = /^(localhost|[\w-]+|[\d.]+|\[[\da-f:]+\])(:\d+)?(\/|$)/i.test(typed);
  return `${isNear ? "http" : "https"}://${typed}`;
}

function problemOfUrl(typed: string): string | undefined {
  const url = typed === "" ? undefined : URL.parse(completeUrl(typed));
  if (url === undefined) return undefined;
  return url === null || !/^https?:$/.test(url.protocol)
    ? "That is no address. It looks like http://127.0.0.1:8000/v1"
    : undefined;
}

const problemOfCap = (typed: string): string | undefined =>
  typed === "" || Number(typed) >= 0 ? undefined : "Give a number, for example 5";

async function askText(
  message: string,
  current: string | undefined,
  problemOfAnswer?: (answer: string) => string | undefined,
): Promise<string> {
  const hint = current === undefined ? "Enter sets none" : `Enter keeps ${current}`;
  const answer = await text({
    message: visible(`${message} (${hint})`),
    defaultValue: current,
    validate: (typed) => problemOfAnswer?.((typed ?? "").trim()),
    output,
  });
  return answerOf(answer).trim();
}

async function savesAnyway(): Promise<boolean> {
  const answer = await select({
    message: "Save it all the same?",
    options: [
      { value: "no", label: "No, change nothing" },
      { value: "yes", label: "Yes" },
    ],
    output,
  });
  return answer === "yes";
}

function answerOf(answer: string | symbol | undefined): string {
  if (isCancel(answer)) throw cancelled();
  return String(answer ?? "");
}

const cancelled = () => new Fault("invalid", "cancelled", "Cancelled; nothing changed.");

const NEXT = `
Next:
  postern                                  talk to it
  postern ask "Convert 26.2 miles to km"   with a tool
  postern setup                            change any of this
`;

async function save(
  settings: StoredSettings,
  values: Values,
  test: ModelTest,
  { json = false }: Options,
): Promise<void> {
  await settings.change(values, OPERATOR);
  if (json) {
    const { ok, model, message, millis } = test;
    sayJson({ changed: Object.keys(values), test: { ok, model, message, millis } }, 2);
    return;
  }
  say(`Saved. ${test.model.name} (${test.model.provider}) answers from the next message on.\n`);
}

async function tryFirstTool(context: CommandContext): Promise<void> {
  const answer = await select({
    message: `Try a first tool? ${FIRST_TOOL} turns 26.2 miles into km, in a sandbox of its own`,
    options: [
      { value: true, label: "Yes" },
      { value: false, label: "No" },
    ],
    output,
  });
  if (isCancel(answer) || !answer) return;
  await context.with(
    [],
    async ({ tools }) => {
      await tools?.ready?.();
      const tool = (await tools?.list())?.find(({ name }) => name === FIRST_TOOL);
      if (tools === undefined || tool === undefined) {
        warn(`${FIRST_TOOL} is not installed here; "postern tool search" shows what there is.\n`);
        return;
      }
      const params = JSON.stringify(FIRST_PARAMS);
      const outcome = await tools.call({ id: randomUUID(), name: FIRST_TOOL, params }, { user: OPERATOR });
      const result = outcome.status === "ok" ? outcome.output : `it ${outcome.status}`;
      const grants = tool.grants.map((grant) => `  - ${grant}\n`).join("");
      say(`\n${FIRST_TOOL} ${params}\n  → ${visible(result)}\n${grants}`);
    },
    { wants: ["tools"] },
  );
}
