/**
 * The first frame: drawn by hand before the store, the agent and the screen's own library are loaded. Whoever types already sees
 * what they type, and the screen that follows is given each key as it came.
 */
import type { ReadStream, WriteStream } from "node:tty";
import { MANIFEST } from "../../kernel/kit/files.ts";

export interface Preview {
  /** What came from the terminal, piece by piece. */
  readonly typed: readonly string[];
  /** Gives the terminal back; again it does nothing. */
  end(): void;
}

const CTRL_C = "\u0003";
const ENTER = /[\r\n]/g;
const SHOWN = /[\r\n\P{Cc}]/u;
const ERASING = ["\u0008", "\u007f"];

export function showPreview(stdin: ReadStream, stdout: WriteStream): Preview {
  const typed: string[] = [];
  let draft = "";
  let isShown = true;
  const paint = (codes: string, text: string) =>
    stdout.hasColors() ? `\u001b[${codes}m${text}\u001b[0m` : text;
  const drawDraft = () => {
    const room = Math.max(1, stdout.columns - 4);
    const line = [...draft.replace(ENTER, " ⏎ ")].slice(-room).join("");
    stdout.write(`\u001b[${Math.max(1, stdout.rows - 1)};1H\u001b[2K${paint("1;32", "› ")}${line}`);
  };
  const take = (piece: string) => {
    if (piece === CTRL_C && draft === "") {
      end();
      process.kill(process.pid, "SIGINT");
      return;
    }
    typed.push(piece);
    draft = echo(draft, piece);
    drawDraft();
  };
  const read = () => {
    for (let piece = stdin.read(); isShown && piece !== null; piece = stdin.read()) take(String(piece));
  };
  const end = () => {
    if (!isShown) return;
    isShown = false;
    stdin.off("readable", read).setRawMode(false).pause().unref();
    stdout.write("\u001b[?1049l");
  };
  stdin.setEncoding("utf8").setRawMode(true);
  stdin.on("readable", read);
  const head = paint("1", `Postern ${MANIFEST.version}`);
  stdout.write(`\u001b[?1049h\u001b[2J\u001b[H  ${head}\u001b[${stdout.rows};1H${paint("90", "starting")}`);
  drawDraft();
  return { typed, end };
}

/** The draft after these keys: letters and Enter are added, Backspace takes one away, and every other key is left to the real screen. */
function echo(draft: string, keys: string): string {
  if (keys.includes("\u001b")) return draft;
  let text = draft;
  for (const key of keys) {
    if (ERASING.includes(key)) text = [...text].slice(0, -1).join("");
    else if (key === CTRL_C) text = "";
    else if (SHOWN.test(key)) text += key;
  }
  return text;
}
