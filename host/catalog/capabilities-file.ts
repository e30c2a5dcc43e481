/** The parser of capabilities files, with the one explanation of what is wrong in them. */
import { createCapabilitiesParser } from "../../capabilities/parse.ts";
import { compileCheck, visibleLine } from "../../kernel/kit.ts";

export const parseCapabilities = createCapabilitiesParser(compileCheck, visibleLine);
