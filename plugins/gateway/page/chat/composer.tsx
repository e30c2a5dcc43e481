import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { cancel, getState, send } from "../app.ts";

/** A draft survives a reload, a lost connection and a look at another thread. */
const draftKey = (thread: string | undefined) => `postern.draft.${thread ?? "new"}`;

export function Composer({ thread, running }: { thread: string | undefined; running: string | undefined }) {
  const [text, setText] = useState(() => localStorage.getItem(draftKey(thread)) ?? "");
  const box = useRef<HTMLTextAreaElement>(null);
  const typed = useRef(text);
  const shownIn = useRef(thread);
  const waiting = useRef(0);
  const line = useRef<Promise<unknown>>(Promise.resolve());

  const show = (draft: string) => {
    typed.current = draft;
    setText(draft);
  };
  const keep = (draft: string, of = getState().thread) => {
    if (draft) localStorage.setItem(draftKey(of), draft);
    else localStorage.removeItem(draftKey(of));
  };
  useLayoutEffect(() => {
    // The first message has given its thread an id: what was typed after it stays.
    const isSame = shownIn.current === undefined && waiting.current > 0;
    shownIn.current = thread;
    if (isSame) return;
    show(localStorage.getItem(draftKey(thread)) ?? "");
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, [thread]);

  const write = (draft: string) => {
    show(draft);
    keep(draft, thread);
  };
  /** What is sent leaves the box at once, so that more can be typed; it comes back where it was not taken. */
  const submit = async () => {
    const message = text.trim();
    if (!message) return;
    show("");
    waiting.current++;
    const sent = line.current.then(() => send(message));
    line.current = sent;
    const isTaken = await sent;
    waiting.current--;
    if (!isTaken) return write([message, typed.current].filter(Boolean).join("\n"));
    if (thread === undefined) keep("", undefined);
    keep(typed.current);
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
          <button type="submit" class="primary" disabled={!text.trim()}>
            Send
          </button>
        )}
      </form>
    </footer>
  );
}
