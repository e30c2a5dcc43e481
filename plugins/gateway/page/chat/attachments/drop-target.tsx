import { useEffect, useState } from "preact/hooks";

/** The whole chat takes files that are dropped on it, and says so while some are above it. */
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
      // Otherwise the browser opens them in place of the page.
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
