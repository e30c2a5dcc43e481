/** A token's scope in words; the page shows them too, so this imports nothing. */

interface Limits {
  readonly tools?: readonly string[] | null;
  readonly models?: readonly string[] | null;
  readonly perDayUsd?: number | null;
}

export function scopeInWords({ tools, models, perDayUsd }: Limits): string {
  const parts = [
    tools && (tools.length === 0 ? "no tools" : `only ${tools.join(", ")}`),
    models && `${models.length === 1 ? "model" : "models"} ${models.join(", ")}`,
    perDayUsd && `${dollars(perDayUsd)} a day`,
  ].filter((part) => typeof part === "string");
  return parts.join("; ") || "everything";
}

function dollars(amount: number): string {
  const rounded = amount.toFixed(2);
  return `$${Number(rounded) === amount ? rounded : amount}`;
}
