/** The thread that colours code: a model's text could keep a pattern of a language busy for many seconds. */
import { colourCode } from "../../../../../kernel/text/code-colours.ts";
import type { ColourRequest } from "./colours.ts";

addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => {
  postMessage(colourCode(data.text, data.language));
});
