import { useEffect, useMemo, useRef } from "preact/hooks";
import { toHtml } from "./markdown.ts";

/** Markdown that grows while it streams; each code block gets a button that copies it. */
export function Prose({ text }: { text: string }) {
  const html = useMemo(() => toHtml(text), [text]);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    for (const figure of element.current?.querySelectorAll("figure.code") ?? []) addCopyButton(figure);
  }, [html]);
  // biome-ignore lint/security/noDangerouslySetInnerHtml: toHtml sanitises, and its tests attack it
  return <div class="prose" ref={element} dangerouslySetInnerHTML={{ __html: html }} />;
}

function addCopyButton(figure: Element): void {
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
  figure.append(button);
}
