/** The world that a component is made for. It imports nothing, so that a build apart from the service can load it alone. */

export const WORLD = "built-tool";

/** A component imports all of its world, and is refused what its capabilities file does not ask for: so only what the tool uses. */
export function writeWit(contract: string, interfaces: readonly string[]): string {
  const imports = interfaces.filter((name) => name !== "host").map((name) => `import ${name};`);
  return `${contract}\nworld ${WORLD} { include sandboxed-tool; ${imports.join(" ")} }\n`;
}

/** The same world for a tool whose `execute` is asynchronous, as the component model has it since WASI 0.3. */
export function withAsyncExecute(wit: string): string {
  return wit.replace(/^ {2}execute: func\(/m, "  execute: async func(");
}
