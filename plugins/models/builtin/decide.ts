/** Decides what to answer: a pure function of the messages, the tools and the clock. */
import { tryRecord } from "../../../kernel/kit/text.ts";
import { ROUTINE_PROPOSE } from "../../../kernel/kit/tools.ts";
import { ownWords } from "../../../kernel/kit/untrusted.ts";
import { offerTools } from "../providers/request.ts";
import type { ModelMessage, ModelRequest, ModelTool } from "../services.ts";
import { answerSum } from "./arithmetic.ts";
import { isoTime, sayDay, sayDistance, scheduleIn } from "./dates.ts";
import { type Intent, intentOf } from "./intent.ts";
import { type Candidate, choose, fill, fillFormat, guess, takesDay, weigh } from "./match.ts";
import { bestNotes, notePath, sayNotes } from "./memory.ts";
import { hear } from "./message-reader.ts";
import { answerFrom, unwrap } from "./outcome.ts";
import { type Branch, branchesOf, type Params } from "./schema.ts";
import * as talk from "./talk.ts";
import { webCall } from "./web.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly params: Params }[];
  /** True where only a language model could do it. */
  readonly isUnable?: boolean;
  /** The call that the text asks a question for; the next message may answer it. */
  readonly pending?: Omit<Candidate, "score">;
}

const MAX_QUERY_LENGTH = 1000;
/** So many questions that answer one another are followed back. */
const MAX_CHAIN = 8;

const say = (text: string): Reply => ({ text, calls: [] });
const refuse = (text: string): Reply => ({ text, calls: [], isUnable: true });
const use = (name: string, params: Params): Reply => ({ text: "", calls: [{ name, params }] });
const wordsOfUser = (message?: ModelMessage) => (message?.role === "user" ? ownWords(message.text) : "");
const lastWords = ({ messages }: ModelRequest) =>
  wordsOfUser(messages.findLast(({ role }) => role === "user"));

export function decide(given: ModelRequest, now: Date): Reply {
  const { tools = [], choice = "none" } = offerTools(given) ?? {};
  const reply = replyTo({ ...given, tools: choice === "none" ? [] : tools }, now);
  if (reply.calls.length > 0) return reply;
  const last = given.messages.at(-1);
  if (choice === "required" && last?.role === "user") return callAny(wordsOfUser(last), tools, now);
  const { format } = given;
  return format ? { ...reply, text: fillFormat(format, hear(lastWords(given), now), reply.text) } : reply;
}

function replyTo(request: ModelRequest, now: Date): Reply {
  const { messages, tools } = request;
  const at = messages.findLastIndex(({ role }) => role !== "tool");
  const results = messages.slice(at + 1).filter((message) => message.role === "tool");
  const [first] = results;
  const asked = messages[at];
  if (!first) {
    if (asked?.role !== "user") return say(talk.greeting(tools));
    return asked.attachments?.length ? refuse(talk.unreadFiles()) : answer(request, at, now, 0);
  }
  const question = lastWords(request);
  const { type, about } = intentOf(question);
  if (type === "forget" && first.call.name === "memory_search" && !first.failed)
    return forget(about, tryRecord(unwrap(first.output).text)["results"], tools);
  const text = results.map((result) => answerFrom(result, question, tools)).join("\n\n");
  return text === talk.noMatch(tools) ? refuse(text) : say(text);
}

function callOwn(tools: readonly ModelTool[], name: string, params: Params): Reply {
  const isThere = tools.some((tool) => tool.name === name);
  return isThere ? use(name, params) : say("I have no memory here, so I cannot do that.");
}

/** Calls a tool in any case: the nearest one, or else the last, which is the caller's where there is one. */
function callAny(words: string, tools: readonly ModelTool[], now: Date): Reply {
  const heard = hear(words, now);
  const weighed = tools.flatMap((tool) => weigh(tool, heard) ?? []);
  const [best] = weighed.sort((one, other) => other.score - one.score);
  const tool = best?.tool ?? tools.at(-1);
  const branch = best?.branch ?? (tool && branchesOf(tool.schema)[0]);
  if (!tool || !branch) return refuse(talk.noMatch(tools));
  const { params, missing } = best?.filled ?? fill(tool, branch, heard);
  const guessed = missing.map((one) => [one.name, guess(one, heard.text)]);
  return use(tool.name, { ...params, ...Object.fromEntries(guessed) });
}

