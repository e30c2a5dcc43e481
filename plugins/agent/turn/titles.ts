/** Has the model name a new thread after its first answer: one short request, which is counted like any other. */
import { redact } from "../../../kernel/kit/secrets.ts";
import { answerText, NO_USAGE } from "../../../kernel/kit/turns.ts";
import { capText } from "../../../kernel/kit/untrusted.ts";
import {
  type Log,
  type Mask,
  type ModelName,
  reason,
  type Services,
  type Sql,
  type TurnInput,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import type { Model, TokenCount } from "../../models/services.ts";
import { TITLE_SYSTEM } from "../context/prompt.ts";
import type { TurnObserver } from "../live/observer.ts";
import { spentColumns } from "../threads/end.ts";
import type { LedgerTurn } from "../threads/ledger.ts";
import { threadTexts } from "../threads/texts.ts";
import { clipTitle } from "../threads/title.ts";

export interface TitlesParts {
  readonly sql: Sql;
  readonly models: Services["models"];
  readonly mask: Mask;
  readonly log: Log;
}

export type Titles = ReturnType<typeof createTitles>;

type Ended = Pick<LedgerTurn, "turn" | "scopes" | "writer">;

const TIMEOUT_MS = 30_000;
/** How much of the message and of the answer the model reads. */
const MAX_READ_LENGTH = 2000;
/** Models that think first need some of it for that. */
const MAX_OUTPUT_TOKENS = 400;

/** A model that writes more has not understood, and its beginning has to do. */
const MAX_TITLE_LENGTH = 200;

// Whoever sets this asks, so that a thread is named once, on whatever node, and never again.
const CLAIM =
  "UPDATE threads SET titled_by = 'model' WHERE id = ? AND titled_by IS NULL AND binned_at IS NULL";
// A person who names the thread meanwhile has the last word.
const NAME = "UPDATE threads SET title = ? WHERE id = ? AND titled_by = 'model'";
const FIRST = "SELECT input FROM turns WHERE thread = ? ORDER BY seq LIMIT 1";

export function createTitles({ sql, models, mask, log }: TitlesParts) {
  const texts = threadTexts(sql);
  const asked = new Set<Promise<void>>();
  const stopper = new AbortController();

  async function ask(model: Model, transcript: string, signal: AbortSignal, count: (of: TokenCount) => void) {
    const messages = [{ role: "user", text: transcript } as const];
    const generation = { maxOutputTokens: MAX_OUTPUT_TOKENS };
    const request = { system: TITLE_SYSTEM, messages, tools: [], temperature: undefined, generation };
    let text = "";
    for await (const parts of model.stream(request, signal))
      for (const part of parts) {
        if (part.type === "text") text = (text + part.delta).slice(0, MAX_READ_LENGTH);
        else if (part.type === "usage") count(part);
      }
    return cleanTitle(redact(mask, text));
  }

  /** Undefined where the thread keeps the title it has. Never rejects: a title is not worth a failure. */
  async function entitle(
    { turn, scopes, writer }: Ended,
    record: TurnRecord,
    observer: Pick<TurnObserver, "spent">,
  ): Promise<string | undefined> {
    const answer = answerText(record);
    if (!writer.isUntitled || record.status !== "completed" || answer === "") return undefined;
    const { thread } = writer;
    let spent = NO_USAGE;
    let title: string | undefined;
    let name: ModelName | undefined;
    try {
      const capUsd = await models.dailyCap();
      const chain = await models.chain(writer.chosen, scopes);
      const model = chain.find((one) => isSame(one.name, record.model)) ?? chain[0];
      if (model === undefined || model.name.provider === "builtin") return undefined;
      name = model.name;
      await models.assertLeft(turn.user, capUsd, scopes);
      if ((await sql.run(CLAIM, thread)) === 0) return undefined;
      const first = await sql.get<{ input: string }>(FIRST, thread);
      const input = first && (JSON.parse(first.input) as TurnInput);
      const transcript = [
        `User: ${capText(input?.type === "message" ? input.text : "", MAX_READ_LENGTH)}`,
        `Assistant: ${capText(answer, MAX_READ_LENGTH)}`,
      ].join("\n\n");
      const signal = AbortSignal.any([stopper.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      title = await ask(model, redact(mask, transcript), signal, (tokens) => {
        spent = models.addCost(spent, model.name, tokens);
      });
    } catch (error) {
      log.debug({ thread }, `the thread keeps its title, because the model gave none: ${reason(error)}`);
    }
    try {
      return await sql.transaction(async (tx) => {
        if (name !== undefined && spent !== NO_USAGE) {
          observer.spent(name, spent);
          models.spend(tx, turn.user, spent, scopes);
          const figures = spentColumns(spent);
          const sums = Object.keys(figures).map((column) => `${column} = ${column} + ?`);
          const count = `UPDATE turn_figures SET ${sums} WHERE created_at = ? AND turn = ?`;
          void tx.run(count, ...Object.values(figures), record.createdAt, record.id);
        }
        if (!title || (await tx.run(NAME, title, thread)) === 0) return undefined;
        await texts.setTitle(tx, thread, title);
        return title;
      });
    } catch (error) {
      log.warn({ thread }, `the title of a thread could not be stored: ${reason(error)}`);
      return undefined;
    }
  }

  return {
    /** In the background: the next turn of the thread does not wait for this. */
    add(ended: Ended, record: TurnRecord, observer: TurnObserver, tell: (title: string) => void): void {
      const named = entitle(ended, record, observer)
        .then((title) => {
          if (title !== undefined) tell(title);
        })
        .finally(() => asked.delete(named));
      asked.add(named);
    },
    abort: () => stopper.abort(),
    /** Resolves when nothing of it is under way. */
    async idle(): Promise<void> {
      await Promise.allSettled([...asked]);
    },
  };
}

const isSame = (one: ModelName, other: ModelName): boolean =>
  one.provider === other.provider && one.name === other.name;

/** Models put titles into quotes, mark them as headings, or end them like sentences. */
function cleanTitle(text: string): string {
  const [line = ""] = text.trim().slice(0, MAX_TITLE_LENGTH).split("\n");
  let [from, to] = [0, line.length];
  while (from < to && isTrimmed(line[from])) from++;
  while (from < to && isTrimmed(line[to - 1])) to--;
  return clipTitle(line.slice(from, to));
}

const isTrimmed = (sign = ""): boolean => "#*\"'“”„«»`. ".includes(sign);
