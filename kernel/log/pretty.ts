/** A line of the log as a person reads it. */
import { createRequire } from "node:module";
import type * as PinoPretty from "pino-pretty";
import { visible, visibleLine } from "../text/visible.ts";

export function prettyLines({
  colour,
  date = false,
}: {
  readonly colour: boolean;
  /** Shows the date, for lines of other days. */
  readonly date?: boolean;
}): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof PinoPretty;
  const format = prettyFactory({
    colorize: colour,
    messageKey: "message",
    // One line for each entry. What the message says already, and what only a machine wants, is in the file.
    singleLine: true,
    ignore: "pid,hostname,method,path,status,request,address",
    translateTime: date ? "SYS:yyyy-mm-dd HH:MM:ss" : "SYS:HH:MM:ss",
  });
  return (line) => format(visibleFields(JSON.parse(line)) as object);
}

/** On a terminal a line break would begin what looks like another entry; only stacks have them. */
function visibleFields(value: unknown, name = ""): unknown {
  if (typeof value === "string") return name === "stack" ? visible(value) : visibleLine(value);
  if (Array.isArray(value)) return value.map((item) => visibleFields(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [visibleLine(key), visibleFields(item, key)]),
  );
}
