/** `tool run`: one call outside of a chat; its HTTP exchanges can be recorded or replayed. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { JsonOption } from "../../kernel/kit/terminal.ts";
import { visibleLine } from "../../kernel/kit/text.ts";
import { type CommandContext, Fault } from "../../kernel/plugin.ts";
import { locateReceipts, tellOnce } from "../author/trace/located.ts";
import type { Tape } from "../broker/recording.ts";
import type { ServiceHost } from "../service-host.ts";
import type { QuestionOutcome } from "../services.ts";
import { requireTool, withHost } from "./host-access.ts";
import { print, progress } from "./terminal/terminal.ts";

interface RunOptions extends JsonOption {
  readonly record?: string;
  readonly replay?: string;
}

const USER = "operator";

export async function run(
  context: CommandContext,
  name: string,
  params = "{}",
  options: RunOptions,
): Promise<void> {
  if (options.record !== undefined && options.replay !== undefined)
    throw new Fault("invalid", "record_or_replay", "use either --record or --replay, not both", {
      usage: true,
    });
  const call = async (host: ServiceHost, isForeign: boolean) => {
    if (isForeign && (options.record ?? options.replay) !== undefined) {
      const message = `${name} is a tool of an MCP server; its calls cannot be recorded`;
      throw new Fault("invalid", "not_recorded", message, { usage: true });
    }
    const tape = await openTape(context, name, params, options, host);
    const interrupted = new AbortController();
    const interrupt = () => interrupted.abort();
    process.once("SIGINT", interrupt);
    try {
      const { outcome, receipt: kept } = await host.call(
        { id: randomUUID(), name, params },
        { user: USER, signal: interrupted.signal, tape },
      );
      const [receipt] = await locateReceipts(host.catalog, kept === undefined ? [] : [kept]);
      if (tape?.type === "recorder") await tape.save();
      const isOk = outcome.status === "ok";
      const why =
        outcome.status === "question"
          ? `${outcome.server} asks something in between, which can be answered in a chat: ${questionsOf(outcome)}`
          : isOk
            ? ""
            : outcome.message;
      const told = receipt && tellOnce(receipt);
      for (const { level, message } of told?.logs ?? []) progress(`${level}: ${message}`);
      if (isOk || options.json) {
        const output = isOk ? outcome.output : null;
        const error = isOk ? null : (receipt?.message ?? why);
        print(options, { output, error, receipt }, () => output ?? "");
      } else {
        progress(`${name}: ${told?.message ?? why}`);
      }
      if (!isOk) process.exitCode = 1;
    } finally {
      process.off("SIGINT", interrupt);
    }
  };
  await withHost(context, async (host) => {
    const isForeign = await host.foreign.has(name);
    if (!isForeign) await requireTool(host, name);
    await call(host, isForeign);
  });
}

function questionsOf({ questions }: QuestionOutcome): string {
  return questions.map(({ message }) => visibleLine(message)).join(" ");
}

async function openTape(
  { folder }: CommandContext,
  name: string,
  params: string,
  { record, replay }: RunOptions,
  { hide, catalog }: ServiceHost,
): Promise<Tape | undefined> {
  if (record === undefined && replay === undefined) return undefined;
  const { recordTo, replayFrom } = await import("../broker/recording.ts");
  if (replay !== undefined) return replayFrom(resolve(folder, replay));
  if (record === undefined) return undefined;
  const settings = (await catalog.find(name))?.choices.settings;
  return recordTo(resolve(folder, record), parse(params), hide, settings);
}

/** Params that are not JSON are refused later, by the tool's schema. */
function parse(params: string): unknown {
  try {
    return JSON.parse(params);
  } catch {
    return params;
  }
}
