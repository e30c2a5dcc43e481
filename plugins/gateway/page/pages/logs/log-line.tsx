export interface Line {
  readonly number: number;
  readonly time: string;
  readonly level: string;
  readonly plugin?: string;
  readonly message?: string;
  readonly turn?: string;
  readonly user?: string;
  readonly [field: string]: unknown;
}

interface LineProps {
  readonly line: Line;
  onNarrow(filter: { readonly user?: string; readonly turn?: string }): void;
}

const SEVERE = new Set(["warn", "error", "fatal"]);

/** One line; the rest of its fields are below it, for whoever wants them. */
export function LogLine({ line, onNarrow }: LineProps) {
  const { number: _, time, level, plugin = "kernel", message = "", ...rest } = line;
  const { turn, user } = rest;
  const fields = Object.entries(rest);
  return (
    <li class={SEVERE.has(level) ? `log-line ${level}` : "log-line"}>
      <span class="meta">
        <time dateTime={time} title={time}>
          {new Date(time).toLocaleTimeString()}
        </time>
        <strong>{level}</strong> {plugin}
        {typeof user === "string" && <span>{user}</span>}
      </span>
      {fields.length === 0 ? (
        <span class="log">{message}</span>
      ) : (
        <details>
          <summary class="log">{message}</summary>
          <pre class="log">{fields.map(([name, value]) => `${name}: ${shown(value)}`).join("\n")}</pre>
          <span class="row">
            {typeof user === "string" && (
              <button type="button" onClick={() => onNarrow({ user })}>
                Only lines of {user}
              </button>
            )}
            {typeof turn === "string" && (
              <button type="button" onClick={() => onNarrow({ turn })}>
                Only lines of this turn
              </button>
            )}
          </span>
        </details>
      )}
    </li>
  );
}

/** A stack keeps its lines. */
function shown(value: unknown): string {
  if (typeof value === "string") return value;
  const stack = (value as { stack?: unknown } | null)?.stack;
  return typeof stack === "string" ? stack : JSON.stringify(value);
}
