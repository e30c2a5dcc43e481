/** The thread that colours code: a model's text could keep a pattern of a language busy for many seconds. */
import { colourCode } from "../../../../../kernel/mask/code.ts";
import type { ColourRequest } from "./colours.ts";

addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => {
  postMessage(colourCode(data.text, data.language));
});
