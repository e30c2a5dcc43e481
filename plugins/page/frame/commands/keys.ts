/** Matches and prints the keys of the table of commands ("mod+k", "alt+ArrowUp", "g t"). */

import { text } from "../../text/text.ts";

export interface Command {
  readonly title: string;
  readonly group: string;
  /** Two keys with a space between them are pressed one after the other. */
  readonly keys?: string;
  /** If absent, the command is always possible. */
  isPossible?(): boolean;
  run(): void;
}

const isMac = /mac|iphone|ipad/i.test(navigator.platform);
const SECOND_KEY_MS = 1500;
const SWITCH = "postern.single-keys";

/** Keys without a modifier can be switched off, since speech input would press them with every word. */
export const hasSingleKeys = (): boolean => localStorage.getItem(SWITCH) !== "off";

export function switchSingleKeys(isOn: boolean): void {
  localStorage.setItem(SWITCH, isOn ? "on" : "off");
}

/** Returns the key with its modifiers, as the table writes it. Shift is left out for signs such as "?". */
function pressed(event: KeyboardEvent): string {
  const isSign = event.key.length === 1;
  const modifiers = [
    (isMac ? event.metaKey : event.ctrlKey) && "mod",
    event.altKey && "alt",
    event.shiftKey && !isSign && "shift",
  ];
  return [...modifiers.filter(Boolean), isSign ? event.key.toLowerCase() : event.key].join("+");
}

const hasModifier = (keys: string) => keys.startsWith("mod+") || keys.startsWith("alt+");

/** Runs the command of each pressed key. Returns a function that stops listening. */
export function listenForKeys(commands: () => readonly Command[], isElsewhere: () => boolean): () => void {
  let first = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || event.repeat || isElsewhere()) return;
    const key = pressed(event);
    const keys = first ? `${first} ${key}` : key;
    clearTimeout(timer);
    first = "";
    const isTyped = isField(event.target) && !hasModifier(key) && !isStop(event);
    if (isTyped || (!hasModifier(key) && key !== "Escape" && !hasSingleKeys())) return;
    const known = commands().filter((command) => command.keys !== undefined);
    const command = known.find((one) => one.keys === keys && (one.isPossible?.() ?? true));
    if (command) {
      event.preventDefault();
      command.run();
    } else if (known.some((one) => one.keys?.startsWith(`${keys} `))) {
      first = key;
      timer = setTimeout(() => {
        first = "";
      }, SECOND_KEY_MS);
    }
  };
  addEventListener("keydown", onKeyDown);
  return () => {
    clearTimeout(timer);
    removeEventListener("keydown", onKeyDown);
  };
}

function isField(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]");
}

/** Esc stops the answer if the message box is focused; in any other field it belongs to the field. */
function isStop({ key, target }: KeyboardEvent): boolean {
  return key === "Escape" && target instanceof Element && target.closest(".composer") !== null;
}

const NAMES: Readonly<Record<string, string>> = {
  mod: isMac ? "⌘" : text.frame.keys.control,
  alt: isMac ? "⌥" : text.frame.keys.alt,
  shift: text.frame.keys.shift,
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: text.frame.keys.escape,
};

/** The keys to press, in order, each as it is printed on a keyboard. */
export function printedKeys(keys: string): readonly string[] {
  return keys.split(/[ +]/).map((key) => NAMES[key] ?? key.toUpperCase());
}
