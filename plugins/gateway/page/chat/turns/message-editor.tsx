import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleLine } from "../../../../../kernel/text/visible.ts";
import type { TurnView } from "../../state/turn-view.ts";
import { resend } from "../../state/turns.ts";

const draftKey = (turn: string) => `postern.edit.${turn}`;

/** An earlier message, to be changed and sent again in its place. The draft is kept over a reload. */
export function MessageEditor({ turn, onClose }: { turn: TurnView; onClose: () => void }) {
  const [text, setText] = useState(() => localStorage.getItem(draftKey(turn.id)) ?? turn.asked ?? "");
  const [files, setFiles] = useState(turn.files ?? []);
  const [isSending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(text.length, text.length);
  }, []);

  const write = (draft: string) => {
    setText(draft);
    localStorage.setItem(draftKey(turn.id), draft);
  };
  const submit = async () => {
    const message = text.trim();
    if ((!message && files.length === 0) || isSending) return;
    setSending(true);
    const isTaken = await resend(turn, message, files);
    setSending(false);
    if (!isTaken) return;
    localStorage.removeItem(draftKey(turn.id));
    onClose();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      // The same key would stop the running answer.
      event.stopPropagation();
      onClose();
    } else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit();
    }
  };

  return (
    <form
      class="edited"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {files.length > 0 && (
        <ul class="kept-files" aria-label="Attached files">
          {files.map(({ id, name = "File" }) => (
            <li key={id}>
              <span>{visibleLine(name)}</span>
              <button
                type="button"
                class="small"
                aria-label={`Remove ${visibleLine(name)}`}
                onClick={() => setFiles(files.filter((file) => file.id !== id))}
              >
                Remove
              </button>
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        rows={3}
        aria-label="Edit your question"
        dir="auto"
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="row">
        <button type="submit" class="primary" disabled={isSending || (!text.trim() && files.length === 0)}>
          Send again
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </span>
    </form>
  );
}
