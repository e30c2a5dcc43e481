/**
 * The capabilities file inside a component: a custom section at the component's top level, which engines skip. The bytes are a
 * stranger's and are read here, on our main thread: one pass over the section headers, and one bounded text.
 */
import { Fault } from "../../kernel/plugin.ts";
import { Cursor } from "../wasm/instructions.ts";
import { leb } from "../wasm/module-sections.ts";

/** How much is read of what a stranger offers. */
export const MAX_COMPONENT_BYTES = 64 * 1024 * 1024;
export const MAX_CAPABILITIES_BYTES = 256 * 1024;

const SECTION_NAME = "postern:capabilities";

const CUSTOM = 0;
const HEADER_BYTES = 8;
/** A component with more sections than this would only keep us busy; toolchains make a few thousand at most. */
const MAX_SECTIONS = 100_000;

/** Undefined where there is none, also in bytes that are no component: what they are is said by who examines them. */
export function readCapabilitiesSection(component: Uint8Array): string | undefined {
  const found = findSections(component);
  const [section] = found;
  if (section === undefined) return undefined;
  if (found.length > 1) throw refusal(`it has ${found.length} of them`);
  if (section.length > MAX_CAPABILITIES_BYTES)
    throw refusal(`it has ${section.length} bytes; at most ${MAX_CAPABILITIES_BYTES} are read`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(section);
  } catch {
    throw refusal("it is not UTF-8 text");
  }
}

export function withCapabilitiesSection(component: Uint8Array, text: string): Uint8Array {
  const name = Buffer.from(SECTION_NAME);
  const content = Buffer.concat([Uint8Array.from(leb(name.length)), name, Buffer.from(text)]);
  const kept: Uint8Array[] = [];
  let from = 0;
  for (const { headAt, end } of walk(component, SECTION_NAME)) {
    kept.push(component.subarray(from, headAt));
    from = end;
  }
  kept.push(component.subarray(from));
  return Buffer.concat([...kept, Uint8Array.from([CUSTOM, ...leb(content.length)]), content]);
}

function findSections(component: Uint8Array): Uint8Array[] {
  try {
    return [...walk(component, SECTION_NAME)].map(({ start, end }) => component.subarray(start, end));
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** The custom sections of that name: where each begins, where its content does, and where it ends. */
function* walk(component: Uint8Array, name: string) {
  const wanted = Buffer.from(name);
  const cursor = new Cursor(component, HEADER_BYTES);
  for (let count = 0; cursor.at < component.length && count < MAX_SECTIONS; count++) {
    const headAt = cursor.at;
    const id = cursor.byte();
    const size = cursor.u32();
    const begins = cursor.at;
    cursor.skip(size);
    if (id !== CUSTOM) continue;
    const inside = new Cursor(component.subarray(0, cursor.at), begins);
    const length = inside.u32();
    if (length !== wanted.length) continue;
    const nameAt = inside.at;
    inside.skip(length);
    if (wanted.equals(component.subarray(nameAt, inside.at)))
      yield { headAt, start: inside.at, end: cursor.at };
  }
}

function refusal(why: string): Fault {
  return new Fault(
    "invalid",
    "tool_capabilities",
    `the component's ${SECTION_NAME} section cannot be used: ${why}`,
  );
}
