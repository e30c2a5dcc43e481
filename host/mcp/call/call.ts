/** One call of a server's tool, from the model's words to an outcome and a receipt. Whatever a server does is an outcome. */
import { randomUUID } from "node:crypto";
import type { ElicitRequest } from "@modelcontextprotocol/client";
import { limitWords, RATE_LIMIT_EXCEEDED } from "../../../kernel/kit/http.ts";
import { type SealingKey, seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Log, Mask, Question, Reply, ToolCall, ToolOutcome } from "../../../kernel/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";
import { createLimiters } from "../../broker/rate-limits.ts";
import type { Receipt, Receipts } from "../../calls/receipts.ts";
import type { CheckJson } from "../../sandbox/json-check.ts";
import type { CallOptions, CallOutcome } from "../../services.ts";
import type { CallAnswer } from "../session/session.ts";
import type { Sessions } from "../session/sessions.ts";
import type { Definition } from "../tools/definition.ts";
import type { ServerRows, StoredServer, StoredTool } from "../tools/rows.ts";
import { CHECK_TIMEOUT_MS, check, checkReplies, readParams } from "./checks.ts";
import { readRequests, toResult, Unaskable } from "./questions.ts";
import { explain, noSuchTool, Refused, requireUsable } from "./refusal.ts";
import { toOutcome } from "./result.ts";
import { MAX_ROUNDS, QUESTION_TIMEOUT_MS, type RunningCall, startCall } from "./running-call.ts";

export interface McpCallsParts {
  readonly rows: ServerRows;
  readonly sessions: Sessions;
  readonly checkJson: CheckJson;
  readonly receipts: Receipts;
  readonly store: Store;
  readonly key: SealingKey;
  readonly mask: Mask;
  readonly log: Log;
}

interface Attempt {
  readonly server: StoredServer;
  readonly tool: StoredTool;
  readonly definition: Definition;
  readonly call: ToolCall;
  readonly options: CallOptions;
  /** For the receipt; `millis` is 0 where nothing was sent. */
  readonly traffic: { bytes: number; millis: number };
}

/** Continues a call once a person has answered: on any node for the newer revision, where it is held open for the older. */
type Resumption = {
  readonly id: string;
  readonly user: string;
  readonly name: string;
  readonly questions: readonly Question[];
} & (
  | { readonly type: "held" }
  | {
      readonly type: "retry";
      readonly digest: string;
      readonly params: string;
      /** The server gets it back as it came. */
      readonly state?: string;
      readonly round: number;
      readonly until: number;
    }
);

/** A gate may wait for days. */
const RESUMPTION_TTL_MS = 7 * 24 * 60 * 60_000;
/** A call that nobody answered in time is kept a little longer, to say so. */
const HELD_TTL_MS = QUESTION_TIMEOUT_MS + 5 * 60_000;
const MAX_STATE_LENGTH = 64 * 1024;
const MAX_REQUEST_ERROR_LENGTH = 300;
const SEALED_AS = "an MCP server's question";
const OVER =
  "The question can no longer be answered: the call it belongs to is over, or it was answered already. Call the tool again.";

