/** A schedule written as cron: five fields, or a nickname such as "@daily". */
import { type Plan, refused, type Schedule } from "./plan.ts";
import { cronOf } from "./zone.ts";

const NICKNAMES: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** Five fields, of which the minutes have no letters; or a nickname. */
export function isCron(text: string): boolean {
  const [minutes = "", ...rest] = text.split(/\s+/);
  return text.startsWith("@") || (rest.length >= 4 && /^[\d*/,?-]+$/.test(minutes));
}

export function readCron(text: string, zone: string): Schedule {
  const pattern = NICKNAMES[text.toLowerCase()] ?? text.split(/\s+/).join(" ");
  const count = pattern.split(" ").length;
  if (count !== 5)
    throw refused(
      text.startsWith("@")
        ? `"${text}" is not known: there are ${Object.keys(NICKNAMES).join(", ")}.`
        : `Cron has five fields here (minute hour day month weekday), not ${count}.`,
    );
  try {
    cronOf(pattern, zone);
  } catch (error) {
    throw refused(
      `"${text}" is not a cron schedule: ${(error as Error).message.replace("CronPattern: ", "")}.`,
    );
  }
  const plan: Plan = { type: "cron", patterns: [pattern] };
  return { plan, words: `cron ${pattern}` };
}