function answer(request: ModelRequest, at: number, now: Date, depth: number): Reply {
  const text = wordsOfUser(request.messages[at]);
  const intent = intentOf(text);
  return (
    resume(request, at, text, intent, now, depth) ??
    browse(request, text, intent) ??
    schedule(text, intent, request.tools, now) ??
    answerPlain(intent, request.tools) ??
    follow(request, at, text, now) ??
    countDays(text, intent, request.tools, now) ??
    matchTool(text, request.tools, now) ??
    answerUnmatched(text, intent, request.tools, now)
  );
}

/** Reads the message as the answer to the question before it, found by answering again. Another model's text would differ. */
function resume(request: ModelRequest, at: number, text: string, { type }: Intent, now: Date, depth: number) {
  const [question, asked] = request.messages.slice(Math.max(0, at - 2), at);
  if (depth >= MAX_CHAIN || question?.role !== "user" || asked?.role !== "assistant") return undefined;
  if (!asked.text.includes(talk.STILL_NEED)) return undefined;
  const { pending, text: again } = answer(request, at - 2, now, depth + 1);
  if (!pending || again.trim() !== asked.text.trim()) return undefined;
  if (type === "cancel") return say("OK, cancelled.");
  if (!["request", "answer", "thanks", "until"].includes(type)) return undefined;
  const heard = hear(text, now);
  // Words that make a whole request are a new one.
  const [other] = choose(heard, request.tools);
  const { tool, branch, filled } = pending;
  if (other?.filled.missing.length === 0 && other.tool !== tool) return undefined;
  return proceed({ tool, branch, filled: fill(tool, branch, heard, filled.params, filled.missing[0]?.name) });
}

function browse({ messages, tools }: ModelRequest, text: string, { type }: Intent): Reply | undefined {
  const call = type === "request" ? webCall(text, messages, tools) : undefined;
  return call && use(call.name, call.params);
}

/** Replies to messages that need no tool but memory. */
function answerPlain({ type, about }: Intent, tools: readonly ModelTool[]): Reply | undefined {
  const query = about.slice(0, MAX_QUERY_LENGTH);
  const replies: Partial<Record<Intent["type"], () => Reply | string | undefined>> = {
    empty: () => 'Your message has no words. Ask me something, or say "What can you do?"',
    greet: () => talk.greeting(tools),
    thanks: () => "You are welcome.",
    bye: () => "Goodbye!",
    mood: () => "I am a program, and I am running fine. What can I do for you?",
    help: () => refuse(talk.help(tools)),
    identity: () => refuse(talk.identity()),
    cancel: () => "There is nothing to cancel.",
    answer: () => "I did not ask anything. What would you like me to do?",
    echo: () => about,
    remember: () => callOwn(tools, "memory_write", { path: notePath(about), text: about }),
    recall: () => callOwn(tools, "memory_search", { query }),
    forget: () => callOwn(tools, "memory_search", { query }),
    read: () => callOwn(tools, "memory_read", { path: about }),
    inventory: () => callOwn(tools, "memory_tree", {}),
    clear: () => 'I only delete notes one by one. "List my notes" shows them; then say "forget …".',
    request: () => answerSum(about),
  };
  const reply = replies[type]?.();
  return typeof reply === "string" ? say(reply) : reply;
}

/** Proposes a routine: what is asked for again and again, or later. A reminder is said as it was given. */
function schedule(text: string, { type }: Intent, tools: readonly ModelTool[], now: Date): Reply | undefined {
  if (type !== "remind" && (type !== "routine" || isQuestion(text))) return undefined;
  if (!tools.some(({ name }) => name === ROUTINE_PROPOSE)) return say("I cannot schedule anything here.");
  const [schedule, rest = ""] = scheduleIn(text, now);
  const task = rest.replace(/^(?:please |remind me|set an? \w+|wake me|up|to|that|for|about|[\s,:])+/i, "");
  if (schedule === undefined || task === "") return say(talk.WHEN);
  return use(ROUTINE_PROPOSE, { schedule, text: type === "remind" ? `Say: ${task}` : task });
}

