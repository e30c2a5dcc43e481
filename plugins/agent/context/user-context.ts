/** §2.5 What a caller tells about the user, as a model reads it: keys and their fields as lines, all that is deeper as raw JSON. */

export function renderContext(context: Readonly<Record<string, unknown>>): string {
  return Object.entries(context)
    .flatMap(([key, value]) =>
      isFields(value)
        ? [
            `${plain(key)}:`,
            ...Object.entries(value).map(([name, inner]) => `  ${plain(name)}: ${show(inner)}`),
          ]
        : [`${plain(key)}: ${show(value)}`],
    )
    .join("\n");
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
  );
}

function show(value: unknown): string {
  return typeof value === "string" ? plain(value) : JSON.stringify(value);
}

/** The value as it is, unless it would read as more lines, as something other than a text, or as nothing. */
function plain(text: string): string {
  return /^$|^\s|\s$|[\p{Cc}\u2028\u2029]|^[[{"]/u.test(text) ? JSON.stringify(text) : text;
}
