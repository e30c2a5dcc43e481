/** Tells what a message is, before any tool is considered. Only whole messages count: a greeting inside a request is none. */
import { trimEnd } from "../../../kernel/kit/words.ts";

export interface Intent {
  readonly type: (typeof RULES)[number][0] | "empty" | "request";
  /** The fact to remember, or the text to repeat. */
  readonly about: string;
}

/** The first that fits wins. The text comes without the marks at its end, with or without courtesies. */
const RULES = [
  ["recall", /^remind me (?:of|about|what i (?:said|told you)(?: about)?) (.+)/is],
  ["remind", /^(?:remind me|set (?:an? )?(?:reminder|alarm|timer)|wake me)\b/i],
  ["remember", /^(?:remember|note(?: down)?|keep in mind|don['’]?t forget)(?: that| this)?[:,]?\s+(.+)/is],
  ["remember", /^(?:make|take|add) a note(?: that| of)?[:,]?\s+(.+)/is],
  ["cancel", /^(?:cancel|stop|abort|quit|never ?mind|forget (?:about )?it|leave it|no thanks?)(?: it)?$/i],
  ["clear", /^(?:forget|delete|erase|clear) (?:everything|all\b.{0,40}|(?:my|your|the) (?:memory|notes))$/i],
  ["forget", /^forget(?: that| about| what i (?:said|told you) about)?\s+(.+)/is],
  ["echo", /^(?:echo|repeat|(?:say|reply|respond|answer)(?: with| only| just| exactly)*):\s*(.+)/is],
  ["routine", /^(?:daily|hourly|weekdays)\b|\b(?:every|each) (?:\w{0,6}day|hour|week|\d{1,3} \w+)\b/is],
  ["greet", /^(?:hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|👋)(?: there| all| again)*$/i],
  ["thanks", /^(?:thanks?|thank you|thx|cheers|great|cool|nice|ok|okay|got it)(?: you| a lot| so much)*$/i],
  ["bye", /^(?:bye|goodbye|see you|good night|ciao)(?: bye| later| soon| tomorrow)*$/i],
  ["mood", /^(?:how are you|how['’]?s it going|what['’]?s up|are you (?:ok|okay|there))(?: doing| today)*$/i],
  ["help", /^(?:\/?help(?: me)?|\?+|what (?:can|do) (?:you|i) (?:do|ask|say|try)|how does this work)$/i],
  ["identity", /^(?:who|what) are you\b|^what(?:['’]?s| is) your name$|^(?:what|which) (?:model|llm|ai)\b/i],
  ["identity", /^are you (?:an? )?(?:real|human|ai|bot|language model|llm|person|chatgpt|machine)\b/i],
  ["identity", /^how (?:do|can) i (?:add|use|get|set up) (?:an? )?(?:\w+ )?(?:model|llm|api key)$/i],
  ["help", /^(?:\/?tools|(?:list|show)(?: your| my)? tools|what tools (?:do you have|are there))$/i],
  ["answer", /^(?:yes|yeah|yep|sure|of course|go ahead|do it|please do|no|nope|nah)$/i],
  ["read", /^(?:read|open|show) (notes\/\S+)$/i],
  ["inventory", /^(?:what do you (?:remember|know)(?: about me)?|(?:list|show)(?: my| your)? notes)$/i],
  ["time", /^(?:what time is it|what(?:['’]?s| is) the(?: current)? time|time)(?: now| right now)?$/i],
  ["date", /^(?:what(?:['’]?s| is) (?:the date|today)|what (?:day|date) is (?:it|today)|date)(?: today)?$/i],
  ["until", /^(?:how (?:many days|long)\b.{0,30}? |days )(?:until|till|to|before) (.+)/i],
  ["until", /^(?:when is|what (?:day|date) is(?: it)?|what(?:['’]?s| is) the date) (.+)/i],
  ["recall", /^wh(?:at|en|ere)\b.{0,99}\b(?:did|have) i (?:say|said|tell|told)(?: you)?(?: about)?(.*)/is],
  ["recall", /^(?:what do you (?:know|remember) about|do you (?:still )?(?:remember|recall)|recall) (.+)/is],
] as const satisfies readonly (readonly [string, RegExp])[];

const POLITE = /^(?:(?:please|hey|ok|so|can you|could you|would you|will you|i want you to)[ ,]+)+(?=\S)/i;
/** Patterns see the beginning of a long message; the remainder belongs to what it is about. */
const MAX_LENGTH = 2000;

export function intentOf(text: string): Intent {
  const whole = trimEnd(text.trim()) || text.trim();
  const bare = whole.slice(0, MAX_LENGTH);
  if (!/[\p{L}\p{N}?👋]/u.test(bare)) return { type: "empty", about: "" };
  for (const said of new Set([bare, bare.replace(POLITE, "")])) {
    for (const [type, pattern] of RULES) {
      const match = pattern.exec(said);
      if (!match) continue;
      const about = (match.slice(1).find(Boolean) ?? said).trim() + whole.slice(MAX_LENGTH);
      // "Can you remember my bike?" asks for it.
      return { type: type === "remember" && text.trimEnd().endsWith("?") ? "recall" : type, about };
    }
  }
  return { type: "request", about: whole };
}
