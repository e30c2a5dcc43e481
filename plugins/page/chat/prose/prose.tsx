import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { addCodeButtons } from "./code-block.ts";
import { colour } from "./colours.ts";
import { linkFootnotes } from "./footnotes.ts";
import { type Draw, isDiff, toNodes, toSpans } from "./markdown.ts";

let draw: Draw | undefined;

interface ProseProps {
  readonly text: string;
  /** False while more of it may come. */
  readonly isWhole?: boolean;
}

/** Markdown that grows while it streams. Code can be copied and wrapped; diagrams are drawn when the text is whole. */
export function Prose({ text, isWhole = true }: ProseProps) {
  const element = useRef<HTMLDivElement>(null);
  const [isDrawing, setDrawing] = useState(draw !== undefined);
  /** The numbers of the code blocks whose lines are wrapped. */
  const wrapped = useRef(new Set<number>());
  useLayoutEffect(() => {
    const { nodes, hasFormulas } = toNodes(text, draw);
    linkFootnotes(nodes);
    element.current?.replaceChildren(nodes);
    if (hasFormulas && !draw) void loadMaths().then(() => setDrawing(true));
    const replaced = new AbortController();
    const figures = element.current?.querySelectorAll<HTMLElement>("figure.code") ?? [];
    for (const [at, figure] of [...figures].entries()) {
      addCodeButtons(figure, {
        isWrapped: wrapped.current.has(at),
        onWrap: (isWrapped) => void (isWrapped ? wrapped.current.add(at) : wrapped.current.delete(at)),
      });
      void colourFigure(figure, replaced.signal);
    }
    if (isWhole) void drawDiagrams(element.current, replaced.signal);
    return () => replaced.abort();
  }, [text, isDrawing, isWhole]);
  return <div class="prose" ref={element} />;
}

/** If it cannot be loaded, formulas are shown as written. */
async function loadMaths(): Promise<void> {
  draw = await import("./maths.ts").then(
    ({ renderFormula }) => renderFormula,
    () => undefined,
  );
}

async function drawDiagrams(element: HTMLElement | null, signal: AbortSignal): Promise<void> {
  const figures = element?.querySelectorAll<HTMLElement>("figure.diagram") ?? [];
  if (figures.length === 0) return;
  const { drawDiagram } = await import("./diagrams.ts");
  if (!signal.aborted) for (const figure of figures) drawDiagram(figure, signal);
}

async function colourFigure(figure: Element, signal: AbortSignal): Promise<void> {
  const code = figure.querySelector("code");
  const language = figure.querySelector("figcaption")?.textContent ?? "";
  if (code === null || isDiff(language)) return;
  const html = await colour({ text: code.textContent, language }, signal);
  if (html !== undefined && !signal.aborted) code.replaceChildren(toSpans(html));
}
