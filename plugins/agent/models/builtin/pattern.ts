/**
 * Regular expressions that callers bring in their schemas. One may backtrack for hours, so each test
 * runs in a context that is stopped after a moment; what cannot be decided in time does not match.
 */
import { createContext, Script } from "node:vm";

const MILLIS = 50;
const script = new Script("pattern.test(text)");
const context = createContext({ pattern: /^/, text: "" });

/** Patterns that could not be decided: not tried again, for a text has many words. */
const undecided = new Set<string>();
const MOST_UNDECIDED = 100;

export function matchesPattern(source: string, text: string): boolean {
  if (undecided.has(source)) return false;
  try {
    context["pattern"] = compile(source);
    context["text"] = text;
    return script.runInContext(context, { timeout: MILLIS }) === true;
  } catch {
    if (undecided.size >= MOST_UNDECIDED) undecided.clear();
    undecided.add(source);
    return false;
  }
}

function compile(source: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch {
    return new RegExp(source);
  }
}
