/** A call's arguments as a provider takes them back: only objects, so what the model wrote wrongly is shown to it inside one. */
export function objectText(params: string): string {
  try {
    const value: unknown = JSON.parse(params);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return params;
  } catch {}
  return JSON.stringify({ malformed: params });
}
