/** `/attach`: files and images for the next message. */
import { completePath, pathOf } from "../files/paths.ts";
import { sizeOf } from "../files/size.ts";
import { quoted } from "../screen/text/markdown.ts";
import type { SlashCommand } from "./command.ts";

export const ATTACH: SlashCommand = {
  about: "attach a file or an image to the next message; /attach none removes them",
  takes: "<path>",
  complete: completePath,
  async run({ attaching }, rest) {
    if (rest === "none") {
      const count = await attaching.drop();
      return count === 0 ? "No files are attached." : `Removed ${count} file${count === 1 ? "" : "s"}.`;
    }
    if (rest === "") {
      const { waiting } = attaching;
      if (waiting.length === 0)
        return "Write a path after it: /attach ~/notes.md. In a message, @notes.md attaches a file too.";
      return waiting.map(({ name, size }) => `- ${quoted(name)}, ${sizeOf(size)}`).join("\n");
    }
    const { name, size, note } = await attaching.add(pathOf(rest.replace(/^(['"])(.*)\1$/, "$2")));
    return `Attached ${quoted(name)}, ${sizeOf(size)}. It goes with your next message.${note ? ` ${quoted(note)}` : ""}`;
  },
};
