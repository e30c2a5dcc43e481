/** The parser of capabilities files, with the one explanation of what is wrong in them. */
import { createCapabilitiesParser } from "../../capabilities/parse.ts";
import { visibleLine } from "../../kernel/mask/visible.ts";
import { compileCheck } from "../../kernel/vocabulary/schema/check.ts";

export const parseCapabilities = createCapabilitiesParser(compileCheck, visibleLine);
