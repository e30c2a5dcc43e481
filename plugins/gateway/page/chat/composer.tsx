import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { getState } from "../state/app.ts";
import { cancel, send } from "../state/turns.ts";
import { AttachButton, DraftChips, DropTarget, filesIn } from "./attachments/draft.tsx";
import {
  addFiles,
  attachmentOf,
  moveFiles,
  putBack,
  say,
  takeFiles,
  useDraftFiles,
} from "./attachments/draft-files.ts";

/** A draft is kept over a reload, a lost connection and a switch to another thread. */
const draftKey = (thread: string | undefined) => `postern.draft.${thread ?? "new"}`;

const NO_FOLDERS = "A folder cannot be attached. Attach the files in it.";

export function Composer({ thread, running }: { thread: string | undefined; running: string | undefined }) {
  const [text, setText] = useState(() => localStorage.getItem(draftKey(thread)) ?? "");
  const box = useRef<HTMLTextAreaElement>(null);
  const typed = useRef(text);
  const shownIn = useRef(thread);
  const waiting = useRef(0);
  const line = useRef<Promise<unknown>>(Promise.resolve());
  const attached = useDraftFiles(thread);
  /** The thread that the first message started: messages queued behind it go there too. */
  const begun = useRef<string | undefined>(undefined);
  const waitsForFiles = useRef(false);
  const [isUploading, setUploading] = useState(false);

  const show = (draft: string) => {
    typed.current = draft;
    setText(draft);
  };
  const keep = (draft: string, of: string | undefined) => {
    if (draft) localStorage.setItem(draftKey(of), draft);
    else localStorage.removeItem(draftKey(of));
  };
  useLayoutEffect(() => {
    // The first message has given its thread an id: keep the text that was typed after it.
    const isSame = shownIn.current === undefined && waiting.current > 0 && !waitsForFiles.current;
    shownIn.current = thread;
    if (thread === undefined) begun.current = undefined;
    if (isSame) return;
    show(localStorage.getItem(draftKey(thread)) ?? "");
    if (matchMedia("(pointer: fine)").matches) box.current?.focus();
  }, [thread]);

  const write = (draft: string) => {
    show(draft);
    keep(draft, thread);
  };
  /** The message leaves the box at once, so that more can be typed; it is put back if it was refused. */
  const submit = async () => {
    const message = text.trim();
    if (!message && attached.files.length === 0) return;
    show("");
    waiting.current++;
    const sent = line.current.then(() => sendAll(message));
    line.current = sent;
    const isTaken = await sent;
    waiting.current--;
    // If another thread is open by now, the text is still stored as the draft of this one.
    const isShown = shownIn.current === thread;
    if (!isTaken) return isShown ? write([message, typed.current].filter(Boolean).join("\n")) : undefined;
    if (thread === undefined || !isShown) keep("", thread);
    keep(typed.current, getState().thread);
  };
  /** Waits for the uploads; meanwhile another thread may be opened. */
  const sendAll = async (message: string): Promise<boolean> => {
    waitsForFiles.current = true;
    setUploading(true);
    const files = await takeFiles(thread);
    waitsForFiles.current = false;
    setUploading(false);
    if (files === undefined || (!message && files.length === 0)) return false;
    const attachments = files.flatMap(({ upload }) => (upload ? [attachmentOf(upload)] : []));
    const to = thread ?? begun.current;
    const taken = await send(message, attachments, to ?? null);
    if (taken === undefined) putBack(to, files);
    else if (to === undefined) {
      begun.current = taken;
      moveFiles(taken);
    }
    return taken !== undefined;
  };
  const attach = useCallback(
    (files: File[]) => {
      void addFiles(thread, files);
      box.current?.focus();
    },
    [thread],
  );
  const refuseFolder = useCallback(() => say(thread, NO_FOLDERS), [thread]);
  const onPaste = (event: ClipboardEvent) => {
    const { clipboardData } = event;
    const { files, hasFolder } = filesIn(clipboardData);
    // Programs add a picture of the text to the clipboard: the text is meant.
    if ((files.length === 0 && !hasFolder) || clipboardData?.types.includes("text/plain")) return;
    event.preventDefault();
    if (hasFolder) refuseFolder();
    attach(files);
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
        <DropTarget onFiles={attach} onFolder={refuseFolder} />
        <DraftChips thread={thread} draft={attached} onRemoved={() => box.current?.focus()} />
        {isUploading && attached.files.length > 0 && (
          <p class="uploading" role="status">
            The message is sent when its files are uploaded.
          </p>
        )}
        <AttachButton onFiles={attach} />
        <textarea
          ref={box}
          rows={1}
          aria-label="Message"
          dir="auto"
          placeholder={
            isNarrow() ? "Message Postern" : "Message Postern (Enter to send, Shift+Enter for a new line)"
          }
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        {running ? (
          <button type="button" class="danger" onClick={() => void cancel(running)}>
            Stop
          </button>
        ) : (
          <button type="submit" class="primary" disabled={!text.trim() && attached.files.length === 0}>
            Send
          </button>
        )}
      </form>
    </footer>
  );
}

function isNarrow(): boolean {
  return matchMedia("(max-width: 40rem)").matches;
}
