/** A call as a conversation with its server: sent, perhaps asked back, gone on with, and ended with an outcome. */

import type { ElicitRequest } from "@modelcontextprotocol/client";
import type { SealingKey } from "../../../kernel/kit.ts";
import type {
  CallOptions,
  CallOutcome,
  JsonSchema,
  Mask,
  Question,
  Reply,
  ToolCall,
} from "../../../kernel/plugin.ts";
import { ConnectionFailed } from "../session/failure.ts";
import type { Lease } from "../session/link.ts";
import type { CallAnswer } from "../session/session.ts";
import type { Connections } from "../session/sessions.ts";
import type { ServerRows, StoredServer } from "../tools/rows.ts";
import { HELD_MILLIS, type RunningCall, startCall } from "./open-call.ts";
import { readQuestion, readRequests, toResult, Unaskable } from "./questions.ts";
import type { Traffic } from "./receipt.ts";
import { failed, isRefusal, type Ready, type Refusal, refuse } from "./refusal.ts";
import { toOutcome } from "./result.ts";
import { createResumptions, KEPT_MILLIS, newId, readState } from "./resumption.ts";

export interface DialogueParts {
  readonly rows: ServerRows;
  readonly connections: Connections;
  /** Seals what questions are gone on with. */
  readonly key: SealingKey;
  readonly mask: Mask;
  /** The tool as it may be called now. */
  ready(name: string): Promise<Ready | Refusal>;
  /** What is wrong with a value, found in the sandbox. */
  check(schema: JsonSchema, value: unknown, signal: AbortSignal): Promise<readonly string[]>;
}

export interface Dialogue {
  /** `params` have been checked. */
  begin(
    found: Ready,
    call: ToolCall,
    params: Readonly<Record<string, unknown>>,
    options: CallOptions,
    traffic: Traffic,
  ): Promise<CallOutcome>;
  goOn(
    found: Ready,
    call: ToolCall,
    resume: string,
    replies: readonly Reply[],
    options: CallOptions,
    traffic: Traffic,
  ): Promise<CallOutcome>;
  close(): void;
}

const MOST_ROUNDS = 10;
/** What came of a call that nobody answered in time is kept a little longer, to say so. */
const FORGOTTEN_MILLIS = HELD_MILLIS + 5 * 60_000;
const CHECK_MILLIS = 10_000;
const OVER =
  "The question can no longer be answered: the call it belongs to is over, or it was answered already. Call the tool again.";

