/** The buttons of a code block: copying it, and wrapping lines that are too long for it. */
import { text } from "../../text/text.ts";

interface Wrapping {
  readonly isWrapped: boolean;
  onWrap(isWrapped: boolean): void;
}

/** The figure must be in the document: whether its lines fit is measured. */
export function addCodeButtons(figure: HTMLElement, { isWrapped, onWrap }: Wrapping): void {
  const code = figure.querySelector("pre");
  const actions = document.createElement("span");
  actions.className = "actions";
  const wrap = button(text.chat.code.wrap, () => {
    const isNow = figure.classList.toggle("wrapped");
    wrap.setAttribute("aria-pressed", String(isNow));
    onWrap(isNow);
  });
  wrap.setAttribute("aria-label", text.chat.code.wrapLines);
  wrap.setAttribute("aria-pressed", String(isWrapped));
  const copy = button(text.basics.copy, async () => {
    await navigator.clipboard.writeText(code?.textContent ?? "");
    copy.textContent = text.basics.copied;
    setTimeout(() => {
      copy.textContent = text.basics.copy;
    }, 1500);
  });
  copy.classList.add("copy");
  if (isWrapped || (code && code.scrollWidth > code.clientWidth)) actions.append(wrap);
  actions.append(copy);
  figure.classList.toggle("wrapped", isWrapped);
  figure.querySelector(".actions")?.remove();
  figure.append(actions);
}

export function button(label: string, onClick: () => unknown): HTMLButtonElement {
  const made = document.createElement("button");
  made.type = "button";
  made.classList.add("plain", "small");
  made.textContent = label;
  made.addEventListener("click", () => void onClick());
  return made;
}
