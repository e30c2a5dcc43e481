/** The capabilities file in a component: a custom section of a stranger's bytes, read in one bounded pass. */
import { tryUtf8 } from "../../kernel/kit/text.ts";
import { Fault } from "../../kernel/plugin.ts";
import { customSection, customSections } from "../wasm/module-sections.ts";

export const MAX_COMPONENT_BYTES = 64 * 1024 * 1024;
export const MAX_CAPABILITIES_BYTES = 256 * 1024;

const SECTION_NAME = "postern:capabilities";

/** Undefined where there is none, also in bytes that are no component: what they are is said by who examines them. */
export function readCapabilitiesSection(component: Uint8Array): string | undefined {
  const found = findSections(component);
  const [section] = found;
  if (section === undefined) return undefined;
  if (found.length > 1) throw refusal(`it has ${found.length} of them`);
  if (section.length > MAX_CAPABILITIES_BYTES)
    throw refusal(`it has ${section.length} bytes; at most ${MAX_CAPABILITIES_BYTES} are read`);
  const text = tryUtf8(section);
  if (text === undefined) throw refusal("it is not UTF-8 text");
  return text;
}

export function withCapabilitiesSection(component: Uint8Array, text: string): Uint8Array {
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const { headAt, end } of customSections(component, SECTION_NAME)) {
    kept.push(component.subarray(from, headAt));
    from = end;
  }
  kept.push(component.subarray(from));
  return Buffer.concat([...kept, customSection(SECTION_NAME, Buffer.from(text))]);
}

function findSections(component: Uint8Array): Uint8Array[] {
  try {
    return [...customSections(component, SECTION_NAME)].map(({ start, end }) =>
      component.subarray(start, end),
    );
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

function refusal(why: string): Fault {
  const message = `the component's ${SECTION_NAME} section cannot be used: ${why}`;
  return new Fault("invalid", "tool_capabilities", message);
}
