/** `.env` files: the home's, and that of the folder the service starts in. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { Fault, reason } from "../fault.ts";
import type { Variables } from "./env.ts";

/** These run code, name commands to run or say where everything is kept: only the operator sets them, not the folder somebody happens to be in. */
const OPERATORS_OWN = ["PLUGINS", "STORE_URL", "POSTERN_HOME", "POSTERN_NODE", "MCP_INDEX", "XDG_CACHE_HOME"];

const NOWHERE = new Set(["ENOENT", "ENOTDIR"]);

/** Reads `.env` of a folder; the real environment wins over it. */
export function readDotEnv(folder: string): Variables {
  const file = join(folder, ".env");
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    if (NOWHERE.has((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw new Fault("config", "env_file_unreadable", `${file} cannot be read: ${reason(error)}`, {
      param: file,
    });
  }
}

/** Reads `.env` of a folder that may be anybody's, without what only the operator may set. */
export function readForeignDotEnv(folder: string): {
  readonly variables: Variables;
  readonly ignored: readonly string[];
} {
  const variables = { ...readDotEnv(folder) };
  const ignored = OPERATORS_OWN.filter((name) => variables[name]?.trim());
  for (const name of ignored) delete variables[name];
  return { variables, ignored };
}
