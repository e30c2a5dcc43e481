import { visibleLine } from "../../../../../kernel/text/visible.ts";
import type { Attachment } from "../../state/wire.ts";
import { sizeWords } from "./draft-files.ts";

/** The attachments of a sent message: images to view and files to download. */
export function SentFiles({ files }: { files: readonly Attachment[] }) {
  const images = files.filter(({ kind }) => kind === "image");
  const others = files.filter(({ kind }) => kind !== "image");
  return (
    <>
      {images.length > 0 && (
        <ul class="sent-files" aria-label="Attached images">
          {images.map((file) => (
            <li key={file.id}>
              <SentImage {...file} />
            </li>
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <ul class="sent-files" aria-label="Attached files">
          {others.map((file) => (
            <li key={file.id}>
              <SentFile {...file} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function SentImage({ id, name = "Image" }: Attachment) {
  return (
    <a class="sent-image" href={`/api/attachments/${id}`} target="_blank" rel="noopener noreferrer">
      <img src={`/api/attachments/${id}`} alt={visibleLine(name)} loading="lazy" />
    </a>
  );
}

function SentFile({ id, name = "File", size, text }: Attachment) {
  return (
    <a class="chip" href={`/api/attachments/${id}`} download={name}>
      <FileIcon name={name} />
      <span class="about">
        <b>{visibleLine(name)}</b>
        <span class="soft">{sizeWords(size)}</span>
        {text?.shown !== undefined && <span class="soft">{shareWords(text.shown, text.bytes)}</span>}
      </span>
    </a>
  );
}

function shareWords(shown: number, bytes: number): string {
  const tokens = (count: number) => Math.ceil(count / 4).toLocaleString();
  return `The model read the first ${tokens(shown)} of about ${tokens(bytes)} tokens: more did not fit its context window.`;
}

export function FileIcon({ name }: { name: string }) {
  const at = name.lastIndexOf(".");
  const extension = at > 0 ? name.slice(at + 1, at + 6).toUpperCase() : "FILE";
  return (
    <span class="file-icon" aria-hidden="true">
      {extension}
    </span>
  );
}
