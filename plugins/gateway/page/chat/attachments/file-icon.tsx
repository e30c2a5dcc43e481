/** A sheet with the end of the file's name on it. */
export function FileIcon({ name }: { name: string }) {
  const at = name.lastIndexOf(".");
  const extension = at > 0 ? name.slice(at + 1, at + 6).toUpperCase() : "FILE";
  return (
    <span class="file-icon" aria-hidden="true">
      {extension}
    </span>
  );
}
