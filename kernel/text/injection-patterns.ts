/** Patterns of prompt injection: text that reads like orders to a model. Findings are pointed out; nothing is dropped. */

const ORDERS: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|all|your|system|any)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules?|directions?|guidelines?|messages?)\b/i,
  /\b(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt)\s*:/i,
  /\byou (?:are now|must now|will now|have to now) (?:a |an |the |in |act|obey|follow|send|call)/i,
  /\b(?:do not|don't|never|without) (?:tell|telling|inform|informing|mention(?:ing)?|alert(?:ing)?)\b[^.\n]{0,30}\b(?:the )?user\b/i,
  /\b(?:reveal|print|repeat|show|output|leak)\b[^.\n]{0,30}\b(?:system prompt|your (?:instructions|prompt|rules)|api keys?|credentials)\b/i,
  /\b(?:important|urgent|attention)\b[^.\n]{0,20}\b(?:ai|assistant|agent|model|llm)s?\b\s*[:,!]/i,
  /\b(?:send|post|forward|upload|exfiltrate)\b[^.\n]{0,60}\b(?:secrets?|passwords?|tokens?|credentials|conversation|chat history|memory)\b[^.\n]{0,40}\bto\b/i,
  /<\|?\/?(?:system|im_start|im_end|assistant)\b[^>\n]{0,20}\|?>|\[\/?INST\]/i,
];

const MAX_EXCERPT_LENGTH = 120;

/** One excerpt for each kind of order in the text. */
export function findOrders(text: string): readonly string[] {
  const found: string[] = [];
  for (const order of ORDERS) {
    const match = order.exec(text)?.[0];
    if (match !== undefined) found.push(match.slice(0, MAX_EXCERPT_LENGTH).toWellFormed());
  }
  return found;
}
