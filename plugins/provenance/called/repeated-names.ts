/** Whether an object in a JSON text has one name twice: one reader takes the first of its values, and another the last. */
export function repeatsName(json: string): boolean {
  let members = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charAt(at);
    if (isText && char === "\\") at++;
    else if (char === '"') isText = !isText;
    else if (char === ":" && !isText) members++;
  }
  try {
    return members !== count(JSON.parse(json));
  } catch {
    return false;
  }
}

function count(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  const own = Array.isArray(value) ? 0 : inner.length;
  return inner.reduce<number>((sum, one) => sum + count(one), own);
}
