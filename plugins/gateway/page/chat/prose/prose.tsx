import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { colour } from "./colours.ts";
import { type Draw, toNodes, toSpans } from "./markdown.ts";

let draw: Draw | undefined;

/** Markdown that grows while it streams; each code block gets a button that copies it. */
export function Prose({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  const [isDrawing, setDrawing] = useState(draw !== undefined);
  useLayoutEffect(() => {
    const { nodes, hasFormulas } = toNodes(text, draw);
    for (const figure of nodes.querySelectorAll("figure.code")) figure.append(copyButton(figure));
    element.current?.replaceChildren(nodes);
    if (hasFormulas && !draw) void loadMaths().then(() => setDrawing(true));
    const replaced = new AbortController();
    for (const figure of element.current?.querySelectorAll("figure.code") ?? [])
      void colourFigure(figure, replaced.signal);
    return () => replaced.abort();
  }, [text, isDrawing]);
  return <div class="prose" ref={element} />;
}

/** If it cannot be loaded, formulas are shown as written. */
async function loadMaths(): Promise<void> {
  draw = await import("./maths.ts").then(
    ({ renderFormula }) => renderFormula,
    () => undefined,
  );
}

async function colourFigure(figure: Element, signal: AbortSignal): Promise<void> {
  const code = figure.querySelector("code");
  const language = figure.querySelector("figcaption")?.textContent ?? "";
  if (code === null) return;
  const html = await colour({ text: code.textContent, language }, signal);
  if (html !== undefined && !signal.aborted) code.replaceChildren(toSpans(html));
}

function copyButton(figure: Element): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code")?.textContent ?? "");
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
  return button;
}
