/**
 * Every text of the page, in English. A text with values is a function of them: numbers, plurals, dates and lists come from
 * `language.ts`, and an element within a sentence is a value, too, so that each language places it where it belongs:
 * `posts: (name: string, address: ComponentChild): ComponentChild => [name, " posts to ", address]`.
 */
export { browsers } from "../browsers.ts";
export { chat, start } from "./chat.ts";
export { files, memory, versions } from "./files.ts";
export { basics, bin, frame, pages, state, widgets } from "./frame.ts";
export { jobs, routines } from "./jobs.ts";
export { channels, people, webhooks } from "./people.ts";
export { logs, settings, usage } from "./settings.ts";
export { tools } from "./tools.ts";
