/**
 * Regular expressions that callers bring in their schemas. One may backtrack for hours, so each test
 * runs in a context that is stopped after a moment; what cannot be decided in time does not match.
 */
import { createContext, Script } from "node:vm";

const MILLIS = 50;
const script = new Script("pattern.test(text)");
const context = createContext({ pattern: /^/, text: "" });

export function matchesPattern(source: string, text: string): boolean {
  try {
    context["pattern"] = compile(source);
    context["text"] = text;
    return script.runInContext(context, { timeout: MILLIS }) === true;
  } catch {
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
