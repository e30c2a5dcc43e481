/** Receipts and faults with stack traces that point to the author's sources. */
import { Fault } from "../../../kernel/plugin.ts";
import { readableText, THREW, TRACE } from "../../calls/crash.ts";
import type { Receipt } from "../../calls/receipts.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { hasPlaces, locate, type Origin, readMap } from "./source-map.ts";

/** The fault of a component that threw while it described itself; any other as it is. */
export function locateFault(error: unknown, component: Uint8Array): unknown {
  if (!(error instanceof Fault)) return error;
  const { kind, code, message } = error;
  const text = readableText(message);
  if (text === message) return error;
  return new Fault(kind, code, locate(text, readMap(component)), { cause: error });
}

/** The result of examining a component; where that fails, the fault points to the author's lines. */
export async function located<Result>(component: Uint8Array, examined: Promise<Result>): Promise<Result> {
  try {
    return await examined;
  } catch (error) {
    throw locateFault(error, component);
  }
}

/** Returns what a call said; the stack trace of one that threw is its message and not also in its log. */
export function tellOnce({ code, message, logs }: Receipt): Pick<Receipt, "message" | "logs"> {
  const last = logs.at(-1);
  if (code !== "threw" || message === undefined || last?.level !== "error") return { logs, message };
  // A panic in Rust is logged as it is thrown; a script's trace says what the message says, and more.
  const isTrace = TRACE.test(last.message);
  if (!isTrace && !message.includes(last.message)) return { message, logs };
  return { message: isTrace ? `${THREW}${last.message}` : message, logs: logs.slice(0, -1) };
}

export async function locateReceipts(
  catalog: Catalog,
  receipts: readonly Receipt[],
): Promise<readonly Receipt[]> {
  const origins = new Map<string, Origin | undefined>();
  const located: Receipt[] = [];
  for (const receipt of receipts) {
    const { tool: name, digest, message, logs } = receipt;
    const texts = [message ?? "", ...logs.map((entry) => entry.message)];
    if (texts.some(hasPlaces) && !origins.has(digest)) {
      const tool = await catalog.find(name);
      // Another version's lines would mislead, and a tool that cannot be read is no reason to show no receipts.
      const bytes = tool?.digest === digest ? await catalog.read(tool).catch(() => undefined) : undefined;
      origins.set(digest, bytes && readMap(bytes));
    }
    const origin = origins.get(digest);
    located.push({
      ...receipt,
      ...(message !== undefined && { message: locate(message, origin) }),
      logs: logs.map((entry) => ({ ...entry, message: locate(entry.message, origin) })),
    });
  }
  return located;
}
