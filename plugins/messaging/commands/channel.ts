/** `postern channel …`: sets chat channels up, and says how they are doing and who waits to be let in. Also while the service runs. */
import type { Command } from "commander";
import { findRunning } from "../../../kernel/kit/operations.ts";
import { OPERATOR } from "../../../kernel/kit/people.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  isInteractive,
  type JsonOption,
  print,
  readSecret,
  relativeTime,
  say,
  type TableOptions,
  table,
  verb,
  warn,
} from "../../../kernel/kit/terminal.ts";
import { visible, visibleLine } from "../../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../../kernel/plugin.ts";
import type { ChangeableSetting } from "../../store/services.ts";
import type { Messaging, OfferedChannel } from "../services.ts";
import { checkChannel, findChannel, forgetChannel } from "../setup.ts";
import { ChannelState, PairingRequest } from "../wire.ts";

interface AddOptions extends JsonOption {
  readonly stdin?: boolean;
  readonly check: boolean;
}

const ADD_HELP = `
The secrets are asked for and never taken from the arguments. Without a terminal, --stdin reads NAME=value lines from standard
input. What the environment or .env sets is used as it is. The service that runs opens the channel at once.`;

export function register(group: Command, context: CommandContext): void {
  verb(group, "list", "list the channels, their state, and what waits", "channel list").action(
    (options: JsonOption) =>
      context.with(["messaging"], async ({ messaging }) => {
        const states = await messaging.channels();
        const rows = states.map((state) => [
          state.name,
          stateInWords(state),
          ...[state.waiting, state.dead, state.requests].map((count) => (count === 0 ? "" : String(count))),
          state.lastReceivedAt === undefined ? "" : relativeTime(state.lastReceivedAt),
        ]);
        const head = ["CHANNEL", "STATE", "WAITING", "DEAD", "REQUESTS", "LAST MESSAGE"];
        if (options.json)
          print(options, { channels: states.map((state) => toWire(ChannelState, state)) }, "");
        else await context.show(table(head, rows, { colours: STATES }));
      }),
  );

  verb(
    group,
    "add <channel>",
    "set a channel up: asks for its secrets, checks them, keeps them sealed",
    "channel add telegram",
    "channel add slack --stdin < slack.env",
  )
    .option("--stdin", "read NAME=value lines from standard input")
    .option("--no-check", "keep them also where the service does not accept them, or cannot be reached")
    .addHelpText("after", ADD_HELP)
    .action((name: string, options: AddOptions) => add(context, name, options));

  verb(
    group,
    "remove <channel>",
    "forget a channel's secrets: it is closed, and its messages stay",
    "channel remove slack",
  ).action((name: string, options: JsonOption) =>
    context.with(["messaging", "settings"], async (use) => {
      const { channel } = findChannel(use, name);
      const removed = await forgetChannel(use, name, OPERATOR);
      const done = removed ? `${channel.title} is removed.` : `${channel.title} was not set up.`;
      print(options, { channel: name, removed }, done);
    }),
  );

  verb(
    group,
    "test <channel>",
    "ask the service whether it accepts us, with the settings in use",
    "channel test slack",
  ).action((name: string, options: JsonOption) =>
    context.with(["messaging"], async ({ messaging }) => {
      const { detail, link } = await checkChannel(findChannel({ messaging }, name), {});
      print(options, { channel: name, detail, link: link ?? null }, reached(name, detail, link));
    }),
  );

  registerRequests(group, context);
}

function registerRequests(group: Command, context: CommandContext): void {
  verb(
    group,
    "requests",
    "list the senders that wait to be let in, each with its code",
    "channel requests",
  ).action((options: JsonOption) =>
    context.with(["messaging"], async ({ messaging }) => {
      const [requests, full] = await Promise.all([messaging.requests(), messaging.fullLists()]);
      const rows = requests.map(({ code, identity, name = "", text, isAuthentic, askedAt }) => [
        code,
        identity,
        name,
        relativeTime(askedAt),
        isAuthentic ? visibleLine(text) : "(not authentic: it cannot be paired)",
      ]);
      print(
        options,
        { requests: requests.map((request) => toWire(PairingRequest, request)), full },
        rows.length === 0
          ? "Nobody waits."
          : [table(["CODE", "SENDER", "NAME", "ASKED", "FIRST WORDS"], rows).trimEnd(), ...full].join("\n"),
      );
    }),
  );

  verb(
    group,
    "pair <code> <account>",
    "say which account a sender is: their messages that wait are answered",
    "channel pair K7QM-4R2X ann",
  ).action((code: string, account: string, options: JsonOption) =>
    withRequests(context, async (messaging) => {
      const { identity } = await messaging.pair(code, account);
      print(options, { identity, account }, `Paired ${identity} with ${account}.`);
    }),
  );

  verb(group, "deny <code>", "refuse a sender: their messages are dropped", "channel deny K7QM-4R2X").action(
    (code: string, options: JsonOption) =>
      withRequests(context, async (messaging) => {
        if (!(await messaging.deny(code)))
          throw new Fault("missing", "no_pairing_request", `No sender waits with the code ${code}.`);
        print(options, { code, denied: true }, "Denied.");
      }),
  );
}

/** An identity's data moves with it, so the plugins that keep it have to be there too. */
function withRequests(context: CommandContext, work: (messaging: Messaging) => Promise<void>): Promise<void> {
  return context.with(["messaging", "jobs"], ({ messaging }) => work(messaging));
}

