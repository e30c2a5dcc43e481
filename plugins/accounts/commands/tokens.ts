/** `postern token …`; it also works while the service is running. */
import { type Command, CommanderError, InvalidArgumentError } from "commander";
import type { TSchema } from "typebox";
import { expiresSoon, NewToken, TokenInfo } from "../../../kernel/kit/people.ts";
import { compileCheck, toWire, wireSchema } from "../../../kernel/kit/schema.ts";
import {
  createShortener,
  findByPrefix,
  type JsonOption,
  print,
  relativeTime,
  type TableOptions,
  table,
  verb,
} from "../../../kernel/kit/terminal.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import { type Accounts, createAccounts } from "../records/accounts.ts";
import { type AvailableHere, scopeIn } from "../records/scope.ts";
import { whenInWords } from "../sign-in/expiry.ts";
import { withAccounts } from "./users.ts";

export function registerToken(group: Command, context: CommandContext): void {
  verb(
    group,
    "create <user>",
    "create a token for a user; it is shown only once",
    "token create alice --name laptop",
    "token create alice --name codex --tools none --per-day-usd 5 --expires-in-days 90",
    "token create ci --name build --tools weather,convert --models gpt-5-mini --json",
  )
    .option("--name <name>", "what it is for", "command line")
    .option(
      "--tools <names>",
      "the tools it may use, separated by commas: all (default), none or names",
      tools,
    )
    .option("--models <names>", "the models it may use, separated by commas; all by default", models)
    .option(
      "--per-day-usd <dollars>",
      "US dollars it may spend on models per day (UTC); no limit by default",
      usd,
    )
    .option("--expires-in-days <days>", "when it expires; never by default", days)
    .action((user: string, options: JsonOption & NewToken & { name: string }) => {
      const scope = scopeIn(options);
      const create = (here?: AvailableHere) => async (accounts: Accounts) => {
        const { token, info, warnings } = await accounts.createToken(user, options.name, options, here);
        const value = { ...toWire(TokenInfo, info), token, warnings };
        const lines = [
          token,
          "",
          `Copy it now: only its hash is stored. Its id is ${info.id}.`,
          ...(scope ? [`It may use ${scopeInWords(scope)}.`] : []),
          ...warnings.map((warning) => `Warning: ${warning}`),
        ];
        print(options, value, lines.join("\n"));
      };
      // The agent and the tools are started only if the scope names tools or models.
      return scope?.tools?.length || scope?.models
        ? context.with(["store", "agent", "toolCalls"], async ({ store, agent, toolCalls }) =>
            create({ tools: await toolCalls.names(), model: agent.model() })(await createAccounts(store)),
          )
        : withAccounts(context, create());
    });

  verb(
    group,
    "list",
    "list the tokens, never their secrets; those that expire within 7 days are marked",
    "token list",
    "token list --json",
  ).action((options: JsonOption) =>
    withAccounts(context, async (accounts) => {
      const tokens = await accounts.listTokens();
      const shorten = createShortener(tokens.map(({ id }) => id));
      const rows = tokens.map((token) => [
        shorten(token.id),
        token.user,
        token.name,
        stateOf(token),
        token.lastUsedAt === undefined ? "never" : relativeTime(token.lastUsedAt),
        scopeInWords(token),
      ]);
      const head = ["ID", "USER", "NAME", "STATE", "LAST USED", "MAY USE"];
      if (options.json) print(options, { tokens: tokens.map((token) => toWire(TokenInfo, token)) }, "");
      else if (tokens.length === 0) print(options, {}, 'No tokens yet. See "postern token create --help".');
      else await context.show(table(head, rows, { colours: STATE_COLOURS }));
    }),
  );

  verb(
    group,
    "expire <token-id> <days>",
    "change when a token expires: in so many days from now, or never",
    "token expire 3f0c0c4e 30",
    "token expire 3f0c0c4e never",
  ).action((typed: string, given: string, options: JsonOption) =>
    withAccounts(context, async (accounts) => {
      const id = await idOf(accounts, typed);
      const count = given === "never" ? undefined : Number(given);
      if (count !== undefined && !isDays(count))
        throw new CommanderError(2, "usage", `a number of days up to 36500, or never, not "${given}"`);
      const info = await accounts.setExpiry(id, count);
      print(options, toWire(TokenInfo, info), `${id} expires ${info.expiresAt ?? "never"}.`);
    }),
  );

  verb(group, "revoke <token-id>", "revoke a token and end its sessions", "token revoke 3f0c0c4e").action(
    (typed: string, options: JsonOption) =>
      withAccounts(context, async (accounts) => {
        const id = await idOf(accounts, typed);
        if (!(await accounts.revokeToken(id))) {
          const message = `there is no token ${id}, or it is already revoked; "postern token list" shows all tokens`;
          throw new Fault("missing", "token_not_found", message);
        }
        print(options, { id, revoked: true }, `Revoked ${id}.`);
      }),
  );
}

