import { useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { attempt } from "../../state/app.ts";
import { filesLink } from "../../state/files.ts";
import { type Attachment, ask, type FileEntry, Refused } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";

const MAX_SAME_NAMES = 20;

/** Keeps an attachment in the workspace, under its name or, where that is taken, with a number. */
export function KeepButton({ file: { id, name = "image" } }: { file: Attachment }) {
  const [path, setPath] = useState<string>();
  const keep = async () => {
    const kept = await attempt(async () => {
      for (let number = 1; ; number++) {
        const body = { attachment_id: id, path: `/${numbered(name, number)}` };
        try {
          return await ask<FileEntry>("POST", "/api/workspace/keep", body);
        } catch (error) {
          const isTaken = error instanceof Refused && error.status === 409;
          if (!isTaken || number === MAX_SAME_NAMES) throw error;
        }
      }
    });
    if (kept) setPath(kept.path);
  };
  if (path !== undefined)
    return (
      <a class="kept" href={filesLink(path)} aria-label={text.chat.attachments.keptOpen(visibleLine(name))}>
        {text.chat.attachments.kept}
      </a>
    );
  return (
    <Button
      label={text.chat.attachments.keep}
      class="plain small"
      aria-label={text.chat.attachments.keepWhat(visibleLine(name))}
      onClick={keep}
    />
  );
}

function numbered(name: string, number: number): string {
  const end = name.lastIndexOf(".");
  if (number === 1) return name;
  return end > 0 ? `${name.slice(0, end)} ${number}${name.slice(end)}` : `${name} ${number}`;
}
