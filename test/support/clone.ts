/** Where the clone under test is. */
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "..", "..");
export const BIN = join(ROOT, "kernel", "cli", "bin.js");