/** The id that was typed, or the only one that begins so. */
async function idOf(accounts: Accounts, typed: string): Promise<string> {
  const tokens = await accounts.listTokens();
  const found = await findByPrefix(typed, {
    what: "token",
    find: async (id) => tokens.find((token) => token.id === id),
    list: async () => ({ items: tokens }),
    title: ({ user, name }) => `${user}, ${name}`,
  });
  return found?.id ?? typed;
}

const STATE_COLOURS: TableOptions["colours"] = {
  STATE: (state) =>
    state.startsWith("EXPIRES") ? "yellow" : /^revoked|^expired/.test(state) ? "gray" : undefined,
};

function stateOf({ revokedAt, expiresAt }: TokenInfo): string {
  if (revokedAt !== undefined) return "revoked";
  if (expiresAt === undefined) return "valid";
  if (expiresSoon({ expiresAt })) return `EXPIRES SOON: ${whenInWords(expiresAt)}`;
  return Date.parse(expiresAt) > Date.now() ? `valid until ${expiresAt.slice(0, 10)}` : "expired";
}

const tools = (given: string) =>
  checked(NewToken.properties.tools, given === "all" || given === "none" ? given : namesIn(given));
const models = (given: string) =>
  given === "all" ? undefined : checked(NewToken.properties.models, namesIn(given));
const usd = (given: string) => checked(NewToken.properties.perDayUsd, numberIn(given));
const days = (given: string) => checked(NewToken.properties.expiresInDays, numberIn(given));

const namesIn = (given: string) => given.split(",").map((name) => name.trim());
// Number("") is 0, but an empty argument is a mistake.
const numberIn = (given: string) => (given.trim() === "" ? Number.NaN : Number(given));

/** Applies the rules of the API. */
function checked<Value>(declared: TSchema, value: Value): Value {
  const [mistake] = compileCheck(wireSchema(declared))(value);
  if (mistake)
    throw new InvalidArgumentError(`${mistake.path === "" ? "It" : "Each name"} ${mistake.problem}.`);
  return value;
}

function isDays(count: number): boolean {
  return count > 0 && count <= 36_500;
}

interface Limits {
  readonly tools?: readonly string[] | null;
  readonly models?: readonly string[] | null;
  readonly perDayUsd?: number | null;
}

function scopeInWords({ tools, models, perDayUsd }: Limits): string {
  const parts = [
    tools && (tools.length === 0 ? "no tools" : `only ${tools.join(", ")}`),
    models && `${models.length === 1 ? "model" : "models"} ${models.join(", ")}`,
    perDayUsd && `${dollars(perDayUsd)} a day`,
  ].filter((part) => typeof part === "string");
  return parts.join("; ") || "everything";
}

function dollars(amount: number): string {
  const rounded = amount.toFixed(2);
  return `$${Number(rounded) === amount ? rounded : amount}`;
}