export function createMcpCalls(parts: McpCallsParts) {
  const { rows, sessions, checkJson, receipts, store, key, mask, log } = parts;
  const limiters = createLimiters(store, "mcp");
  const held = new Map<string, RunningCall>();

  async function begin(attempt: Attempt): Promise<CallOutcome> {
    const { server, definition, call, options } = attempt;
    const params = await readParams(checkJson, definition, call.params, options.signal);
    const verdict = await limiters.find(server.name, server.file.rateLimit).take(options.user);
    if (!verdict.ok) throw new Refused(RATE_LIMIT_EXCEEDED, limitWords(verdict));
    return send(attempt, params, 0);
  }

  async function send(
    attempt: Attempt,
    params: Readonly<Record<string, unknown>>,
    round: number,
    retry?: Readonly<Record<string, unknown>>,
  ): Promise<CallOutcome> {
    const { server, tool, definition, options } = attempt;
    const millis = server.file.limits.timeoutSecs * 1000;
    const limit = AbortSignal.timeout(millis);
    const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
    const lease = await sessions.use(server, options.user, signal);
    if (lease.definitionOf(tool.tool)?.digest !== definition.digest) {
      // This session's list may be newer than the row that was read.
      requireUsable(tool.name, await rows.tool(tool.name));
      throw new Refused(
        "held_back",
        `${server.name} offers ${tool.name} in another form to this user: it was not called.`,
      );
    }
    const running = startCall(millis, lease.begin, (stop) =>
      lease.session.call(definition, params, stop, retry),
    );
    return follow(attempt, running, round);
  }

  async function follow(attempt: Attempt, running: RunningCall, round: number): Promise<CallOutcome> {
    const { server, definition, options, traffic } = attempt;
    const began = performance.now();
    try {
      const step = await running.next(options.signal);
      if (step.type === "question") return holdOpen(attempt, running, step.params);
      if (step.type === "input_required") return askAgain(attempt, step, round);
      traffic.bytes = Buffer.byteLength(JSON.stringify(step));
      const { structured, isError } = step;
      const { outputSchema } = definition;
      const isChecked = outputSchema !== undefined && structured !== undefined && !isError;
      const mistakes = isChecked
        ? await check(checkJson, outputSchema, structured, AbortSignal.timeout(CHECK_TIMEOUT_MS))
        : [];
      return toOutcome(step, mistakes, mask);
    } catch (error) {
      if (!running.isLate || options.signal?.aborted === true) throw error;
      const { timeoutSecs } = server.file.limits;
      throw new Refused("timeout", `${server.name} gave no complete answer within ${timeoutSecs} seconds.`);
    } finally {
      traffic.millis = Math.max(1, Math.round(performance.now() - began));
    }
  }

  /** A server of the older revision waits for the answer with the call open, in this process alone. */
  function holdOpen(attempt: Attempt, running: RunningCall, params: ElicitRequest["params"]): CallOutcome {
    try {
      const questions = readRequests({ answer: { method: "elicitation/create", params } });
      return ask(attempt, questions, (id) => {
        held.set(id, running);
        setTimeout(() => held.delete(id), HELD_TTL_MS).unref();
        return { type: "held" };
      });
    } catch (error) {
      running.abort();
      throw unaskable(attempt, error);
    }
  }

  /** A server of the newer revision wants to be called again with the answers. */
  function askAgain(
    attempt: Attempt,
    { requests, state }: Extract<CallAnswer, { type: "input_required" }>,
    round: number,
  ): CallOutcome {
    const { call, definition } = attempt;
    try {
      if (round >= MAX_ROUNDS) throw new Unaskable(`it asked ${round} times for one call`);
      const questions = readRequests(requests);
      if (state !== undefined && !(typeof state === "string" && state.length <= MAX_STATE_LENGTH))
        throw new Unaskable("the state that it wants to be kept is too large");
      return ask(attempt, questions, () => ({
        type: "retry",
        digest: definition.digest,
        params: call.params,
        state,
        round: round + 1,
        until: Date.now() + RESUMPTION_TTL_MS,
      }));
    } catch (error) {
      throw unaskable(attempt, error);
    }
  }

  /** The resumption is sealed, because it is stored in the thread with the params and the server's state. */
  function ask(
    { server, call, options }: Attempt,
    questions: readonly Question[],
    complete: (id: string) => object,
  ): CallOutcome {
    const id = randomUUID();
    const resumption = { id, user: options.user, name: call.name, questions, ...complete(id) };
    const resume = seal(key, SEALED_AS, JSON.stringify(resumption));
    return { status: "question", server: server.name, questions, resume };
  }

  function readResumption(text: string): Resumption | undefined {
    try {
      return JSON.parse(unseal(key, SEALED_AS, text)) as Resumption;
    } catch {
      return undefined;
    }
  }

  /** The same resumption can be used again after replies that do not match the questions. */
  async function goOn(attempt: Attempt, text: string, replies: readonly Reply[]): Promise<CallOutcome> {
    const { server, definition, call, options } = attempt;
    const resumption = readResumption(text);
    if (resumption?.name !== call.name || resumption.user !== options.user)
      throw new Refused("no_such_question", "This answers no question of this tool.");
    const { questions } = resumption;
    const again = await checkReplies(checkJson, questions, replies);
    if (again !== undefined)
      return { status: "question", server: server.name, questions: again, resume: text };
    const replyTo = (key: string) => toResult(replies.find((reply) => reply.key === key));
    if (resumption.type === "held") {
      const running = held.get(resumption.id);
      held.delete(resumption.id);
      if (running === undefined || running.isLate) throw new Refused("question_over", OVER);
      running.reply(replyTo(questions[0]?.key ?? ""));
      return follow(attempt, running, 0);
    }
    const { id, digest, round, state: requestState, until, params } = resumption;
    if (digest !== definition.digest)
      throw new Refused("tool_changed", `${call.name} changed while its question waited. Call it again.`);
    if (Date.now() > until || !(await rows.takeOnce(id, RESUMPTION_TTL_MS)))
      throw new Refused("question_over", OVER);
    const inputResponses = Object.fromEntries(questions.map(({ key }) => [key, replyTo(key)]));
    const retry = { inputResponses, ...(requestState !== undefined && { requestState }) };
    return send({ ...attempt, call: { ...call, params } }, JSON.parse(params), round, retry);
  }

  async function run(
    call: ToolCall,
    options: CallOptions,
    act: (attempt: Attempt) => Promise<CallOutcome>,
  ): Promise<{ readonly outcome: CallOutcome; readonly receipt?: Receipt }> {
    const found = await rows.tool(call.name);
    if (found === undefined) return { outcome: noSuchTool(call.name).outcome };
    const { server } = found;
    const id = randomUUID();
    const at = Date.now();
    const traffic = { bytes: 0, millis: 0 };
    let definition: Definition | undefined;
    let ended: CallOutcome;
    try {
      definition = requireUsable(call.name, found);
      ended = await act({ ...found, definition, call, options, traffic });
    } catch (error) {
      ended = explain(server, call, options, error);
    }
    const outcome = withReceipt(ended, id, mask);
    const receipt = receiptOf(outcome, { id, at, server, definition, call, options, traffic });
    await receipts.add(receipt, (error) =>
      log.error({ error, receipt }, `the receipt for a call of ${call.name} could not be stored`),
    );
    return { outcome, receipt };
  }

  return {
    call: (call: ToolCall, options: CallOptions) => run(call, options, begin),
    resume: (call: ToolCall, text: string, replies: readonly Reply[], options: CallOptions) =>
      run(call, options, (attempt) => goOn(attempt, text, replies)),
    /** The outcome of a call that would be refused before anything is sent. */
    async refusal({ name, params }: ToolCall): Promise<ToolOutcome | undefined> {
      const found = await rows.tool(name);
      if (found === undefined) return undefined;
      try {
        await readParams(checkJson, requireUsable(name, found), params);
        return undefined;
      } catch (error) {
        if (error instanceof Refused) return error.outcome;
        throw error;
      }
    },
    async close(): Promise<void> {
      for (const running of held.values()) running.abort();
      held.clear();
      await limiters.close();
    },
  };
}