export function createDialogue({ rows, connections, key, mask, ready, check }: DialogueParts): Dialogue {
  const resumptions = createResumptions(key);
  /** Calls of this process that wait for a person. */
  const held = new Map<string, RunningCall>();

  /** On a connection that offers the tool as it was agreed to. */
  async function start(
    { server, tool, definition }: Ready,
    name: string,
    options: CallOptions,
    send: (lease: Lease, signal: AbortSignal) => Promise<CallAnswer>,
  ): Promise<RunningCall | Refusal> {
    const millis = server.file.limits.timeoutSecs * 1000;
    const limit = AbortSignal.timeout(millis);
    const signal = options.signal === undefined ? limit : AbortSignal.any([limit, options.signal]);
    const lease = await connections.use(server, options.user, signal);
    // What this connection lists may be newer than what was read.
    if (lease.definitionOf(tool.tool)?.digest !== definition.digest) {
      const again = await ready(name);
      if (isRefusal(again)) return again;
      return refuse(
        "held_back",
        `${server.name} offers ${name} in another form to this user: it was not called.`,
      );
    }
    return startCall(millis, lease.begin, (stop) => send(lease, stop));
  }

  /** What happens next in a call: its outcome, or a question that it waits for. */
  async function follow(
    found: Ready,
    call: ToolCall,
    options: CallOptions,
    running: RunningCall,
    traffic: Traffic,
    round: number,
  ): Promise<CallOutcome> {
    const { server, definition } = found;
    const began = performance.now();
    try {
      const step = await running.next(options.signal);
      if (step.type === "question") return holdOpen(server, call, options, running, step.params);
      const { answer } = step;
      if (answer.type === "input_required") return ask(found, call, options, answer, round);
      traffic.bytes = sizeOf(answer);
      const { structured, isError } = answer;
      const { outputSchema } = definition;
      const isChecked = outputSchema !== undefined && structured !== undefined && !isError;
      const mistakes = isChecked
        ? await check(outputSchema, structured, AbortSignal.timeout(CHECK_MILLIS))
        : [];
      return toOutcome(answer, mistakes, mask);
    } catch (error) {
      return explainEnd(found, call, options, running, error);
    } finally {
      traffic.millis = Math.max(1, Math.round(performance.now() - began));
    }
  }

  /** An older server waits for the answer with the call open: this process has it, and no other. */
  function holdOpen(
    server: StoredServer,
    { name }: ToolCall,
    { user }: CallOptions,
    running: RunningCall,
    params: ElicitRequest["params"],
  ): CallOutcome {
    const id = newId();
    try {
      const questions = readQuestion("answer", params);
      held.set(id, running);
      setTimeout(() => held.delete(id), FORGOTTEN_MILLIS).unref();
      const resume = resumptions.write({ type: "held", id, user, name, questions });
      return { status: "question", server: server.name, questions, resume };
    } catch (error) {
      running.abort();
      return unaskable(server, error);
    }
  }

  /** A newer one wants to be called again with the answers. */
  function ask(
    { server, definition }: Ready,
    { name, params }: ToolCall,
    { user }: CallOptions,
    { requests, state: given }: Extract<CallAnswer, { type: "input_required" }>,
    round: number,
  ): CallOutcome {
    try {
      if (round >= MOST_ROUNDS) throw new Unaskable(`it asked ${round} times for one call`);
      const questions = readRequests(requests);
      const state = readState(given);
      if (given !== undefined && state === undefined)
        throw new Unaskable("what it wants to be kept is too large");
      const { digest } = definition;
      const until = Date.now() + KEPT_MILLIS;
      const resume = resumptions.write({
        ...{ type: "retry", id: newId(), user, name, digest, params, questions, until },
        round: round + 1,
        ...(state !== undefined && { state }),
      });
      return { status: "question", server: server.name, questions, resume };
    } catch (error) {
      return unaskable(server, error);
    }
  }

  async function begin(
    found: Ready,
    call: ToolCall,
    options: CallOptions,
    traffic: Traffic,
    round: number,
    send: (lease: Lease, signal: AbortSignal) => Promise<CallAnswer>,
  ): Promise<CallOutcome> {
    let running: RunningCall | Refusal;
    try {
      running = await start(found, call.name, options, send);
    } catch (error) {
      return explainEnd(found, call, options, undefined, error);
    }
    return isRefusal(running) ? running : follow(found, call, options, running, traffic, round);
  }

  /** Goes on with what `resume` holds. Where the replies are not what was asked for, it can be tried again. */
  async function goOn(
    found: Ready,
    call: ToolCall,
    text: string,
    replies: readonly Reply[],
    options: CallOptions,
    traffic: Traffic,
  ): Promise<CallOutcome> {
    const resumption = resumptions.read(text);
    if (resumption?.name !== call.name || resumption.user !== options.user)
      return refuse("no_such_question", "This answers no question of this tool.");
    const { questions } = resumption;
    const again = await judgeReplies(found.server, questions, replies, text);
    if (again !== undefined) return again;
    const replyTo = (key: string) => toResult(replies.find((reply) => reply.key === key));
    if (resumption.type === "held") {
      const running = held.get(resumption.id);
      held.delete(resumption.id);
      if (running === undefined || running.isLate) return refuse("question_over", OVER);
      running.reply(replyTo(questions[0]?.key ?? ""));
      return follow(found, call, options, running, traffic, 0);
    }
    const { id, digest, round, state, until } = resumption;
    if (digest !== found.definition.digest)
      return refuse("tool_changed", `${call.name} changed while its question waited. Call it again.`);
    if (Date.now() > until || !(await rows.takeOnce(id, KEPT_MILLIS))) return refuse("question_over", OVER);
    const params = JSON.parse(resumption.params) as Readonly<Record<string, unknown>>;
    const inputResponses = Object.fromEntries(questions.map(({ key }) => [key, replyTo(key)]));
    const retry = { inputResponses, ...(state !== undefined && { requestState: state }) };
    return begin(found, { ...call, params: resumption.params }, options, traffic, round, (lease, signal) =>
      lease.connection.call(found.definition, params, { signal, retry }),
    );
  }

  /** The same questions again, with what was wrong, where an answer does not match the schema. */
  async function judgeReplies(
    server: StoredServer,
    questions: readonly Question[],
    replies: readonly Reply[],
    resume: string,
  ): Promise<CallOutcome | undefined> {
    const wrong = new Map<string, string>();
    for (const { key, schema, url } of questions) {
      const reply = replies.find((one) => one.key === key);
      if (reply?.action !== "accept" || schema === undefined || url !== undefined) continue;
      const mistakes = await check(schema, reply.content ?? {}, AbortSignal.timeout(CHECK_MILLIS));
      if (mistakes.length > 0) wrong.set(key, mistakes.join("; "));
    }
    if (wrong.size === 0) return undefined;
    const asked = questions.map((question) => {
      const why = wrong.get(question.key);
      return why === undefined
        ? question
        : { ...question, message: `${question.message}\n(Not accepted: ${why})` };
    });
    return { status: "question", server: server.name, questions: asked, resume };
  }

  function explainEnd(
    { server }: Ready,
    call: ToolCall,
    options: CallOptions,
    running: RunningCall | undefined,
    error: unknown,
  ): CallOutcome {
    if (options.signal?.aborted === true) return refuse("cancelled", "The call was cancelled.");
    if (running?.isLate === true)
      return refuse(
        "timeout",
        `${server.name} gave no complete answer within ${server.file.limits.timeoutSecs} seconds.`,
      );
    if (error instanceof ConnectionFailed) return failed(server, call.name, error);
    throw error;
  }

  return {
    begin: (found, call, params, options, traffic) =>
      begin(found, call, options, traffic, 0, (lease, signal) =>
        lease.connection.call(found.definition, params, { signal }),
      ),
    goOn,
    close() {
      for (const running of held.values()) running.abort();
      held.clear();
    },
  };
}

function unaskable(server: StoredServer, error: unknown): Refusal {
  if (!(error instanceof Unaskable)) throw error;
  return refuse("unsupported", `${server.name} cannot be answered: ${error.message}.`);
}

function sizeOf(answer: CallAnswer): number {
  return Buffer.byteLength(JSON.stringify(answer));
}
