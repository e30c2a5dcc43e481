/** What tools and servers are called and look like, beside the names that the agent knows them by. */
import CalendarDays from "lucide/dist/esm/icons/calendar-days.mjs";
import CircleDot from "lucide/dist/esm/icons/circle-dot.mjs";
import CloudSun from "lucide/dist/esm/icons/cloud-sun.mjs";
import FileText from "lucide/dist/esm/icons/file-text.mjs";
import Globe from "lucide/dist/esm/icons/globe.mjs";
import Ruler from "lucide/dist/esm/icons/ruler.mjs";
import SquareTerminal from "lucide/dist/esm/icons/square-terminal.mjs";
import Wrench from "lucide/dist/esm/icons/wrench.mjs";
import { text } from "../../text/text.ts";

// Others choose the names: one is "constructor", which every object has.
const NAMES = new Map(Object.entries(text.tools.names));

/** `my-tool` is "My tool", unless it has a name of its own. */
export function plainName(name: string): string {
  const words = name.replaceAll(/[-_]/g, " ");
  return NAMES.get(name) ?? words.charAt(0).toUpperCase() + words.slice(1);
}

const ICONS = new Map(
  Object.entries({
    calendar: CalendarDays,
    convert: Ruler,
    "github-issues": CircleDot,
    "read-page": FileText,
    "run-code": SquareTerminal,
    weather: CloudSun,
    "web-search": Globe,
  }),
);

export const iconOf = (name: string) => ICONS.get(name) ?? Wrench;