function unaskable({ server }: Attempt, error: unknown): unknown {
  if (!(error instanceof Unaskable)) return error;
  return new Refused("unsupported", `${server.name} cannot be answered: ${error.message}.`);
}

interface EndedCall extends Pick<Attempt, "server" | "call" | "options" | "traffic"> {
  readonly id: string;
  readonly at: number;
  /** Undefined if the call was refused before its definition was known. */
  readonly definition: Definition | undefined;
}

function receiptOf(outcome: CallOutcome, ended: EndedCall): Receipt {
  const { id, at, server, definition, call, options, traffic } = ended;
  const { bytes, millis } = traffic;
  const isSent = millis > 0;
  const credentials = isSent ? credentialsOf(server) : [];
  const error = outcome.status === "error" ? outcome.message.slice(0, MAX_REQUEST_ERROR_LENGTH) : undefined;
  const request = { method: "tools/call", host: hostOf(server), bytes, millis, credentials, error };
  return {
    id,
    at: new Date(at).toISOString(),
    tool: call.name,
    digest: definition?.digest ?? "",
    user: options.user,
    channel: options.channel || undefined,
    parent: options.parent,
    millis: Date.now() - at,
    ...summaryOf(outcome),
    requests: isSent ? [request] : [],
    credentials,
    memoryPeak: 0,
    logs: [],
    logsDropped: 0,
  };
}

/** An error may quote the server. */
function withReceipt(ended: CallOutcome, receipt: string, { hide }: Mask): CallOutcome {
  if (ended.status === "ok") return { ...ended, receipt };
  return ended.status === "error" ? { ...ended, message: hide(ended.message), receipt } : ended;
}

function summaryOf(outcome: CallOutcome): Pick<Receipt, "status" | "code" | "message"> {
  const { status } = outcome;
  if (status === "error") return { status, code: outcome.code, message: outcome.message };
  if (status === "unauthenticated") return { status, code: "unauthenticated", message: outcome.message };
  return { status };
}

function hostOf({ name, file: { target } }: StoredServer): string {
  return target.type === "http" ? new URL(target.url).host : `the command of ${name}`;
}

function credentialsOf({ file: { target } }: StoredServer): readonly string[] {
  if (target.type === "command") return target.env;
  return target.credential.isNamed ? [target.credential.secretName] : [];
}
