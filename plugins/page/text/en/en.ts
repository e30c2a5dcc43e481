/**
 * Every text of the page, in English. A text with values is a function of them: numbers, plurals, dates and lists come from
 * `language.ts`, and an element within a sentence is a value, too, so that each language places it where it belongs:
 * `posts: (name: string, address: ComponentChild): ComponentChild => [name, " posts to ", address]`.
 */

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

export const en = {
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

/** What every other language has, too. */
export type Catalogue = typeof en;
