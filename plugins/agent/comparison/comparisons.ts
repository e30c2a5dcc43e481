/** Stored turns, each with what another model makes of it. What came of a replay is kept, so that a comparison can be continued. */
import { isDeepStrictEqual } from "node:util";
import { tryJson } from "../../../kernel/kit/text.ts";
import { estimateText, NO_USAGE } from "../../../kernel/kit/turns.ts";
import { Fault, type ModelName, type Usage } from "../../../kernel/plugin.ts";
import type { Agent, ComparedSide, ComparedTurn, Comparisons, Threads } from "../services.ts";
import { DIFFERS } from "./recorded-calls.ts";
import { type ReplayParts, replay } from "./replay.ts";
import { findStored, type StoredTurn, storedSide } from "./stored-turns.ts";

export interface ComparisonParts extends ReplayParts {
  readonly threads: Pick<Threads, "turns">;
  readonly contextOf: Agent["contextOf"];
}

const FIND = "SELECT body FROM replays WHERE turn = ? AND provider = ? AND model = ?";
/** Nothing for a turn that was deleted meanwhile. */
const KEEP = `INSERT INTO replays (turn, provider, model, body)
  SELECT id, CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT) FROM turns WHERE id = ?
  ON CONFLICT (turn, provider, model) DO UPDATE SET body = excluded.body`;

export function createComparisons(parts: ComparisonParts): Comparisons {
  const { sql, models, threads } = parts;

  async function keptSide(
    { id }: StoredTurn,
    { provider, name }: ModelName,
  ): Promise<ComparedSide | undefined> {
    const row = await sql.get<{ body: string }>(FIND, id, provider, name);
    return row && (JSON.parse(row.body) as ComparedSide);
  }

  /** What the turn took with its own model; by estimate if that one counts no tokens. */
  async function estimate(stored: StoredTurn, model: ModelName): Promise<Usage> {
    const { usage, calls, answer } = storedSide(models, stored);
    const [{ user, channel, after }] = stored.records;
    const isCounted = usage.inputTokens > 0;
    const context = isCounted
      ? undefined
      : await parts.contextOf({ user, channel, thread: stored.thread, after });
    const tokens = {
      inputTokens: context ? context.total * (1 + calls.length) : usage.inputTokens,
      outputTokens: usage.outputTokens || estimateText(answer),
    };
    return models.addCost(NO_USAGE, model, { ...tokens, cachedTokens: 0, reasoningTokens: 0 });
  }

  return {
    async prepare({ model: wanted, again = false, ...which }) {
      const chosen = await models.choose(wanted, undefined);
      const [model] = await models.chain(chosen, []);
      if (model === undefined) throw new Fault("unavailable", "no_model", "There is no model to ask.");
      const { name } = model;
      const stored = await findStored(sql, threads, which);
      const sides = await Promise.all(stored.map((turn) => (again ? undefined : keptSide(turn, name))));
      const missing = stored.filter((_, at) => sides[at] === undefined);
      const costs: Usage[] = [];
      for (const turn of missing) costs.push(await estimate(turn, name));

      async function replayed(turn: StoredTurn, signal: AbortSignal): Promise<ComparedSide> {
        const side = await replay(parts, turn, model as typeof model & {}, signal);
        signal.throwIfAborted();
        if (side.error?.code === "daily_cap") throw new Fault("turn", "daily_cap", side.error.message);
        // What failed for another reason is tried again.
        if (side.error === undefined || side.error.code === DIFFERS)
          await sql.run(KEEP, name.provider, name.name, JSON.stringify(side), turn.id);
        return side;
      }

      return {
        model: name,
        host: await models.hostOf(name),
        turns: stored.length,
        missing: missing.length,
        estimate: costs.reduce(models.addUsage, NO_USAGE),
        async *run(signal) {
          for (const [at, turn] of stored.entries()) {
            signal.throwIfAborted();
            yield compared(turn, storedSide(models, turn), sides[at] ?? (await replayed(turn, signal)));
          }
        },
      };
    },
  };
}

function compared(stored: StoredTurn, before: ComparedSide, after: ComparedSide): ComparedTurn {
  const { id: turn, thread, title } = stored;
  const [{ input, createdAt }] = stored.records;
  return {
    ...{ turn, thread, title, createdAt, before, after },
    text: input.type === "message" ? input.text : "",
    calls: verdict(before, after),
  };
}

function verdict(before: ComparedSide, { calls, error }: ComparedSide): ComparedTurn["calls"] {
  if (error !== undefined) return error.code === DIFFERS ? "differs_here" : "failed";
  return isDeepStrictEqual(before.calls.map(asRead), calls.map(asRead)) ? "same" : "different";
}

const asRead = ({ name, params }: ComparedSide["calls"][number]) => ({
  name,
  params: tryJson(params) ?? params,
});
