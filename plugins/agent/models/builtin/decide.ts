/** What to answer: a pure function of the messages, the tools and the clock. */
import { ownWords } from "../../../../kernel/kit.ts";
import type { ModelMessage, ModelRequest, ModelTool } from "../model.ts";
import { offerTools } from "../request.ts";
import { answerSum } from "./arithmetic.ts";
import { isoTime, sayDay, sayDistance } from "./dates.ts";
import { fill, fillFormat, guess } from "./fill.ts";
import { type Intent, intentOf } from "./intent.ts";
import { type Candidate, choose, weigh } from "./match.ts";
import { bestNotes, notePath, sayNotes } from "./memory.ts";
import { answerFrom, unwrap } from "./outcome.ts";
import { hear } from "./reading.ts";
import { type Branch, branchesOf, type Params, parseRecord } from "./schema.ts";
import * as talk from "./talk.ts";

export interface Reply {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly params: Params }[];
  /** The call that the text asks a question for; the next message may answer it. */
  readonly pending?: Pending;
}

type Pending = Omit<Candidate, "score">;

/** A longer request is matched by its beginning: nobody names a tool on page three. */
const LONGEST = 2000;
/** How many questions that answer one another are followed back. */
const LONGEST_CHAIN = 8;

export function decide(given: ModelRequest, now: Date): Reply {
  const { tools = [], choice = "none" } = offerTools(given) ?? {};
  const request = { ...given, tools: choice === "none" ? [] : tools };
  const reply = replyTo(request, now);
  if (reply.calls.length > 0) return reply;
  const last = given.messages.at(-1);
  if (choice === "required" && last?.role === "user") return callAny(wordsOfUser(last), tools, now);
  const question = wordsOfUser(given.messages.findLast(({ role }) => role === "user"));
  const { format } = given;
  return format
    ? { ...reply, text: fillFormat(format, hear(question.slice(0, LONGEST), now), reply.text) }
    : reply;
}

function replyTo(request: ModelRequest, now: Date): Reply {
  const { messages, tools } = request;
  const at = messages.findLastIndex(({ role }) => role !== "tool");
  const results = messages.slice(at + 1).filter((message) => message.role === "tool");
  const [first] = results;
  const asked = messages[at];
  if (!first && asked?.role === "user" && asked.attachments?.length) return say(talk.unreadFiles());
  if (!first) return messages[at]?.role === "user" ? answer(request, at, now, 0) : say(talk.greeting(tools));
  const question = wordsOfUser(messages.findLast(({ role }) => role === "user"));
  const { type, about } = intentOf(question);
  if (type === "forget" && first.call.name === "memory_search" && !first.failed)
    return forget(about, parseRecord(unwrap(first.output).text)["results"], tools);
  return say(results.map((result) => answerFrom(result, question, tools)).join("\n\n"));
}

/** The user's own words of a message. */
function wordsOfUser(message: ModelMessage | undefined): string {
  return message?.role === "user" ? ownWords(message.text) : "";
}

function say(text: string): Reply {
  return { text, calls: [] };
}

/** The call of one of the agent's own tools, where it is there. */
function call(tools: readonly ModelTool[], name: string, params: Params): Reply {
  if (tools.some((tool) => tool.name === name)) return { text: "", calls: [{ name, params }] };
  return say("I have no memory here, so I cannot do that.");
}

/** A call in any case: of the tool that is nearest, or else of the last, which is the caller's where there is one. */
function callAny(words: string, tools: readonly ModelTool[], now: Date): Reply {
  const heard = hear(words.slice(0, LONGEST), now);
  const weighed = tools.flatMap((tool) => weigh(tool, heard) ?? []);
  const [best] = weighed.sort((one, other) => other.score - one.score);
  const tool = best?.tool ?? tools.at(-1);
  const branch = best?.branch ?? (tool && branchesOf(tool.schema)[0]);
  if (!tool || !branch) return say(talk.noMatch(tools));
  const { params, missing } = best?.filled ?? fill(tool, branch, heard);
  const guessed = missing.map((one) => [one.name, guess(one, heard.text)]);
  return { text: "", calls: [{ name: tool.name, params: { ...params, ...Object.fromEntries(guessed) } }] };
}

/** The reply to the user's message at this place. */
function answer(request: ModelRequest, at: number, now: Date, depth: number): Reply {
  const text = wordsOfUser(request.messages[at]);
  const intent = intentOf(text);
  return (
    resume(request, at, text, intent, now, depth) ??
    answerPlain(intent, request.tools) ??
    follow(request, at, text, now) ??
    matchTool(text.slice(0, LONGEST), request.tools, now) ??
    answerUnmatched(text, intent, request.tools, now)
  );
}

/**
 * The answer to what the reply before this message asked, if it asked anything: found by answering that message again.
 * The text must agree, or another model wrote it.
 */
function resume(request: ModelRequest, at: number, text: string, { type }: Intent, now: Date, depth: number) {
  const [question, asked] = request.messages.slice(Math.max(0, at - 2), at);
  if (depth >= LONGEST_CHAIN || question?.role !== "user" || asked?.role !== "assistant") return undefined;
  if (!asked.text.includes(talk.STILL_NEED)) return undefined;
  const { pending, text: again } = answer(request, at - 2, now, depth + 1);
  if (!pending || again.trim() !== asked.text.trim()) return undefined;
  if (type === "cancel") return say("OK, cancelled.");
  if (!["request", "answer", "thanks", "until"].includes(type)) return undefined;
  const heard = hear(text.slice(0, LONGEST), now);
  // Words that make a whole request are a new one.
  const [other] = choose(heard, request.tools);
  const { tool, branch, filled } = pending;
  if (other?.filled.missing.length === 0 && other.tool !== tool) return undefined;
  return proceed({ tool, branch, filled: fill(tool, branch, heard, filled.params, filled.missing[0]?.name) });
}

