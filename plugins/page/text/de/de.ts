/** Every text of the page, in German. It says "du", in short sentences as one writes them on a screen. */
import type { Catalogue } from "../en/en.ts";
import { basics } from "./basics.ts";
import { browsers } from "./browsers.ts";
import { channels } from "./channels.ts";
import { chat } from "./chat.ts";
import { files } from "./files.ts";
import { frame } from "./frame.ts";
import { jobs } from "./jobs.ts";
import { logs } from "./logs.ts";
import { memory } from "./memory.ts";
import { pages } from "./pages.ts";
import { people } from "./people.ts";
import { routines } from "./routines.ts";
import { settings } from "./settings.ts";
import { start } from "./start.ts";
import { state } from "./state.ts";
import { tools } from "./tools.ts";
import { usage } from "./usage.ts";
import { versions } from "./versions.ts";
import { webhooks } from "./webhooks.ts";
import { widgets } from "./widgets.ts";

export const de: Catalogue = {
  basics,
  browsers,
  channels,
  chat,
  files,
  frame,
  jobs,
  logs,
  memory,
  pages,
  people,
  routines,
  settings,
  start,
  state,
  tools,
  usage,
  versions,
  webhooks,
  widgets,
};
