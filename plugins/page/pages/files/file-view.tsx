import FileX from "lucide/dist/esm/icons/file-x.mjs";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { contentUrl, filesLink, folderOf, nameIn } from "../../state/files.ts";
import type { FileEntry } from "../../state/wire.ts";
import { bytes as sizeOf } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Card } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { move, remove } from "./changes.tsx";
import { Preview } from "./preview.tsx";
import { originWords, Versions } from "./versions.tsx";

const words = text.files;

/** A file: what is in it, what can be done with it, and its earlier versions. */
export function FileView({ entry, onChanged }: { readonly entry: FileEntry; onChanged(): unknown }) {
  const { path, bytes, version, updated_at, origins, is_read_only } = entry;
  const name = visibleLine(nameIn(path));
  const onMove = async () => {
    const moved = await move(entry);
    if (moved) location.hash = filesLink(moved.path);
  };
  const onRemove = async () => {
    if (await remove(entry, onChanged)) onChanged();
  };
  return (
    <>
      <Card
        label={name}
        title={name}
        tags={
          <>
            <span class="tag">{words.version(version)}</span>
            {is_read_only && <span class="tag">{words.readOnly}</span>}
          </>
        }
        note={words.changedAt(sizeOf(bytes), updated_at) + originWords(origins)}
      >
        <span class="row">
          <a class="button" href={contentUrl(path)} download={nameIn(path)}>
            {text.basics.download}
          </a>
          {!is_read_only && (
            <>
              <Button label={words.move} onClick={onMove} />
              <Button label={text.basics.remove} class="danger" onClick={onRemove} />
            </>
          )}
        </span>
      </Card>
      <Preview entry={entry} />
      <Versions path={path} newest={version} isReadOnly={is_read_only ?? false} onRestored={onChanged} />
    </>
  );
}

/** A path where there is nothing; if a file was there, its versions are. */
export function RemovedView({ path, onRestored }: { path: string; onRestored(): unknown }) {
  return (
    <>
      <EmptyState
        title={words.noFile(visibleLine(path))}
        icon={FileX}
        action={
          <a class="button" href={filesLink(folderOf(path) ?? "/")}>
            {words.openFolder}
          </a>
        }
      />
      <Versions path={path} newest={0} isReadOnly={false} isOpen onRestored={onRestored} />
    </>
  );
}
