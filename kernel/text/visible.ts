/** Makes visible what a terminal would act on and an eye would not see. The one home of this, for terminals and logs. */

// The joiners stay: scripts and emoji are written with them. So does one variation selector; a row of them spells something.
const HIDDEN =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]--[\u200c\u200d]]|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gv;

/** Keeps line breaks and tabs, for a text of several lines. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(HIDDEN, (char) => (char === "\n" || char === "\t" ? char : spell(char)));
}

export function visibleLine(text: string): string {
  return text.replace(HIDDEN, spell);
}

/** Without them, for what a person types or pastes. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, (char) => (char === "\n" || char === "\t" ? char : ""));
}

/** The same characters written as JSON escapes them: what reads it gets the same value. */
export function visibleJson(json: string): string {
  return json.replace(HIDDEN, (char) => (char === "\n" ? char : escapeUnits(char)));
}

function spell(char: string): string {
  if (char === "\n") return "\\n";
  return char === "\t" ? "\\t" : `\\u{${char.codePointAt(0)?.toString(16)}}`;
}

function escapeUnits(char: string): string {
  return char
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
