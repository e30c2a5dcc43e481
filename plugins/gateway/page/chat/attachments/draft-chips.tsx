import { type DraftFile, type DraftFiles, removeFile, say, sizeWords } from "./draft-files.ts";
import { FileIcon } from "./file-icon.tsx";

/** What will be sent with the message. */
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
      {/* Always there, so that what appears in it is read out. */}
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
          <progress
            max={1}
            value={progress}
            aria-label={`Uploading ${name}`}
            {...(progress === 1 && { value: undefined })}
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
      <button type="button" class="plain" aria-label={`Remove ${name}`} onClick={onRemove}>
        <span aria-hidden="true">✕</span>
      </button>
    </li>
  );
}
