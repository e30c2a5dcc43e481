import { useEffect, useRef, useState } from "preact/hooks";
import { type DraftFile, type DraftFiles, removeFile, say, sizeWords } from "./draft-files.ts";
import { FileIcon } from "./sent-files.tsx";

/** The files that will be sent with the message. */
export function DraftChips({
  thread,
  draft,
  onRemoved,
}: {
  thread: string | undefined;
  draft: DraftFiles;
  onRemoved: () => void;
}) {
  const { files, problem } = draft;
  return (
    <>
      {/* Always rendered, so that screen readers announce text that appears in it. */}
      <p class="not-attached" role="status">
        {problem && (
          <>
            <span>{problem}</span>
            <button type="button" class="small" onClick={() => say(thread, undefined)}>
              Dismiss
            </button>
          </>
        )}
      </p>
      {files.length > 0 && (
        <ul class="chips" aria-label="Attached files">
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
          <progress max={1} value={progress === 1 ? undefined : progress} aria-label={`Uploading ${name}`} />
        ) : (
          <span class="soft">{sizeWords(size)}</span>
        )}
        {note && (
          <span class={problem ? "why" : "soft"} role="status">
            {note}
          </span>
        )}
      </span>
      <button type="button" class="plain" aria-label={`Remove ${name}`} onClick={onRemove}>
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
      <button
        type="button"
        class="attach"
        aria-label="Attach files"
        title="Attach files (or paste or drop them)"
        onClick={() => input.current?.click()}
      >
        <svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
          <path
            d="M20 11.5 12.4 19a5 5 0 0 1-7-7l8-8a3.4 3.4 0 0 1 4.8 4.8l-8 8a1.7 1.7 0 0 1-2.4-2.4l7.3-7.4"
            fill="none"
            stroke="currentColor"
            stroke-width="1.8"
            stroke-linecap="round"
            stroke-linejoin="round"
          />
        </svg>
      </button>
    </>
  );
}

/** Files can be dropped anywhere on the chat; a hint is shown while some are dragged over it. */
export function DropTarget({
  onFiles,
  onFolder,
}: {
  onFiles: (files: File[]) => void;
  onFolder: () => void;
}) {
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
    document.addEventListener("dragover", over);
    document.addEventListener("dragleave", leave);
    document.addEventListener("drop", drop);
    return () => {
      document.removeEventListener("dragover", over);
      document.removeEventListener("dragleave", leave);
      document.removeEventListener("drop", drop);
    };
  }, [onFiles, onFolder]);
  if (!isOver) return null;
  return (
    <div class="drop-target">
      <p>Drop files here to attach them</p>
    </div>
  );
}

export function filesIn(transfer: DataTransfer | null): { files: File[]; hasFolder: boolean } {
  const items = [...(transfer?.items ?? [])].filter(({ kind }) => kind === "file");
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry()?.isDirectory === true;
  const files = items.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
  return { files, hasFolder: items.some(isFolder) };
}
