/// <reference path="../../wit/guest.d.ts" />
/** Runs code that the model writes: to compute, to work with files, and to call many tools at once. */
import type { Tool } from "postern:tool/tool@0.1.0";
import { CodeError } from "./code.ts";
import { DESCRIPTION, type Params, SCHEMA } from "./params.ts";
import { run } from "./run.ts";

const { parse, stringify } = JSON;

export const tool: Tool = {
  async execute({ params }) {
    const { code }: Params = parse(params);
    try {
      return { output: stringify(await run(code)) };
    } catch (error) {
      if (error instanceof CodeError) return { error: error.message };
      throw error;
    }
  },
  schema: () => stringify(SCHEMA),
  description: () => DESCRIPTION,
};
