/** Makes the footnotes of rendered Markdown reachable. No addresses are used: the part after `#` is the page's own. */
import { text } from "../../text/text.ts";
import { button } from "./code-block.ts";

export function linkFootnotes(nodes: ParentNode): void {
  const list = nodes.querySelector(".notes");
  if (list === null) return;
  list.setAttribute("role", "note");
  list.setAttribute("aria-label", text.chat.footnotes.footnotes);
  const items = [...list.querySelectorAll<HTMLElement>(":scope > ol > li")];
  for (const mark of nodes.querySelectorAll("sup.note-mark")) {
    const number = mark.textContent;
    const item = items[Number(number) - 1];
    if (item === undefined) continue;
    const to = button(number, () => focus(item));
    to.setAttribute("aria-label", text.chat.footnotes.footnote(number));
    mark.replaceChildren(to);
    item.tabIndex = -1;
    // Only the first mark of a note is gone back to.
    if (item.querySelector("button") !== null) continue;
    const back = button("↩", () => focus(to));
    back.setAttribute("aria-label", text.chat.footnotes.back);
    item.append(" ", back);
  }
}

function focus(element: HTMLElement): void {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "center" });
}
