/** What to answer: the whole of the built-in model's thinking, a pure function of the messages, the tools and the clock. */

import type { ModelRequest, ModelTool } from "../model.ts";
import { freshResults, lastCallBefore, questionBefore, wordsOfUser } from "./conversation.ts";
import { type Filled, fill } from "./fill.ts";
import { type Intent, intentOf } from "./intent.ts";
import { parseRecord } from "./json.ts";
import { type Candidate, choose, isStatement, rank } from "./match.ts";
import { answerFrom } from "./outcome.ts";
import { placesBeside } from "./places.ts";
import { isPersonal, toSecondPerson } from "./recall.ts";
import { forgetFound, recall, recallAll, remember } from "./remembering.ts";
import { has, type Pending, type Reply, say } from "./reply.ts";
import { type Branch, branchesOf } from "./schema.ts";
import { clock, smallTalk } from "./small-talk.ts";
import * as talk from "./talk.ts";
import { contentStems } from "./words.ts";

/** A request longer than this is matched by its opening: nobody names a tool on page three. */
const LONGEST_REQUEST = 2000;
/** Words that mean nothing by themselves, though a tool may be called so. */
const IDIOMS = /\bin order to\b|\bof course\b|\bby the way\b|\bin (?:that|this|any) case\b/gi;
/** Questions that answer one another, as far back as anyone follows. */
const LONGEST_CHAIN = 8;

export function decide(request: ModelRequest, now: Date): Reply {
  const { messages, tools } = request;
  const results = freshResults(messages);
  if (results.length > 0) {
    const question = questionBefore(messages, messages.length - 1);
    return forgetFound(results, question, tools) ?? say(answerFrom(results, { question, tools }));
  }
  const at = messages.length - 1;
  return messages[at]?.role === "user" ? answer(request, at, now, 0) : say(talk.greeting(tools));
}

/** The reply to the user's message at this place. */
function answer(request: ModelRequest, at: number, now: Date, depth: number): Reply {
  const { tools } = request;
  const message = request.messages[at];
  const text = message?.role === "user" ? wordsOfUser(message.text) : "";
  const intent = intentOf(text);
  const pending = pendingBefore(request, at, now, depth);
  const resumed = pending && resume(pending, text, intent, tools, now);
  if (resumed) return resumed;
  const small = smallTalk(intent, tools, now);
  if (small) return small;
  if (intent.type === "remember") return remember(intent.fact, tools);
  if (intent.type === "inventory") return recallAll(tools);
  const asked = text.slice(0, LONGEST_REQUEST).replace(IDIOMS, " ");
  if (intent.type === "recall") return recall(intent.topic, tools);
  if (intent.type === "forget") return recall(intent.fact, tools);
  if (intent.type === "skills") return say(talk.skillList(request.system));
  return (
    follow(request, at, asked, now) ?? matchTool(asked, tools, now) ?? unmatched(intent, text, tools, now)
  );
}

/**
 * What the answer before this message asked, if it asked anything: found by answering that message again.
 * The text must agree, or it was another model that spoke.
 */
function pendingBefore(request: ModelRequest, at: number, now: Date, depth: number): Pending | undefined {
  const before = request.messages[at - 1];
  if (depth >= LONGEST_CHAIN || before?.role !== "assistant" || before.calls.length > 0) return undefined;
  if (request.messages[at - 2]?.role !== "user") return undefined;
  const again = answer(request, at - 2, now, depth + 1);
  return again.text.trim() === before.text.trim() ? again.pending : undefined;
}

function resume(
  pending: Pending,
  text: string,
  intent: Intent,
  tools: readonly ModelTool[],
  now: Date,
): Reply | undefined {
  if (intent.type === "cancel") return say("All right, I leave it.");
  switch (pending.type) {
    case "offer":
      if (intent.type === "yes") return remember(pending.fact, tools);
      return intent.type === "no" ? say("All right, I do not keep it.") : undefined;
    case "choice": {
      const named = choose(
        rank(
          text,
          pending.candidates.map((candidate) => candidate.tool),
          now,
        ),
      );
      const name = named.length === 1 ? named[0]?.tool.name : undefined;
      const chosen =
        byOrder(text, pending.candidates) ??
        pending.candidates.find((candidate) => candidate.tool.name === name);
      return chosen && proceed(chosen.tool, chosen.branch, chosen.filled, "");
    }
    case "missing": {
      if (!["request", "yes", "no", "thanks", "sum"].includes(intent.type)) return undefined;
      const { tool, branch, filled } = pending;
      // Words that make a whole request by themselves are one.
      const [other] = choose(rank(text, tools, now));
      if (other?.filled.missing.length === 0 && other.filled.sure > 0) return undefined;
      const asked = filled.missing.map((property) => property.name);
      return proceed(tool, branch, fill(tool, branch, text, { now, known: filled.params, asked }), text);
    }
  }
}

function byOrder(text: string, candidates: readonly Candidate[]): Candidate | undefined {
  const order = ["first", "second", "third", "fourth"].findIndex((word) =>
    new RegExp(`\\b${word}\\b`, "i").test(text),
  );
  return candidates[order];
}

