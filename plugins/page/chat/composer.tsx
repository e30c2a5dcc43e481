import ArrowUp from "lucide/dist/esm/icons/arrow-up.mjs";
import Square from "lucide/dist/esm/icons/square.mjs";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { getState } from "../state/app.ts";
import { cancel, send } from "../state/turns.ts";
import type { FileEntry } from "../state/wire.ts";
import { text as catalogue } from "../text/text.ts";
import { Button, Form } from "../widgets/controls.tsx";
import { AttachButton, DraftChips, DropTarget, filesIn } from "./attachments/draft.tsx";
import {
  addFiles,
  attachFile,
  attachmentOf,
  moveFiles,
  putBack,
  say,
  takeFiles,
  useDraftFiles,
} from "./attachments/draft-files.ts";
import { MentionList, useMention } from "./attachments/mention.tsx";
import { ModelPicker } from "./model-picker.tsx";

/** A draft is kept over a reload, a lost connection and a switch to another thread. */
const draftKey = (thread: string | undefined) => `postern.draft.${thread ?? "new"}`;

const words = catalogue.start;

const FILES_ID = "mentioned-files";

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
  const [cursor, setCursor] = useState(text.length);
  const mention = useMention(text, cursor);

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
    // Undo in a toast had it for a reason.
    if (document.activeElement?.closest(".toast")) return;
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
  const refuseFolder = useCallback(() => say(thread, words.noFolders), [thread]);
  const onPaste = (event: ClipboardEvent) => {
    const { clipboardData } = event;
    const { files, hasFolder } = filesIn(clipboardData);
    // Programs add a picture of the text to the clipboard: the text is meant.
    if ((files.length === 0 && !hasFolder) || clipboardData?.types.includes("text/plain")) return;
    event.preventDefault();
    if (hasFolder) refuseFolder();
    attach(files);
  };
  /** Writes the path in place of what was typed. A file is attached; a folder is looked into. */
  const pick = ({ path, kind }: FileEntry) => {
    if (!mention) return;
    const named = kind === "folder" ? `@${path}/` : `@${path} `;
    const end = mention.from + named.length;
    write(text.slice(0, mention.from) + named + text.slice(mention.to).replace(/^ /, ""));
    setCursor(end);
    // After the new text is in the field.
    requestAnimationFrame(() => box.current?.setSelectionRange(end, end));
    if (kind === "file") void attachFile(thread, path);
  };
  /** Returns true if the key was for the list of files. */
  const pressInMention = ({ key }: KeyboardEvent): boolean => {
    if (!mention) return false;
    const { entries, chosen, choose, close } = mention;
    const chosenEntry = entries[chosen];
    if (key === "ArrowDown") choose((chosen + 1) % entries.length);
    else if (key === "ArrowUp") choose((chosen + entries.length - 1) % entries.length);
    else if ((key === "Enter" || key === "Tab") && chosenEntry) pick(chosenEntry);
    else if (key === "Escape") close();
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!event.isComposing && !event.shiftKey && pressInMention(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    void submit();
  };

  return (
    <footer class="composer">
      <Form onSubmit={submit}>
        <DropTarget words={words.dropHere} onFiles={attach} onFolder={refuseFolder} />
        <DraftChips thread={thread} draft={attached} onRemoved={() => box.current?.focus()} />
        {isUploading && attached.files.length > 0 && (
          <p class="uploading" role="status">
            {words.sentWhenUploaded}
          </p>
        )}
        {mention && <MentionList id={FILES_ID} mention={mention} onPick={pick} />}
        <textarea
          ref={box}
          rows={1}
          aria-label={words.message}
          dir="auto"
          placeholder={words.messagePlaceholder}
          value={text}
          aria-autocomplete="list"
          aria-controls={mention && FILES_ID}
          aria-activedescendant={mention && `${FILES_ID}-${mention.chosen}`}
          onInput={({ currentTarget }) => {
            write(currentTarget.value);
            setCursor(currentTarget.selectionStart);
          }}
          onSelect={({ currentTarget }) => setCursor(currentTarget.selectionStart)}
          onBlur={() => mention?.close()}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div class="composer-actions">
          <AttachButton onFiles={attach} />
          <ModelPicker />
          {running ? (
            <Button
              label={words.stop}
              icon={Square}
              isIconOnly
              class="stop"
              onClick={() => cancel(running)}
            />
          ) : (
            <Button
              label={words.send}
              icon={ArrowUp}
              isIconOnly
              type="submit"
              class="primary"
              disabled={!text.trim() && attached.files.length === 0}
            />
          )}
        </div>
      </Form>
    </footer>
  );
}
