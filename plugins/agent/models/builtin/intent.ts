/** What a message is, before any tool is thought of. Whole-message patterns: a greeting inside a request is none. */

import { readSum } from "./arithmetic.ts";

export type Intent =
  | {
      readonly type:
        | "empty"
        | "greet"
        | "thanks"
        | "bye"
        | "mood"
        | "help"
        | "identity"
        | "tools"
        | "skills"
        | "cancel"
        | "yes"
        | "no";
    }
  | { readonly type: "echo"; readonly text: string }
  | { readonly type: "remember"; readonly fact: string }
  | { readonly type: "recall"; readonly topic: string }
  | { readonly type: "forget"; readonly fact: string }
  | { readonly type: "inventory" }
  | { readonly type: "clock"; readonly of: "time" | "date" }
  | { readonly type: "sum"; readonly expression: string }
  | { readonly type: "request" };

type Plain = Exclude<
  Intent["type"],
  "empty" | "echo" | "remember" | "forget" | "recall" | "skills" | "clock" | "sum" | "request"
>;

const POLITE = "(?:please |kindly |can you |could you |would you |will you |hey,? |ok,? |so,? )*";

const WHOLE: readonly (readonly [Plain, RegExp])[] = [
  [
    "greet",
    /^(?:hi|hello|hey|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|moin|salut|hola|hallo|👋)(?:[ ,]+(?:there|all|again|postern|you|world|everyone|friend))*$/,
  ],
  [
    "thanks",
    /^(?:thanks?|thank you|thx|ty|cheers|great|perfect|awesome|cool|nice|good|ok(?:ay)?|got it|well done|super)(?:[ ,]+(?:thanks?|you|a lot|so much|very much|job|work|that helps?))*$/,
  ],
  [
    "bye",
    /^(?:bye|goodbye|good bye|see you|see ya|good night|farewell|ciao)(?:[ ,]+(?:bye|later|soon|tomorrow))*$/,
  ],
  [
    "mood",
    /^(?:how are you|how['’]?s it going|how do you do|what['’]?s up|sup|how are things|are you (?:ok|okay|well|there|alive))(?: (?:doing|today|now))*$/,
  ],
  [
    "help",
    /^(?:help|help me|\/help|\?|usage|menu|commands|what (?:can|could|do) (?:you|i|we) (?:do|ask|say|try)(?: (?:here|for me|with you|now|exactly|you))*|how (?:can|could) you help(?: me)?|how does this work|how do i (?:start|begin|use (?:this|you))|what (?:is|are) (?:your|the) (?:abilities|capabilities|features|skills|functions)|what are you (?:able to do|capable of|good (?:at|for))|getting started)$/,
  ],
  [
    "identity",
    /^(?:who|what) are you|^what['’]?s your name$|^what is your name$|^(?:what|which) (?:ai |language )?(?:model|llm|ai)(?: (?:is this|are you|do you use|am i (?:talking|speaking) to|is running|are you running|are you using)(?: on| with)?)?$|^are you (?:an? )?(?:real |human|ai|bot|robot|language model|llm|person|gpt|claude|chatgpt|machine|computer)|^who (?:made|built|wrote|created) you$|^introduce yourself$|^tell me about yourself$|^how (?:do|can) i (?:add|use|get|connect|configure|set up|switch to) (?:a |an |another |the |real |better |proper |different )*(?:model|llm|ai|api key)/,
  ],
  [
    "tools",
    /^(?:(?:list|show|tell|give|name)(?: me)?(?: all)?(?: of)?(?: the| your| my| available| installed)* tools?(?: you have| available| installed)?|(?:what|which) tools? (?:(?:do|can|could) (?:you|i) (?:have|use|know|call|offer)|are (?:there|available|installed)|have you got|is installed)|tools|\/tools|do you have (?:any )?tools|what(?:['’]s| is| are) (?:installed|your tools|the tools))$/,
  ],
  [
    "cancel",
    /^(?:cancel|stop|abort|never ?mind|nvm|forget it|forget about it|drop it|leave it|no,? (?:thanks|thank you|cancel|stop|never mind)|not now|quit)(?: (?:it|that|please))*$/,
  ],
  [
    "yes",
    /^(?:yes|yeah|yep|yup|sure|of course|please do|do it|go ahead|correct|right|true|affirmative|y)(?:[ ,]+please)?$/,
  ],
  ["no", /^(?:no|nope|nah|don['’]?t|false|negative|n)$/],
  [
    "inventory",
    /^what (?:should|did|do) (?:i|you) (?:want me to |ask you to |ask me to )?remember$|^(?:what|which (?:things|facts|notes)) (?:do|can) you (?:remember|know|recall)(?: about me| so far| of me)?$|^what have (?:i|you) (?:told you|noted|remembered|saved|stored)(?: so far)?$|^(?:list|show|open)(?: me)?(?: all)?(?: (?:the|my|your))? (?:notes|memories|memory)$|^what(?:['’]s| is) in (?:your|my|the) memory$/,
  ],
];

const REMEMBER = new RegExp(
  `^${POLITE}(?:(?:remember|memori[sz]e|note|keep in mind|don['’]?t forget|do not forget|never forget)(?: down)?(?: that\\b| this\\b| the following\\b)?|(?:make|take|write|add|save|leave)(?: me)?(?: down)? a note(?: that\\b| of\\b| saying\\b| to self\\b)?|write down(?: that\\b)?|save (?:this|that|to memory)|i want you to remember(?: that\\b)?)\\s*[:,-]?\\s+(.+)$`,
  "isu",
);

const FORGET =
  /^(?:please |can you |could you )*(?:forget|delete|erase|remove)(?: (?:that|about|what i (?:said|told you) about|(?:my|the) note(?: that| about)?))\s+(.+)$/isu;

const SKILLS =
  /^(?:(?:list|show)(?: me)?(?: all)?(?: (?:the|your|my))? skills|(?:what|which) skills (?:do you have|are there|can you load|have you got)|skills)$/;

const RECALL: readonly RegExp[] = [
  /^(?:what|when|where|which|who|how)\b.*\b(?:did|have|had) i (?:ever )?(?:say|said|tell|told|mention|mentioned|note|noted|write|written|wrote|save|saved)\b(?: (?:to )?you)?(?: (?:about|regarding|on|of))?\s*(.*)$/isu,
  /^what do you (?:know|remember|recall|have)(?: (?:about|of|on|regarding))\s+(.+)$/isu,
  /^(?:can|could|do|did|will) you (?:still )?(?:remember|recall|know)(?: (?:anything|something|what i (?:said|told you)))?(?: (?:about|of|on))?\s+(.+)$/isu,
  /^(?:please )?(?:remind me|recall)(?: (?:about|of|what i (?:said|told you)(?: about)?))?\s+(.+)$/isu,
  /^(?:search|look (?:in|through|up in)|check)(?: (?:your|my|the))? (?:memory|memories|notes)(?: (?:for|about))?\s+(.+)$/isu,
];

const TIME =
  /^(?:what(?:['’]?s| is)(?: the)?(?: (?:current|exact|local))? time(?: (?:is it|now|right now|please))*|what time is it(?: (?:now|right now|please))*|(?:tell me )?the time|time|current time|do you have the time)$/;
const DATE =
  /^(?:what(?:['’]?s| is)(?: the)? (?:(?:current |today['’]?s )?(?:date|day)(?: (?:is it|today|now))*|today)|what (?:day|date) is (?:it|today|it today)|(?:today['’]?s )?date|which day is (?:it|today)|what (?:year|month) is (?:it|this))$/;
const ECHO =
  /^(?:please )?(?:echo|repeat(?: after me)?|(?:say|reply|respond|answer)(?: (?:with|only|just|exactly|the word))*)\s*(?::\s*(.+)|["“'](.+)["”']|exactly:?\s+(.+))$/isu;

export function intentOf(text: string): Intent {
  const said = text.trim();
  if (said === "") return { type: "empty" };
  const fact = REMEMBER.exec(said)?.[1];
  if (fact !== undefined && !/\?\s*$/.test(said))
    return { type: "remember", fact: fact.trim().replace(/[\s.!]+$/u, "") };
  const forgotten = FORGET.exec(said)?.[1];
  if (forgotten !== undefined) return { type: "forget", fact: forgotten.replace(/[\s.!?]+$/u, "") };
  const echo = ECHO.exec(said);
  const repeated = echo?.slice(1).find((group) => group !== undefined);
  if (repeated !== undefined) return { type: "echo", text: repeated.trim() };
  const bare = said
    .toLowerCase()
    .replace(/[\s.!?…,;:)(]+$/u, "")
    .replace(/\s+/g, " ");
  const short = bare.length < 120 ? bare.replace(new RegExp(`^${POLITE}`, "u"), "") : "";
  const whole = short === "" ? bare : short;
  for (const form of new Set([bare, whole])) {
    const plain = WHOLE.find(([, pattern]) => form.length < 200 && pattern.test(form));
    if (plain) return { type: plain[0] };
    if (SKILLS.test(form)) return { type: "skills" };
    if (TIME.test(form)) return { type: "clock", of: "time" };
    if (DATE.test(form)) return { type: "clock", of: "date" };
  }
  if (!/[\p{L}\p{N}]/u.test(said)) return { type: "empty" };
  const expression = readSum(said);
  if (expression !== undefined) return { type: "sum", expression };
  for (const pattern of RECALL) {
    const topic = pattern.exec(said)?.[1];
    if (topic !== undefined) return { type: "recall", topic: topic.replace(/[\s.!?]+$/u, "") || said };
  }
  return { type: "request" };
}
