/** `postern setup`: a model that answers and a first tool, in a minute, and again any time. Enter keeps what is there. */

import { isCancel, password, select, text } from "@clack/prompts";
import type { Command } from "commander";
import {
  type ChangeableSetting,
  isInteractive,
  type ModelTest,
  OPERATOR,
  readSecret,
  type StoredSettings,
  say,
  sayJson,
  visible,
  warn,
} from "../../../kernel/kit.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { ModelCheck } from "../services.ts";
import { tryFirstTool } from "./first-tool.ts";

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

const PROVIDERS = ["anthropic", "openai", "ollama", "openai-compatible", "builtin"];
const KEYS: Readonly<Record<string, string>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-compatible": "MODEL_API_KEY",
};
const output = process.stderr;

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
      if (!isInteractive() && !options.yes)
        throw new Fault(
          "invalid",
          "usage",
          "There is no terminal to ask on: give --provider, --model, --key-stdin (the key on standard input) and --yes. See postern setup --help.",
          { usage: true },
        );
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
    const local = await modelCheck.list({ MODEL_PROVIDER: "ollama" }).catch(() => []);
    const hints: Readonly<Record<string, string>> = {
      ...(local.length > 0 && { ollama: "found on this machine" }),
      builtin: "works offline, not a language model",
      ...Object.fromEntries(
        Object.entries(KEYS).flatMap(([name, key]) => (find(key)?.isSet ? [[name, "a key is set"]] : [])),
      ),
    };
    const usual =
      local.length > 0 ? "ollama" : (PROVIDERS.find((name) => find(KEYS[name] ?? "")?.isSet) ?? "anthropic");
    provider =
      options.provider ??
      answerOf(
        await select({
          message: "Which provider's model should answer?",
          options: PROVIDERS.map((value) => ({
            value,
            label: value,
            ...(hints[value] && { hint: hints[value] }),
          })),
          initialValue: PROVIDERS.includes(provider) ? provider : usual,
          output,
        }),
      );
    put("MODEL_PROVIDER", provider);
  }
  if (provider === "openai-compatible" && isOpen(known, "MODEL_BASE_URL"))
    put(
      "MODEL_BASE_URL",
      options.baseUrl ?? (await askText("URL of the server", find("MODEL_BASE_URL")?.value)),
    );
  const key = KEYS[provider];
  if (key !== undefined && isOpen(known, key)) {
    const kept = find(key)?.isSet ? "; Enter keeps what is there" : "";
    put(key, answerOf(await password({ message: `${key} (hidden${kept})`, output })));
  }
  if (provider !== "builtin" && isOpen(known, "MODEL_NAME")) {
    const models = await modelCheck.list(values);
    if (models.length > 0)
      warn(`It offers: ${models.slice(0, 20).join(", ")}${models.length > 20 ? ", …" : ""}\n`);
    put("MODEL_NAME", options.model ?? (await askText("Model", find("MODEL_NAME")?.value ?? models[0])));
  }
  if (isOpen(known, "DAILY_USD_CAP"))
    put(
      "DAILY_USD_CAP",
      options.cap ?? (await askText("US dollars a user may spend per day", find("DAILY_USD_CAP")?.value)),
    );
  return values;
}

async function askText(message: string, current: string | undefined): Promise<string> {
  const hint = current === undefined ? "Enter sets none" : `Enter keeps ${current}`;
  const answer = answerOf(
    await text({
      message: visible(`${message} (${hint})`),
      ...(current !== undefined && { defaultValue: current }),
      output,
    }),
  );
  return answer.trim();
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
