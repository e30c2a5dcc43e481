/** Diagrams, drawn in a frame without origin or network: a mistake in a large library must not reach the page. */
import { text } from "../../text/text.ts";
import { button } from "./code-block.ts";

/** Longer sources are shown as they are. */
const MAX_SOURCE_LENGTH = 20_000;
const TIMEOUT_MS = 20_000;

/** Draws the diagram in place of its source, which stays a button away. */
export function drawDiagram(figure: HTMLElement, signal: AbortSignal): void {
  const source = figure.querySelector("code")?.textContent ?? "";
  if (source.trim() === "" || source.length > MAX_SOURCE_LENGTH) return;
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("referrerpolicy", "no-referrer");
  frame.loading = "lazy";
  frame.title = text.chat.diagram.frame;
  frame.src = "/diagram.html";
  const end = new AbortController();
  const isOver = AbortSignal.any([signal, end.signal]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
  const give = () => {
    const isDark = getComputedStyle(figure).colorScheme === "dark" || isDarkPage();
    // The frame has no origin that it could be named by.
    frame.contentWindow?.postMessage({ source, isDark }, "*");
    timer = setTimeout(fail, TIMEOUT_MS);
  };
  const fail = () => {
    end.abort();
    frame.remove();
    figure.classList.remove("drawn");
    figure.classList.add("undrawn");
    figure.dataset["why"] = text.chat.diagram.cannotDraw;
  };
  addEventListener(
    "message",
    ({ source: from, data }: MessageEvent<unknown>) => {
      // Nothing else that the frame says is believed.
      if (from !== frame.contentWindow) return;
      if (data === "ready") return give();
      clearTimeout(timer);
      if (data === "drawn") figure.classList.add("drawn");
      else fail();
    },
    { signal: isOver },
  );
  figure.append(frame, actionsOf(figure));
}

const isDarkPage = (): boolean => {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
};

function actionsOf(figure: HTMLElement): HTMLElement {
  const actions = document.createElement("span");
  actions.className = "actions";
  const toggle = (words: string, name: string) => {
    const made = button(words, () => {
      made.setAttribute("aria-pressed", String(figure.classList.toggle(name)));
    });
    made.setAttribute("aria-pressed", "false");
    return made;
  };
  actions.append(toggle(text.chat.diagram.larger, "larger"), toggle(text.chat.diagram.source, "as-source"));
  return actions;
}
