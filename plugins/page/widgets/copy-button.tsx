import { useEffect, useState } from "preact/hooks";
import { update } from "../state/app.ts";
import { text } from "../text/text.ts";
import { Button } from "./controls.tsx";

/** Copies a text and confirms it for a moment. */
export function CopyButton({ text: copied, what }: { text: string; what: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(copied);
      setCopied(true);
      update({ announcement: text.basics.copied });
    } catch {
      update({ trouble: text.widgets.copyRefused });
    }
  };
  return (
    <Button
      label={isCopied ? text.basics.copied : text.basics.copy}
      class="small"
      aria-label={text.basics.copyWhat(what)}
      onClick={copy}
    />
  );
}
