import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import type { TurnView } from "../../state/turn-view.ts";
import { resend } from "../../state/turns.ts";
import { text } from "../../text/text.ts";
import { Button, Form } from "../../widgets/controls.tsx";

const draftKey = (turn: string) => `postern.edit.${turn}`;

/** An earlier message, to be changed and sent again in its place. The draft is kept over a reload. */
export function MessageEditor({ turn, onClose }: { turn: TurnView; onClose: () => void }) {
  const [draft, setDraft] = useState(() => localStorage.getItem(draftKey(turn.id)) ?? turn.asked ?? "");
  const [files, setFiles] = useState(turn.files ?? []);
  const [isSending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.setSelectionRange(draft.length, draft.length);
  }, []);

  const write = (typed: string) => {
    setDraft(typed);
    localStorage.setItem(draftKey(turn.id), typed);
  };
  const submit = async () => {
    const message = draft.trim();
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
    <Form class="edited" onSubmit={submit}>
      {files.length > 0 && (
        <ul class="kept-files" aria-label={text.chat.editing.files}>
          {files.map(({ id, name = text.chat.editing.file }) => (
            <li key={id}>
              <span>{visibleLine(name)}</span>
              <Button
                label={text.basics.remove}
                class="small"
                aria-label={text.chat.editing.remove(visibleLine(name))}
                onClick={() => setFiles(files.filter((file) => file.id !== id))}
              />
            </li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        rows={3}
        aria-label={text.chat.turn.edit}
        dir="auto"
        value={draft}
        onInput={(event) => write(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <span class="row">
        <Button
          label={text.chat.editing.sendAgain}
          type="submit"
          class="primary"
          disabled={isSending || (!draft.trim() && files.length === 0)}
        />
        <Button label={text.basics.cancel} onClick={onClose} />
      </span>
    </Form>
  );
}
