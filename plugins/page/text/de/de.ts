/** Every text of the page, in German. It says "du", in short sentences as one writes them on a screen. */
export { browsers } from "../browsers.ts";
export { chat, start } from "./chat.ts";
export { files, memory, versions } from "./files.ts";
export { basics, bin, frame, pages, state, widgets } from "./frame.ts";
export { jobs, routines } from "./jobs.ts";
export { channels, people, webhooks } from "./people.ts";
export { logs, settings, usage } from "./settings.ts";
export { tools } from "./tools.ts";
