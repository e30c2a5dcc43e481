import { useEffect, useState } from "preact/hooks";
import { update } from "../state/app.ts";

/** Copies a text and confirms it for a moment. */
export function CopyButton({ text, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      update({ announcement: "Copied." });
    } catch {
      update({ trouble: "The browser did not let Postern copy. Select the text and copy it yourself." });
    }
  };
  return (
    <button type="button" class="small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      {isCopied ? "Copied" : "Copy"}
    </button>
  );
}
