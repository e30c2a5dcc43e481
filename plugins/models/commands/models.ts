/** `postern models`: what can be used here, at what price and until when; `postern models update` fetches a newer table. */
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { createOutbound, MAX_REPLY_BYTES } from "../../../kernel/kit/outbound.ts";
import { type JsonOption, say, sayJson, table, verb, warn } from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault, reason } from "../../../kernel/plugin.ts";
import type { ModelRow, ModelTable } from "../../home/services.ts";
import type { ModelOption } from "../services.ts";
import { tablesOf } from "../spending/prices.ts";
import { createLookup, dayIn, priceOf, windowOf } from "../table/lookup.ts";
import { isModelsDev, readModelsDev } from "../table/models-dev.ts";

const MODELS_DEV = "https://models.dev/api.json";
const TIMEOUT_MS = 60_000;

export function register(group: Command, context: CommandContext): void {
  group.option("--json", "print JSON").action(async ({ json = false }: JsonOption) => {
    await context.with(["models"], async ({ models }) => {
      const { items, unlisted } = await models.list();
      if (json) sayJson({ models: items.map(toJson), unlisted }, 2);
      else await context.show(table(HEADS, items.map(rowOf)));
      for (const provider of unlisted)
        warn(`${provider} does not list its models; what it has can be used all the same.\n`);
    });
  });
  verb(
    group,
    "update",
    "fetch a newer table of models and keep it in the home",
    "models update",
    "models update --from api.json",
  )
    .option("--from <file or URL>", "models.dev's api.json, or a table like ours", MODELS_DEV)
    .action(async ({ from, json = false }: JsonOption & { readonly from: string }) => {
      await context.with(["homeFiles"], async ({ homeFiles }) => {
        const known = tablesOf((await homeFiles.models()).fetched);
        const found = readTable(await fetchText(from), from, known);
        await homeFiles.keepModels(JSON.stringify(found));
        const changes = differences(known, found);
        if (json) return sayJson({ from, date: found.date, changes }, 2);
        say(changes.map(({ name, before, after }) => `${name}: ${before ?? "new"} → ${after}\n`).join(""));
        say(
          changes.length === 0
            ? "Nothing changed.\n"
            : `${changes.length} models changed. A running service takes them within seconds.\n`,
        );
      });
    });
}

const HEADS = ["MODEL", "PROVIDER", "WINDOW", "$ IN", "$ OUT", "RETIRES", ""];

function rowOf({ provider, name, role, window, price, retires, replacedBy }: ModelOption): readonly string[] {
  const end = retires === undefined ? "" : `${retires}${replacedBy ? `, then ${replacedBy}` : ""}`;
  return [
    name,
    provider,
    window?.toLocaleString("en") ?? "",
    price?.input ?? "",
    price?.output ?? "",
    end,
    role ?? "",
  ];
}

const toJson = ({ replacedBy, ...option }: ModelOption) => ({
  ...option,
  ...(replacedBy && { replaced_by: replacedBy }),
});

async function fetchText(from: string): Promise<string> {
  try {
    const url = /^https?:/.test(from) ? URL.parse(from) : null;
    if (url === null) return await readFile(from, "utf8");
    const outbound = createOutbound({ privateHosts: "any" });
    try {
      const request = { url, timeoutMs: TIMEOUT_MS, maxBytes: MAX_REPLY_BYTES, redirects: 3 };
      const { status, body } = await outbound.send(request);
      if (status !== 200) throw new Error(`it returned ${status}`);
      return Buffer.from(body).toString();
    } finally {
      await outbound.close();
    }
  } catch (error) {
    throw new Fault("unavailable", "no_table", `${from} cannot be read: ${reason(error)}`);
  }
}

function readTable(text: string, from: string, known: readonly ModelTable[]): ModelTable {
  const wrong = (why: string) =>
    new Fault(
      "invalid",
      "bad_models",
      `${from} is neither models.dev's api.json nor a table like ours: ${why}`,
    );
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw wrong(reason(error));
  }
  if (!isModelsDev(document)) return { date: dayIn(0), ...(document as ModelTable) };
  const models = Object.assign({}, ...known.map((each) => each.models)) as ModelTable["models"];
  const defaults = known.findLast((each) => each.defaults)?.defaults;
  try {
    return readModelsDev(document, { models, ...(defaults && { defaults }) }, dayIn(0));
  } catch (error) {
    throw wrong(reason(error));
  }
}

/** What a person has to know of a change: the rest is in the table. */
function differences(known: readonly ModelTable[], found: ModelTable) {
  const [before, after] = [createLookup(known), createLookup([...known, found])];
  return Object.keys(found.models).flatMap((name) => {
    const [earlier, row] = [before.find(name), after.find(name) ?? {}];
    if (JSON.stringify(earlier) === JSON.stringify(row)) return [];
    return [{ name, ...(earlier && { before: inWords(earlier) }), after: inWords(row) }];
  });
}

function inWords(row: ModelRow): string {
  const price = priceOf(row, 0, dayIn(0));
  const parts = [
    price === undefined ? "no price" : `$${price.input} in, $${price.output} out`,
    ...[windowOf(row) ?? []].flat().map((tokens) => `${tokens.toLocaleString("en")} tokens`),
    ...(row.retires === undefined ? [] : [`retires ${row.retires}`]),
  ];
  return parts.join(", ");
}
