/** What plugins share whose tools show the model documents of the user. */
import { Fault } from "../fault.ts";
import { distinctOrigins, type Origin, othersIn } from "./origin.ts";
import type { ToolOutcome } from "./tool-call.ts";

export interface ShownDocument {
  readonly path: string;
  readonly origins?: readonly Origin[] | undefined;
}

/** The params of a tool: these and no others. */
export function paramsSchema(properties: object, required: readonly string[]) {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Names for the model whose words a document has; undefined for the user's own. */
export function writtenFrom({ origins }: Pick<ShownDocument, "origins">): string | undefined {
  const names = othersIn(origins)
    .map(({ kind, name }) => `${kind} ${name}`)
    .join(", ");
  return names === "" ? undefined : `${names}; not the user's own words`;
}

/** The output of a tool, with the origins of the documents in it. A fault is an outcome that the model reads. */
export async function documentOutcome(
  kind: "file" | "memory",
  work: () => Promise<readonly [output: unknown, ...shown: ShownDocument[]]>,
): Promise<ToolOutcome & { readonly origins?: readonly Origin[] }> {
  try {
    const [output, ...shown] = await work();
    // The document comes before its origins: the words are in it.
    const origins = distinctOrigins(
      shown.flatMap(({ path, origins }) => {
        const others = othersIn(origins);
        return others.length === 0 ? [] : [{ kind, name: path }, ...others];
      }),
    );
    return { status: "ok", output: JSON.stringify(output), ...(origins.length > 0 && { origins }) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { status: "error", code: error.code, message: error.message };
  }
}
