/** A call's arguments as a provider takes them back: only objects, so what the model wrote wrongly is shown to it inside one. */
export function objectText(params: string): string {
  try {
    const value: unknown = JSON.parse(params);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return params;
  } catch {}
  return JSON.stringify({ malformed: params });
}

/** False for arguments that broke off while the model wrote them. */
export function isWhole(params: string): boolean {
  try {
    JSON.parse(params);
    return true;
  } catch {
    return false;
  }
}
