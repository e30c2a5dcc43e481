import { useLayoutEffect, useRef } from "preact/hooks";
import { addCodeButtons } from "./code-block.ts";
import { colour, knownColours } from "./colours.ts";
import { toSpans } from "./markdown.ts";

/** Code with colours as in an answer. */
export function Code({ text, language, label }: { text: string; language: string; label: string }) {
  const figure = useRef<HTMLElement>(null);
  const code = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const { html: known, length } = knownColours({ text, language });
    code.current?.replaceChildren(toSpans(known), text.slice(length));
    if (figure.current) addCodeButtons(figure.current, { isWrapped: true, onWrap: () => {} });
    const replaced = new AbortController();
    void colour({ text, language }, replaced.signal).then((html) => {
      if (html !== undefined && !replaced.signal.aborted) code.current?.replaceChildren(toSpans(html));
    });
    return () => replaced.abort();
  }, [text, language]);
  return (
    <figure class="code" ref={figure}>
      <figcaption>{label}</figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code ref={code} />
      </pre>
    </figure>
  );
}
