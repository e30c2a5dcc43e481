/** Code as coloured HTML. Some texts take more than linear time, so it runs in a thread that can be ended. */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import go from "highlight.js/lib/languages/go";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = { bash, css, go, javascript, json, markdown, python, rust, sql, typescript, xml, yaml };
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Nobody reads code of this length in a chat. */
const MAX_COLOURED_LENGTH = 20_000;

/** Undefined where the language is not known or the text is too long. */
export function colourCode(text: string, language: string): string | undefined {
  if (text.length > MAX_COLOURED_LENGTH || hljs.getLanguage(language) === undefined) return undefined;
  return hljs.highlight(text, { language }).value;
}
