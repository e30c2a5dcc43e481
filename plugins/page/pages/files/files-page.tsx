import { useEffect, useState } from "preact/hooks";
import { showRefusal } from "../../state/app.ts";
import { folderOf, pathInLink } from "../../state/files.ts";
import { ask, type FileEntry, Refused } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { FileView, RemovedView } from "./file-view.tsx";
import { FolderView } from "./folder-view.tsx";

/** What the address names: a folder, a file, or something that is not there (any more). */
type Shown = FileEntry | "nothing";

/** The user's files, folder by folder. */
export function FilesPage({ shown }: { shown: string | undefined }) {
  const path = pathInLink(shown);
  const [found, setFound] = useState<{ readonly path: string; readonly entry: Shown }>();
  const [problem, setProblem] = useState<string>();
  const load = async () => {
    setProblem(undefined);
    try {
      setFound({ path, entry: await look(path) });
    } catch (error) {
      if (!(error instanceof Refused) || error.status === 401) showRefusal(error);
      else if (error.status === 404) setFound({ path, entry: "nothing" });
      else setProblem(error.message);
    }
  };
  useEffect(() => void load(), [path]);
  const entry = found?.path === path ? found.entry : undefined;
  if (entry !== undefined && entry !== "nothing" && entry.kind === "folder")
    return <FolderView key={path} folder={path} />;
  return (
    <Page title={text.pages.files}>
      <Breadcrumbs path={path} />
      {entry === undefined && <Loaded of={{ answer: undefined, problem, load }}>{() => null}</Loaded>}
      {entry === "nothing" && <RemovedView key={path} path={path} onRestored={load} />}
      {entry !== undefined && entry !== "nothing" && (
        <FileView key={`${path} ${entry.version}`} entry={entry} onChanged={load} />
      )}
    </Page>
  );
}

/** The top of a workspace is always there. */
async function look(path: string): Promise<FileEntry> {
  if (folderOf(path) !== undefined)
    return await ask<FileEntry>("GET", `/api/workspace/entry?${new URLSearchParams({ path })}`);
  return { path, kind: "folder", bytes: 0, mime: "", version: 0, updated_at: "" };
}
