/** The one way to a person's terminal: whatever a stranger wrote in it is made visible, not acted on. */
import { visible, visibleJson } from "../mask/visible.ts";

/** Results, which may be piped. */
export function say(text: string): void {
  process.stdout.write(visible(text));
}

/** Results for programs: the same value, written so that a terminal may show it too. */
export function sayJson(value: unknown, indent?: number): void {
  process.stdout.write(`${visibleJson(JSON.stringify(value, undefined, indent))}\n`);
}

/** Progress, warnings and errors. */
export function warn(text: string): void {
  process.stderr.write(visible(text));
}
