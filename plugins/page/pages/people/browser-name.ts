/** The name of a browser and its system, as people know them, from what it says of itself. */
import { text } from "../../text/text.ts";

// In this order: each says that it is the next one, too.
const BROWSERS = [/Edg(?:e|A|iOS)?\//, /OPR\//, /Firefox\/|FxiOS\//, /Chrome\/|CriOS\//, /Safari\//];
const BROWSER_NAMES = ["edge", "opera", "firefox", "chrome", "safari"] as const;
const SYSTEMS = [/Android/, /iPhone|iPad/, /Windows/, /Mac OS/, /Linux/];
const SYSTEM_NAMES = ["android", "ios", "windows", "macos", "linux"] as const;

const { names } = text.browsers;

/** A program that names neither is shown as it names itself. */
export function browserName(agent: string): string {
  const browser = BROWSER_NAMES[BROWSERS.findIndex((one) => one.test(agent))];
  const system = SYSTEM_NAMES[SYSTEMS.findIndex((one) => one.test(agent))];
  if (browser === undefined) return agent.slice(0, 60);
  return system === undefined ? names[browser] : text.people.browserOn(names[browser], names[system]);
}
