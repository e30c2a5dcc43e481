import { visibleLine } from "../../../../kernel/kit/text.ts";
import type { Attachment } from "../../state/wire.ts";
import { whole } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { sizeWords } from "./draft-files.ts";
import { KeepButton } from "./keep-button.tsx";

/** The attachments of a sent message: images to view and files to download. */
export function SentFiles({ files }: { files: readonly Attachment[] }) {
  const { image: images = [], file: others = [] } = Object.groupBy(files, ({ kind }) =>
    kind === "image" ? "image" : "file",
  );
  const list = (label: string, shown: readonly Attachment[], Sent: typeof SentFile) =>
    shown.length > 0 && (
      <ul class="sent-files" aria-label={label}>
        {shown.map((file) => (
          <li key={file.id}>
            <Sent {...file} />
            <KeepButton file={file} />
          </li>
        ))}
      </ul>
    );
  return (
    <>
      {list(text.chat.attachments.images, images, SentImage)}
      {list(text.chat.editing.files, others, SentFile)}
    </>
  );
}

function SentImage({ id, name = text.chat.attachments.image }: Attachment) {
  return (
    <a class="sent-image" href={`/api/attachments/${id}`} target="_blank" rel="noopener noreferrer">
      <img src={`/api/attachments/${id}`} alt={visibleLine(name)} loading="lazy" />
    </a>
  );
}

function SentFile({ id, name = text.chat.editing.file, size, text: read }: Attachment) {
  return (
    <a class="chip" href={`/api/attachments/${id}`} download={name}>
      <FileIcon name={name} />
      <span class="about">
        <b>{visibleLine(name)}</b>
        <span class="soft">{sizeWords(size)}</span>
        {read?.shown !== undefined && <span class="soft">{shareWords(read.shown, read.bytes)}</span>}
      </span>
    </a>
  );
}

function shareWords(shown: number, bytes: number): string {
  const tokens = (count: number) => whole(Math.ceil(count / 4));
  return text.chat.attachments.shown(tokens(shown), tokens(bytes));
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