async function add(context: CommandContext, name: string, options: AddOptions): Promise<void> {
  if (!isInteractive() && !options.stdin)
    throw usage("There is no terminal to ask on: give --stdin, with NAME=value lines on standard input.");
  await context.with(["messaging", "settings"], async ({ messaging, settings }) => {
    const offered = findChannel({ messaging }, name);
    const { channel } = offered;
    const known = await settings.list();
    const examine = async (values: Record<string, string>) => ({
      values,
      found: options.check ? await checkChannel(offered, values) : undefined,
    });
    const { values, found } = options.stdin
      ? await examine(await readLines(channel))
      : await askUntilAccepted(channel, known, examine);
    await settings.change(values, OPERATOR);
    const isRunning = findRunning(context.home) !== undefined;
    const { detail = null, link = null } = found ?? {};
    if (options.json)
      return print(options, { channel: name, changed: Object.keys(values), detail, link }, "");
    if (found) say(`${reached(name, found.detail, found.link)}\n`);
    say(nextSteps(channel.title, isRunning, found?.link));
  });
}

function nextSteps(title: string, isRunning: boolean, link: string | undefined): string {
  return `
Next:
  ${isRunning ? `The running service opens ${title} now.` : `postern serve            starts it; ${title} is opened with it`}
  ${link === undefined ? `Write to it in ${title}.` : `Open the link and write to it.`} It answers with a code, since it does not know you yet.
  postern channel pair <code> operator   lets you in; "postern channel requests" lists who waits
`;
}

const reached = (name: string, detail: string, link: string | undefined) =>
  `${name}: ${detail}${link === undefined ? "" : `\nOpen: ${link}`}`;

/** A mistyped token costs another try, not all that was typed before. */
async function askUntilAccepted<Examined>(
  channel: OfferedChannel["channel"],
  known: readonly ChangeableSetting[],
  examine: (values: Record<string, string>) => Promise<Examined>,
): Promise<Examined> {
  const isFixed = (name: string) => known.find((one) => one.name === name)?.isFixed === true;
  const asked = channel.settings.filter(({ name }) => !isFixed(name));
  const typed: Record<string, string> = {};
  warn(`${visible(channel.guide)}\n\n`);
  for (const { name } of channel.settings)
    if (isFixed(name)) warn(`${name} is set in the environment or .env.\n`);
  for (;;) {
    try {
      Object.assign(typed, await askFor(asked, known, typed));
      return await examine({ ...typed });
    } catch (error) {
      if (!(error instanceof Fault) || error.code === "cancelled" || asked.length === 0) throw error;
      warn(`\n${error.message}\nNothing was kept. Try again, or stop with Ctrl+C.\n\n`);
    }
  }
}

async function askFor(
  asked: OfferedChannel["channel"]["settings"],
  known: readonly ChangeableSetting[],
  typed: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const { isCancel, text } = await import("@clack/prompts");
  const { stderr: output } = process;
  const values: Record<string, string> = {};
  for (const { name, example, isOptional = false } of asked) {
    const setting = known.find((one) => one.name === name);
    const { about = "", isSecret = true, isSet = false } = setting ?? {};
    const words = visible(`${about || name}${example === undefined ? "" : ` (${example})`}`);
    if (isSecret) {
      values[name] = await readSecret(words);
      continue;
    }
    const current = typed[name] ?? (isSet ? setting?.value : undefined);
    const answer = await text({
      message: current === undefined ? words : `${words}; Enter keeps ${visible(current)}`,
      defaultValue: current,
      validate: (typed) =>
        isOptional || typed?.trim() || current !== undefined ? undefined : `${name} is needed.`,
      output,
    });
    if (isCancel(answer)) throw new Fault("invalid", "cancelled", "Cancelled; nothing changed.");
    const given = String(answer ?? "").trim();
    if (given !== "" && given !== current) values[name] = given;
  }
  return values;
}

async function readLines(channel: OfferedChannel["channel"]): Promise<Record<string, string>> {
  const lines = (await readSecret("standard input")).split("\n").map((line) => line.trim());
  const values: Record<string, string> = {};
  for (const line of lines.filter((one) => one !== "" && !one.startsWith("#"))) {
    const at = line.indexOf("=");
    const name = line.slice(0, at).trim();
    // What it holds may be a secret, and is not repeated.
    if (at === -1 || !channel.settings.some((setting) => setting.name === name))
      throw usage(
        `Each line is NAME=value, with one of ${channel.settings.map((setting) => setting.name).join(", ")}.`,
      );
    values[name] = line.slice(at + 1).trim();
  }
  return values;
}

const STATES: TableOptions["colours"] = {
  STATE: (state) =>
    state.startsWith("connected") ? "green" : state.startsWith("not set up") ? "gray" : "yellow",
  DEAD: () => "red",
};

function stateInWords({ name, missing, isConnected, detail }: ChannelState): string {
  if (missing !== undefined) return `not set up: run "postern channel add ${name}"`;
  if (isConnected) return detail === "" ? "connected" : `connected, ${detail}`;
  return detail === "" ? "not connected" : `not connected: ${detail}`;
}

const usage = (message: string) => new Fault("invalid", "usage", message, { usage: true });
