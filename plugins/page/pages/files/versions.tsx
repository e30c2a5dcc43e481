import { useEffect, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { request } from "../../state/app.ts";
import { contentUrl } from "../../state/files.ts";
import { ask, type FileDifference, type KeptVersion } from "../../state/wire.ts";
import { list, bytes as sizeOf } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { writerWords } from "../../widgets/change-set.tsx";
import { Comparison } from "../../widgets/comparison.tsx";
import { Button } from "../../widgets/controls.tsx";
import { toast } from "../../widgets/toast.tsx";

const words = text.versions;

interface VersionsProps {
  readonly path: string;
  /** 0 if the file was removed. */
  readonly newest: number;
  readonly isReadOnly: boolean;
  readonly isOpen?: boolean;
  onRestored(): unknown;
}

/** The versions of a file: who made each, how two of them differ, and buttons to download or restore one. */
export function Versions({ path, newest, isReadOnly, isOpen, onRestored }: VersionsProps) {
  const [versions, setVersions] = useState<readonly KeptVersion[]>([]);
  const open = async () => {
    const query = new URLSearchParams({ path });
    // A path that never was has none, which the page says already.
    const found = await ask<{ versions: readonly KeptVersion[] }>(
      "GET",
      `/api/workspace/versions?${query}`,
    ).catch(() => undefined);
    if (found) setVersions(found.versions);
  };
  useEffect(() => {
    if (isOpen) void open();
  }, []);
  const compare = async (from: number, to: number) => {
    const query = new URLSearchParams({ path, from: String(from), to: String(to) });
    const found = await request<FileDifference>("GET", `/api/workspace/diff?${query}`);
    return found && { ...found, lines: found.lines.map((line) => visibleLine(line)) };
  };
  const restore = async (version: number) => {
    if (!(await request("POST", "/api/workspace/restore", { path, version }))) return;
    toast(words.restored(version));
    onRestored();
  };
  const withContent = versions.filter(({ change }) => change !== "removed");
  if (isOpen && versions.length === 0) return null;
  return (
    <details
      class="card"
      open={isOpen}
      onToggle={({ currentTarget }) => currentTarget.open && !isOpen && void open()}
    >
      <summary>{words.title}</summary>
      {withContent.length > 1 && (
        <Comparison versions={withContent.map(({ version }) => version)} compare={compare} />
      )}
      <ul class="entries">
        {versions.map(({ version, change, bytes, updated_at, writer, origins }) => (
          <li key={version}>
            <span>
              {words.versionAt(version, updated_at)}
              <span class="soft">
                {text.files.changes[change]} {writerWords(writer)}
                {change === "removed" ? "" : `, ${sizeOf(bytes)}`}
                {originWords(origins)}{" "}
                {writer.thread_id && <a href={`#/chat/${writer.thread_id}`}>{words.openThread}</a>}
              </span>
            </span>
            {version === newest ? (
              <span class="tag">{words.now}</span>
            ) : (
              change !== "removed" && (
                <span class="row">
                  <a
                    class="button"
                    href={contentUrl(path, version)}
                    aria-label={words.downloadOf(version)}
                    download
                  >
                    {words.download}
                  </a>
                  {!isReadOnly && (
                    <Button
                      label={words.restore}
                      aria-label={words.restoreOf(version)}
                      onClick={() => restore(version)}
                    />
                  )}
                </span>
              )
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

export const originWords = (origins: KeptVersion["origins"]): string =>
  origins ? words.from(list(origins.map(({ kind, name }) => visibleLine(`${kind} ${name}`)))) : "";