/** Forgets the note that the search found, but only the one that says all of it. */
function forget(fact: string, results: unknown, tools: readonly ModelTool[]): Reply {
  const [note, ...others] = bestNotes(fact, results);
  if (!note) return say("I have no note about that, so there is nothing to forget.");
  if (note.share === 1 && others.length === 0) return callOwn(tools, "memory_remove", { path: note.path });
  return say(`${sayNotes([note, ...others])}\n\nTo forget one, say "forget" and what the note says.`);
}

/** Repeats the last call with what is new: "And in Paris?" */
function follow({ messages, tools }: ModelRequest, at: number, text: string, now: Date): Reply | undefined {
  const [opening] = /^(?:and|what about|how about|same for|also)\b[\s,]*/i.exec(text) ?? [];
  const recent = messages.slice(Math.max(0, at - 8), at);
  const last = recent.flatMap((one) => (one.role === "assistant" ? one.calls : [])).at(-1);
  const tool = tools.find(({ name }) => name === last?.name && !name.startsWith("memory_"));
  if (opening === undefined || !tool || isQuestion(text.slice(opening.length, -1))) return undefined;
  const fresh = hear(text.slice(opening.length), now);
  const known = tryRecord(last?.params ?? "");
  const isSame = ({ fixed }: Branch) => Object.entries(fixed).every(([name, value]) => known[name] === value);
  const branch = weigh(tool, fresh)?.branch ?? branchesOf(tool.schema).find(isSame);
  return branch && proceed({ tool, branch, filled: fill(tool, branch, fresh, known) });
}

/** Uses the tool that the message means. Where several fit alike, it is the one that has all it needs. */
function matchTool(text: string, tools: readonly ModelTool[], now: Date): Reply | undefined {
  // "What is 10 kg in pounds?" and "how many feet are in 3 miles?" ask to convert.
  const reworded = text
    .replace(/^(?:what(?:['’]?s| is)|how much is) ([-\d.,]+ \S+) in (?=\S)/i, "convert $1 to ")
    .replace(/^how many (\S+) (?:are|is) (?:there )?(?:in )?([-\d.,]+ \S+)/i, "convert $2 to $1");
  const close = choose(hear(reworded, now), tools);
  const best = close.find(({ filled }) => filled.missing.length === 0) ?? close[0];
  return best && proceed(best);
}

function proceed(pending: NonNullable<Reply["pending"]>): Reply {
  const { tool, filled } = pending;
  const [missing] = filled.missing;
  return missing ? { ...say(talk.askFor(tool, missing)), pending } : use(tool.name, filled.params);
}

/** Says how far away a day is, where no tool is given a day: one that runs code would take the words for code. */
function countDays(text: string, { type, about }: Intent, tools: readonly ModelTool[], now: Date) {
  const isCount = type === "until" && /^(?:how many )?days\b/i.test(text);
  const distance = isCount ? sayDistance(about, now) : undefined;
  if (distance === undefined) return undefined;
  const close = choose(hear(text, now), tools);
  const counter = close.find(({ branch, filled }) => filled.missing.length === 0 && takesDay(branch));
  return counter ? proceed(counter) : say(distance);
}

/** Answers where no tool fits: with the clock, a date, a note, or the plain truth. */
function answerUnmatched(text: string, { type, about }: Intent, tools: readonly ModelTool[], now: Date) {
  if (type === "time")
    return say(`It is ${isoTime(now).slice(0, 5)} on ${sayDay(now)}, by this machine's clock.`);
  if (type === "date") return say(`Today is ${sayDay(now)}.`);
  const distance = type === "until" ? sayDistance(about, now) : undefined;
  if (distance !== undefined) return say(distance);
  if (type === "until" && /^(?:how|days)\b/i.test(text))
    return say('I do not know which day that is. Give me a date, such as "days until 24 March".');
  if (!isQuestion(text) || !tools.some(({ name }) => name === "memory_search"))
    return refuse(talk.noMatch(tools));
  return callOwn(tools, "memory_search", { query: text.slice(0, MAX_QUERY_LENGTH) });
}

/** True for a question, and not for a request that is worded as one ("can you …?"). */
function isQuestion(text: string): boolean {
  const asks = /^(?:what|which|who|whose|where|when|how|why|do|does|did|is|are|am|was)\b/i.test(text);
  return asks || (text.endsWith("?") && !/^(?:can|could|would|will) you\b/i.test(text));
}
