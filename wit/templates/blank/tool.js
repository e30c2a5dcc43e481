/** The tool. capabilities.json lists what it may reach: nothing yet. */

/** The schema of params. The model reads it, and the host checks params against it before `execute`. */
const SCHEMA = {
  type: "object",
  properties: {
    text: { type: "string", description: "The text to repeat" },
  },
  required: ["text"],
  additionalProperties: false,
};

export const tool = {
  description: () => "Repeats a text. The model decides by this sentence when to call the tool.",

  schema: () => JSON.stringify(SCHEMA),

  execute({ params }) {
    try {
      return { output: JSON.stringify(answer(JSON.parse(params))) };
    } catch (error) {
      return { error: error.message };
    }
  },
};

function answer({ text }) {
  return { text };
}