/** "And in Paris?": the last call again, with what is new. */
function follow(request: ModelRequest, at: number, text: string, now: Date): Reply | undefined {
  const opening = /^(?:and|what about|how about|now|same for|also)\b[\s,]*/i.exec(text);
  const last = opening && lastCallBefore(request.messages, at);
  const tool = last && request.tools.find((one) => one.name === last.name);
  if (!opening || !last || !tool || tool.name.startsWith("memory_")) return undefined;
  const known = parseRecord(last.params);
  const fresh = text.slice(opening[0].length);
  const branches = branchesOf(tool.schema);
  const before = branches.find((branch) =>
    Object.entries(branch.fixed).every(([key, value]) => known[key] === value),
  );
  const meant = choose(rank(fresh, request.tools, now));
  if (meant[0] && meant[0].tool.name !== tool.name) return undefined;
  const [leaning] = rank(fresh, [tool], now);
  const moved = leaning && leaning.score > 0 ? leaning.branch : undefined;
  const branch = moved ?? before ?? branches[0];
  if (!branch) return undefined;
  const bare = /^\p{L}[\p{L} .'’-]*\??$/u.test(fresh) ? `in ${fresh}` : fresh;
  const heard = [fresh, bare].map((words) => fill(tool, branch, words, { now })).find((one) => one.sure > 0);
  const filled = fill(tool, branch, heard === undefined ? fresh : "", {
    now,
    known: { ...known, ...heard?.params },
  });
  return heard || moved ? proceed(tool, branch, filled, fresh) : undefined;
}

function matchTool(text: string, tools: readonly ModelTool[], now: Date): Reply | undefined {
  const explained =
    /^(?:how (?:do|can) i use|describe|explain|what does|tell me about|what is)(?: the)?(?: tool)? [`"]?([\w.-]+)[`"]?(?: tool)?(?: do)?[?.!\s]*$/i.exec(
      text,
    );
  const named = tools.find((tool) => tool.name.toLowerCase() === explained?.[1]?.toLowerCase());
  if (named && /^what is/i.test(text) === false) return say(talk.describe(named));
  const [first, ...others] = choose(rank(text, tools, now));
  if (!first) return undefined;
  const ready = [first, ...others].filter((one) => one.filled.missing.length === 0 && one.filled.sure > 0);
  const [only] = ready;
  if (others.length === 0 || (only && ready.length === 1)) {
    const chosen = others.length === 0 ? first : (only ?? first);
    return proceed(chosen.tool, chosen.branch, chosen.filled, text);
  }
  // "What are my missions?" wants the one that lists them, which needs nothing.
  const [lister, ...listers] = [first, ...others].filter(
    (one) => !one.branch.properties.some((property) => property.required),
  );
  if (lister && listers.length === 0 && (isAsking(text) || /^(?:show|list|see)\b/i.test(text)))
    return proceed(lister.tool, lister.branch, lister.filled, text);
  const candidates = [first, ...others].slice(0, 4);
  return {
    ...say(talk.askWhich(candidates.map((one) => one.tool.name))),
    pending: { type: "choice", candidates },
  };
}

/** Calls the tool, or asks for what it still needs. */
function proceed(tool: ModelTool, branch: Branch, filled: Filled, text: string): Reply {
  if (filled.missing.length > 0) {
    return {
      ...say(talk.askFor(tool, filled.missing, filled.problems)),
      pending: { type: "missing", tool, branch, filled },
    };
  }
  if (filled.problems.length > 0) return say(talk.unsure(tool, filled.problems));
  const calls = [filled.params, ...placesBeside(branch, filled.params, text)].map((params) => ({
    name: tool.name,
    params,
  }));
  return { text: "", calls };
}

/** A question, not a request in a question's clothes. */
function isAsking(text: string): boolean {
  if (/^(?:can|could|would|will) you\b/i.test(text)) return false;
  return (
    /\?\s*$/.test(text) ||
    /^(?:what|which|who|whose|where|when|how|why|do|does|did|is|are|am|was)\b/i.test(text)
  );
}

/** No tool fits: the clock, a note, an offer to remember, or the plain truth. */
function unmatched(intent: Intent, text: string, tools: readonly ModelTool[], now: Date): Reply {
  if (intent.type === "clock") return say(clock(intent.of, now));
  const isQuestion = isAsking(text);
  const isAboutMe = isPersonal(text) && /^tell me\b/i.test(text);
  if ((isQuestion || isAboutMe) && contentStems(text).size > 0 && has(tools, "memory_search"))
    return recall(text, tools);
  if (isStatement(text) && isPersonal(text) && has(tools, "memory_write") && text.length < 300) {
    const fact = text.replace(/[\s.!]+$/u, "");
    const heard = toSecondPerson(fact.replace(/^My\b/, "my"));
    return {
      ...say(`I hear that ${heard}. I do not chat, but I can keep it: shall I remember that?`),
      pending: { type: "offer", fact },
    };
  }
  return say(talk.lost(tools));
}
