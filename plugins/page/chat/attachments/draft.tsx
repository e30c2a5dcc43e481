import Paperclip from "lucide/dist/esm/icons/paperclip.mjs";
import { useEffect, useRef, useState } from "preact/hooks";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";
import { type DraftFile, type DraftFiles, removeFile, say, sizeWords } from "./draft-files.ts";
import { FileIcon } from "./sent-files.tsx";

interface DraftChipsProps {
  readonly thread: string | undefined;
  readonly draft: DraftFiles;
  onRemoved(): void;
}

/** The files that will be sent with the message. */
export function DraftChips({ thread, draft: { files, problem }, onRemoved }: DraftChipsProps) {
  return (
    <>
      {/* Always rendered, so that screen readers announce text that appears in it. */}
      <p class="not-attached" role="status">
        {problem && (
          <>
            <span>{problem}</span>
            <Button label={text.basics.dismiss} class="small" onClick={() => say(thread, undefined)} />
          </>
        )}
      </p>
      {files.length > 0 && (
        <ul class="chips" aria-label={text.chat.editing.files}>
          {files.map((file) => (
            <Chip
              key={file.key}
              file={file}
              onRemove={() => {
                removeFile(thread, file);
                onRemoved();
              }}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function Chip({ file, onRemove }: { file: DraftFile; onRemove: () => void }) {
  const { name, size, progress, upload, problem } = file;
  const note = problem ?? upload?.note;
  return (
    <li class={`chip${note ? " noted" : ""}${problem ? " failed" : ""}`}>
      {upload?.kind === "image" ? (
        <img src={`/api/attachments/${upload.id}`} alt="" />
      ) : (
        <FileIcon name={name} />
      )}
      <span class="about">
        <b title={name}>{name}</b>
        {!upload && !problem ? (
          <progress
            max={1}
            value={progress === 1 ? undefined : progress}
            aria-label={text.chat.attachments.uploading(name)}
          />
        ) : (
          <span class="soft">{sizeWords(size)}</span>
        )}
        {note && (
          <span class={problem ? "why" : "soft"} role="status">
            {note}
          </span>
        )}
      </span>
      <button type="button" class="plain" aria-label={text.chat.editing.remove(name)} onClick={onRemove}>
        <span aria-hidden="true">✕</span>
      </button>
    </li>
  );
}

export function AttachButton({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          const { currentTarget } = event;
          onFiles([...(currentTarget.files ?? [])]);
          // The same file may be chosen again after it was removed.
          currentTarget.value = "";
        }}
      />
      <Button
        label={text.chat.attachments.attach}
        icon={Paperclip}
        isIconOnly
        title={text.chat.attachments.attachHow}
        onClick={() => input.current?.click()}
      />
    </>
  );
}

interface DropTargetProps {
  /** The hint that is shown. */
  readonly words: string;
  onFiles(files: File[]): void;
  onFolder(): void;
}

/** Files can be dropped anywhere on the page; a hint is shown while some are dragged over it. */
export function DropTarget({ words, onFiles, onFolder }: DropTargetProps) {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    const carriesFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;
    const over = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      // Otherwise the browser would open them instead of the page.
      event.preventDefault();
      setOver(true);
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      setOver(false);
      const { files, hasFolder } = filesIn(event.dataTransfer);
      if (hasFolder) onFolder();
      onFiles(files);
    };
    const ended = new AbortController();
    document.addEventListener("dragover", over, { signal: ended.signal });
    document.addEventListener("dragleave", leave, { signal: ended.signal });
    document.addEventListener("drop", drop, { signal: ended.signal });
    return () => ended.abort();
  }, [onFiles, onFolder]);
  if (!isOver) return null;
  return (
    <div class="drop-target">
      <p>{words}</p>
    </div>
  );
}

export function filesIn(transfer: DataTransfer | null): { files: File[]; hasFolder: boolean } {
  const items = [...(transfer?.items ?? [])].filter(({ kind }) => kind === "file");
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry()?.isDirectory === true;
  const files = items.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
  return { files, hasFolder: items.some(isFolder) };
}
