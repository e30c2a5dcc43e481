import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { cancel, send } from "../app.ts";

/** A draft survives a reload, a lost connection and a look at another thread. */
const draftKey = (thread: string | undefined) => `postern.draft.${thread ?? "new"}`;

export function Composer({ thread, running }: { thread: string | undefined; running: string | undefined }) {
  const [text, setText] = useState(() => localStorage.getItem(draftKey(thread)) ?? "");
  const [isSending, setSending] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);

  useLayoutEffect(() => {
    setText(localStorage.getItem(draftKey(thread)) ?? "");
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, [thread]);

  const write = (draft: string) => {
    setText(draft);
    if (draft) localStorage.setItem(draftKey(thread), draft);
    else localStorage.removeItem(draftKey(thread));
  };
  const submit = async () => {
    const message = text.trim();
    if (!message || isSending) return;
    setSending(true);
    if (await send(message)) write("");
    setSending(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  };

  return (
    <footer class="composer">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <textarea
          ref={box}
          rows={1}
          aria-label="Message"
          placeholder="Message Postern (Enter to send, Shift+Enter for a new line)"
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {running ? (
          <button type="button" class="danger" onClick={() => void cancel(running)}>
            Stop
          </button>
        ) : (
          <button type="submit" class="primary" disabled={!text.trim() || isSending}>
            Send
          </button>
        )}
      </form>
    </footer>
  );
}
