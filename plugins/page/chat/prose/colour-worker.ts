/** The worker that colours code: a pattern could take many seconds on a model's text. */
import { colourCode } from "../../../../kernel/kit/colours.ts";
import type { ColourRequest } from "./colours.ts";

addEventListener("message", ({ data }: MessageEvent<ColourRequest>) => {
  postMessage(colourCode(data.text, data.language));
});

postMessage("ready");
