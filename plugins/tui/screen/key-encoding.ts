/**
 * Rewrites the keys that a terminal sends into forms that Ink can tell apart.
 *
 * xterm, tmux, mintty and others report keys that otherwise look alike with `modifyOtherKeys` instead of the Kitty protocol:
 * Shift+Enter is `CSI 27 ; 2 ; 13 ~`. Ink knows only Kitty's form, so these reports are rewritten to it.
 *
 * For the wheel most terminals send arrow keys on a full screen, several at once, and the others do so on request. Taking
 * the mouse itself would cost people their terminal's way to select text. Several arrows at once become Shift+Up and
 * Shift+Down, which scroll where a single one would move in the draft.
 */
import type { ReadStream } from "node:tty";

/** Mode 1 leaves keys with a well-known form, such as control characters, as they are. */
export const REQUEST_OTHER_KEYS = "\u001b[>4;1m";
export const RESET_OTHER_KEYS = "\u001b[>4m";

/** Asks the terminal for its name, which comes back among the keys. Those that do not know the question ignore it. */
export const REQUEST_NAME = "\u001b[>0q";

/** Saves the mode first, to restore it later. Terminals that cannot save it have it on from the start. */
export const REQUEST_WHEEL = "\u001b[?1007s\u001b[?1007h";
export const RESET_WHEEL = "\u001b[?1007r";

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how an arrow begins
const WHEEL = /(?:\u001b\[A){3,}|(?:\u001b\[B){3,}|(?:\u001bOA){3,}|(?:\u001bOB){3,}/g;
const ARROW_LENGTH = 3;

// biome-ignore lint/suspicious/noControlCharactersInRegex: that is how such a report begins
const REPORT = /\u001b\[27;(\d{1,3});(\d{1,7})~/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const UNFINISHED = /\u001b\[2(?:7(?:;[\d;]{0,12})?)?$/;

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const NAME = /(?:\u001b|^)P>\|([ -~]{0,100})\u001b\\/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const UNFINISHED_NAME = /\u001bP(?:>(?:\|[ -~]{0,100}\u001b?)?)?$/;

/** Rewrites what a terminal sends, piece by piece; the beginning of a report is held until its end has come. `named` hears its name. */
export function createKeyRewriter(named: (name: string) => void = () => {}): (piece: string) => string {
  let held = "";
  return (piece) => {
    const text = held + piece;
    held = (UNFINISHED.exec(text) ?? UNFINISHED_NAME.exec(text))?.[0] ?? "";
    return text
      .slice(0, text.length - held.length)
      .replace(NAME, (_, name: string) => {
        named(name);
        return "";
      })
      .replace(REPORT, "\u001b[$2;$1u")
      .replace(WHEEL, (arrows) => `\u001b[1;2${arrows.charAt(2)}`.repeat(arrows.length / ARROW_LENGTH));
  };
}

/** The same terminal, with these reports in Kitty's form. `typed`: pieces that came before, which are read first. */
export function withOtherKeys(
  stdin: ReadStream,
  typed: readonly string[],
  named: (name: string) => void,
): ReadStream {
  const rewrite = createKeyRewriter(named);
  const waiting = [...typed];
  // Nobody reads before the terminal says that there is something, and it has said so already.
  const announce = (event: string) => {
    if (event !== "readable") return;
    stdin.off("newListener", announce);
    setImmediate(() => stdin.emit("readable"));
  };
  if (waiting.length > 0) stdin.on("newListener", announce);
  const read = (size?: number): unknown => {
    // Only a read that finds nothing makes the stream tell of what comes next.
    for (;;) {
      const piece: unknown = waiting.shift() ?? stdin.read(size);
      const text = typeof piece === "string" ? rewrite(piece) : piece;
      if (text !== "") return text;
    }
  };
  return new Proxy(stdin, {
    get(target, name) {
      if (name === "read") return read;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
