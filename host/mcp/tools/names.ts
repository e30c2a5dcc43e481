/** What the agent calls a tool of a server: `<server>_<tool>`, made legal and unique. A server's name has no underscore. */
import { createHash } from "node:crypto";

const LONGEST = 64;
const TAIL = 6;

/** `isTaken`: by something that is not a tool of this server. Names given before stay. */
export function nameTools(
  server: string,
  tools: readonly string[],
  given: ReadonlyMap<string, string>,
  isTaken: (name: string) => boolean,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  // Some places do not tell the case of names apart.
  const used = new Set([...given.values()].map((name) => name.toLowerCase()));
  for (const tool of tools) {
    const before = given.get(tool);
    const plain = `${server}_${tool}`;
    const isFree = (name: string) => !used.has(name.toLowerCase()) && !isTaken(name);
    const isPlain = /^[A-Za-z0-9_-]+$/.test(plain) && plain.length <= LONGEST && isFree(plain);
    const name = before ?? (isPlain ? plain : freeTail(server, tool, isFree));
    used.add(name.toLowerCase());
    names.set(tool, name);
  }
  return names;
}

/** A server can work out the tail of one tool and give another that very name. */
function freeTail(server: string, tool: string, isFree: (name: string) => boolean): string {
  for (let attempt = 0; ; attempt++) {
    const name = withTail(server, tool, attempt);
    if (isFree(name)) return name;
  }
}

/** Of the server's and the tool's whole names: two tools that are written alike get different ones. */
function withTail(server: string, tool: string, attempt: number): string {
  const whole = [server, tool, ...(attempt === 0 ? [] : [attempt])].join("\n");
  const tail = createHash("sha256").update(whole).digest("hex").slice(0, TAIL);
  const legal = `${server}_${tool.replace(/[^A-Za-z0-9_-]+/g, "_")}`.slice(0, LONGEST - TAIL - 1);
  let end = legal.length;
  while (legal[end - 1] === "_") end -= 1;
  return `${legal.slice(0, end)}_${tail}`;
}