/** What needs no tool but memory. */
function answerPlain({ type, about }: Intent, tools: readonly ModelTool[]): Reply | undefined {
  const query = about.slice(0, LONGEST / 2);
  const replies: Partial<Record<Intent["type"], () => Reply | string | undefined>> = {
    empty: () => 'Your message has no words. Ask me something, or say "What can you do?"',
    greet: () => talk.greeting(tools),
    thanks: () => "You are welcome.",
    bye: () => "Goodbye!",
    mood: () => "I am a program, and I am running fine. What can I do for you?",
    help: () => talk.help(tools),
    identity: () => talk.identity(),
    cancel: () => "There is nothing to cancel.",
    answer: () => "I did not ask anything. What would you like me to do?",
    echo: () => about,
    remember: () => call(tools, "memory_write", { path: notePath(about), text: about }),
    recall: () => call(tools, "memory_search", { query }),
    forget: () => call(tools, "memory_search", { query }),
    read: () => call(tools, "memory_read", { path: about }),
    inventory: () => call(tools, "memory_tree", {}),
    clear: () => 'I only delete notes one by one. "List my notes" shows them; then say "forget …".',
    remind: () => 'I cannot remind you: there are no reminders yet. I can keep a note: say "remember to …".',
    request: () => answerSum(about),
  };
  const reply = replies[type]?.();
  return typeof reply === "string" ? say(reply) : reply;
}

/** The note to forget, once the search for it is back: only the one that says all of it. */
function forget(fact: string, results: unknown, tools: readonly ModelTool[]): Reply {
  const notes = bestNotes(fact, results);
  const [note] = notes;
  if (!note) return say("I have no note about that, so there is nothing to forget.");
  if (note.share === 1 && notes.length === 1) return call(tools, "memory_remove", { path: note.path });
  return say(`${sayNotes(notes)}\n\nTo forget one, say "forget" and what the note says.`);
}

/** "And in Paris?": the last call again, with what is new. */
function follow({ messages, tools }: ModelRequest, at: number, text: string, now: Date): Reply | undefined {
  const [opening] = /^(?:and|what about|how about|same for|also)\b[\s,]*/i.exec(text) ?? [];
  const calls = messages
    .slice(Math.max(0, at - 8), at)
    .flatMap((one) => (one.role === "assistant" ? one.calls : []));
  const last = calls.at(-1);
  const tool = tools.find(({ name }) => name === last?.name && !name.startsWith("memory_"));
  if (opening === undefined || !tool || isQuestion(text.slice(opening.length, -1))) return undefined;
  const fresh = hear(text.slice(opening.length, LONGEST), now);
  const known = parseRecord(last?.params ?? "");
  const isSame = ({ fixed }: Branch) => Object.entries(fixed).every(([name, value]) => known[name] === value);
  const branch = weigh(tool, fresh)?.branch ?? branchesOf(tool.schema).find(isSame);
  return branch && proceed({ tool, branch, filled: fill(tool, branch, fresh, known) });
}

/** The tool that the message means. Of several that fit alike, the one that has all it needs. */
function matchTool(text: string, tools: readonly ModelTool[], now: Date): Reply | undefined {
  const close = choose(hear(reword(text), now), tools);
  const ready = close.filter(({ filled }) => filled.missing.length === 0);
  const best = ready[0] ?? close[0];
  return best && proceed(best);
}

/** "What is 10 kg in pounds?" and "how many feet are in 3 miles?" ask to convert. */
function reword(text: string): string {
  return text
    .replace(/^(?:what(?:['’]?s| is)|how much is) ([-\d.,]+ \S+) in (?=\S)/i, "convert $1 to ")
    .replace(/^how many (\S+) (?:are|is) (?:there )?in ([-\d.,]+ \S+)/i, "convert $2 to $1");
}

/** Calls the tool, or asks for what it still needs. */
function proceed(pending: Pending): Reply {
  const { tool, filled } = pending;
  const [missing] = filled.missing;
  if (!missing) return { text: "", calls: [{ name: tool.name, params: filled.params }] };
  return { ...say(talk.askFor(tool, missing)), pending };
}

/** No tool fits: the clock, a date, a note, or the plain truth. */
function answerUnmatched(text: string, intent: Intent, tools: readonly ModelTool[], now: Date): Reply {
  const { type, about } = intent;
  if (type === "time")
    return say(`It is ${isoTime(now).slice(0, 5)} on ${sayDay(now)}, by this machine's clock.`);
  if (type === "date") return say(`Today is ${sayDay(now)}.`);
  const distance = type === "until" ? sayDistance(about, now) : undefined;
  if (distance !== undefined) return say(distance);
  if (type === "until" && /^(?:how|days)\b/i.test(text))
    return say('I do not know which day that is. Give me a date, such as "days until 24 March".');
  if (!isQuestion(text) || !tools.some(({ name }) => name === "memory_search"))
    return say(talk.noMatch(tools));
  return call(tools, "memory_search", { query: text.slice(0, LONGEST / 2) });
}

/** True for a question, and not for a request that is worded as one ("can you …?"). */
function isQuestion(text: string): boolean {
  const asks = /^(?:what|which|who|whose|where|when|how|why|do|does|did|is|are|am|was)\b/i.test(text);
  return asks || (text.endsWith("?") && !/^(?:can|could|would|will) you\b/i.test(text));
}
