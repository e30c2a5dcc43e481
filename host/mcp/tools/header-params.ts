/**
 * Params that a tool's schema wants repeated in headers (`x-mcp-header`): a client has to leave out a tool that asks for it in a way that
 * is not allowed. The SDK leaves it out of whole lists alone, and ours are read page by page.
 */

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES = new Set<unknown>(["string", "integer", "boolean"]);

/** Why the tool cannot be used; undefined where all is well. The schema must not nest without end. */
export function refuseHeaders(schema: unknown): string | undefined {
  const names = new Set<string>();
  const visit = (node: unknown, isProperty: boolean, isInChain: boolean): string | undefined => {
    if (typeof node !== "object" || node === null) return undefined;
    const fields = node as Readonly<Record<string, unknown>>;
    if (Object.hasOwn(fields, KEY) && !Array.isArray(node)) {
      const name = fields[KEY];
      if (!isProperty || !isInChain) return "its schema names a header outside of its properties";
      if (typeof name !== "string" || !TOKEN.test(name)) return "its schema names a header that is none";
      if (!TYPES.has(fields["type"]))
        return "its schema wants something in a header that is no text, integer or boolean";
      if (names.has(name.toLowerCase())) return "its schema names a header twice";
      names.add(name.toLowerCase());
    }
    for (const [key, value] of Object.entries(fields)) {
      const isProperties = key === "properties" && typeof value === "object" && value !== null;
      const parts = isProperties ? Object.values(value) : [value];
      for (const part of parts) {
        const refusal = visit(part, isProperties, isInChain && isProperties);
        if (refusal !== undefined) return refusal;
      }
    }
    return undefined;
  };
  return visit(schema, false, true);
}
