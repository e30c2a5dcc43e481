/** The tool. capabilities.json lists what it may reach: nothing yet. */
import type { Tool } from "postern:tool/tool@0.1.0";

interface Params {
  readonly text: string;
}

/** The schema of params. The model reads it, and the host checks params against it before `execute`. */
const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string", description: "The text to repeat" },
  },
  required: ["text"],
  additionalProperties: false,
};

export const tool: Tool = {
  description: () => "Repeats a text. The model decides by this sentence when to call the tool.",

  schema: () => JSON.stringify(SCHEMA),

  execute({ params }) {
    try {
      return { output: JSON.stringify(answer(JSON.parse(params))) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  },
};

function answer({ text }: Params): object {
  return { text };
}
