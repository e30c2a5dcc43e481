/** What a call or an install left behind, with stack traces that point to the author's sources. */
import { Fault } from "../../../kernel/plugin.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { Receipt } from "../../receipts.ts";
import { readableText, TRACE } from "./crash.ts";
import { hasPlaces, locate, type Origin, readMap } from "./source-map.ts";

/** The fault of a component that threw while it described itself; any other as it is. */
export function locateFault(error: unknown, component: Uint8Array): unknown {
  if (!(error instanceof Fault)) return error;
  const { kind, code, message } = error;
  const text = readableText(message);
  if (text === message) return error;
  return new Fault(kind, code, locate(text, readMap(component)), { cause: error });
}

/** The stack trace of a call that threw, which is the last line of its log; undefined where it has none. */
export function traceOf({ code, logs }: Receipt): string | undefined {
  const last = logs.at(-1);
  return code === "threw" && last?.level === "error" && TRACE.test(last.message) ? last.message : undefined;
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
      // Another version's lines would mislead.
      const bytes = tool?.digest === digest ? await catalog.read(tool) : undefined;
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
