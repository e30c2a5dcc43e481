/** The meaning of each key of a terminal. */
import type { Key } from "ink";
import type { Motion } from "./composer.ts";

export function motionOf(input: string, key: Key): Motion | undefined {
  const byWord = key.ctrl || key.meta;
  if (key.leftArrow) return byWord ? "wordLeft" : "left";
  if (key.rightArrow) return byWord ? "wordRight" : "right";
  if (key.home || (key.ctrl && input === "a")) return "lineStart";
  if (key.end || (key.ctrl && input === "e")) return "lineEnd";
  if (key.meta && input === "b") return "wordLeft";
  if (key.meta && input === "f") return "wordRight";
  return undefined;
}

export function erasureOf(input: string, key: Key): Motion | undefined {
  if (key.backspace) return key.meta || key.ctrl ? "wordLeft" : "left";
  if (key.delete) return key.meta || key.ctrl ? "wordRight" : "right";
  if (!key.ctrl) return undefined;
  return ({ w: "wordLeft", u: "lineStart", k: "lineEnd", d: "right" } as const)[input];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const PRESSES = /[\u0001-\u0008\u000b\u000c\u000e-\u001a]|[^\u0001-\u0008\u000b\u000c\u000e-\u001a]+/g;

/**
 * Keys pressed faster than the terminal is read arrive as one string. Control characters in it are key presses,
 * and so are tabs before or after a line and Enter after it; any other text with line breaks is an unbracketed paste.
 */
export function separate(input: string, key: Key): readonly { readonly input: string; readonly key: Key }[] {
  if (input.length < 2) return [{ input, key }];
  return (input.match(PRESSES) ?? []).flatMap((piece) => {
    if (piece < " " && !/[\t\r\n]/.test(piece))
      return [{ input: String.fromCharCode(piece.charCodeAt(0) + 0x60), key: { ...key, ctrl: true } }];
    const [, tabs = "", text = "", after = "", enter = ""] = /^(\t*)(?:([^\t\r\n]+)(\t*))?(\r?)$/.exec(
      piece,
    ) ?? ["", "", piece];
    const tab = () => ({ input: "", key: { ...key, tab: true } });
    return [
      ...[...tabs].map(tab),
      ...(text === "" ? [] : [{ input: text, key }]),
      ...[...after].map(tab),
      ...(enter === "" ? [] : [{ input: "", key: { ...key, return: true } }]),
    ];
  });
}

/** Shift+Enter where the terminal tells it from Enter; Alt+Enter and Ctrl+J work in every terminal. */
export function isNewLine(input: string, key: Key): boolean {
  if (key.return) return key.shift || key.meta || key.ctrl;
  return input === "\n" || (key.ctrl && input === "j");
}
