/** `tools.call` of the code: calls that are made while the code waits go out together. */
import { callAll } from "postern:tool/agent-tools@0.1.0";

interface QueuedCall {
  readonly name: string;
  readonly params: string;
  readonly failure: Error;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const { parse, stringify } = JSON;
const waiting: QueuedCall[] = [];
let made = 0;

export const tools = {
  /** Resolves to what the tool answers: an object where that is JSON, else a text. */
  call(name: unknown, params: unknown = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // Made here, it knows the line of the call.
      const failure = new Error();
      waiting.push({ name: String(name), params: stringify(params) ?? "{}", failure, resolve, reject });
    });
  },
};

export const countCalls = (): number => made;

/** Makes the calls that wait. False where none does. */
export function makeCalls(): boolean {
  const calls = waiting.splice(0);
  if (calls.length === 0) return false;
  made += calls.length;
  const outcomes = callAll(calls.map(({ name, params }) => ({ name, params })));
  for (const [at, { resolve, reject, name, failure }] of calls.entries()) {
    const outcome = outcomes[at];
    failure.message = `${name}: ${outcome?.val ?? "it gave no answer"}`;
    if (outcome?.tag === "ok") resolve(read(outcome.val));
    else reject(failure);
  }
  return true;
}

function read(output: string): unknown {
  try {
    return parse(output);
  } catch {
    return output;
  }
}
