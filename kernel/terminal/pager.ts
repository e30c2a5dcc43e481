/** Shows a text that is longer than the screen in the person's pager, and any other as it is. */
import { type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { sayPainted } from "./output.ts";

/** Without these it would show colours as codes, and clear the screen at its end. */
const LESS = ["-F", "-R", "-X"];
const NOT_FOUND = 127;

/** `pager` is a command for the shell, as in PAGER; less where there is none. The text has been made visible before. */
export async function showPaged(text: string, pager: string | undefined): Promise<void> {
  if (pager === "" || pager === "cat" || !isLong(text)) return sayPainted(text);
  const stdio: StdioOptions = ["pipe", "inherit", "inherit"];
  const child = pager === undefined ? spawn("less", LESS, { stdio }) : spawn(pager, { shell: true, stdio });
  // Somebody who has seen enough quits.
  child.stdin?.on("error", () => {});
  child.stdin?.end(text);
  const [code] = (await once(child, "close").catch(() => [NOT_FOUND])) as [number | null];
  if (code === NOT_FOUND) sayPainted(text);
}

function isLong(text: string): boolean {
  const { isTTY, rows = 24, columns = 80 } = process.stdout;
  if (!isTTY || !process.stdin.isTTY) return false;
  const taken = stripVTControlCharacters(text)
    .split("\n")
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
  return taken > rows;
}
