import { useState } from "preact/hooks";
import { diffLines } from "../../../../kernel/kit/text.ts";
import { attempt, request } from "../../state/app.ts";
import { ask, type MemoryFile, type MemoryVersion } from "../../state/wire.ts";
import { list } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Comparison } from "../../widgets/comparison.tsx";
import { Button } from "../../widgets/controls.tsx";

const words = text.versions;

export const at = (path: string) => `/api/memory/file?${new URLSearchParams({ path })}`;

interface HistoryProps {
  readonly path: string;
  readonly newest: number;
  onRestore(version: number, text: string): Promise<void>;
}

/** The versions of a file: who wrote each, how two of them differ, and a button to restore one. */
export function History({ path: file, newest, onRestore }: HistoryProps) {
  const [versions, setVersions] = useState<readonly MemoryVersion[]>([]);
  const open = async () => {
    const path = `/api/memory/file/history?${new URLSearchParams({ path: file })}`;
    const found = await request<{ versions: readonly MemoryVersion[] }>("GET", path);
    if (found) setVersions(found.versions);
  };
  const read = (version: number) => ask<MemoryFile>("GET", `${at(file)}&version=${version}`);
  const compare = (from: number, to: number) =>
    attempt(async () => {
      const [before, after] = await Promise.all([read(from), read(to)]);
      return { lines: await diffLines(before.text, after.text) };
    });
  const restore = async (version: number) => {
    const found = await attempt(() => read(version));
    if (found) await onRestore(version, found.text);
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void open()}>
      <summary>{text.memory.history}</summary>
      {versions.length > 1 && (
        <Comparison versions={versions.map(({ version }) => version)} compare={compare} />
      )}
      <ul class="entries">
        {versions.map(({ version, updated_at, ...written }) => (
          <li key={version}>
            <span>
              {words.versionAt(version, updated_at)}
              <Writer {...written} />
            </span>
            {version === newest ? (
              <span class="tag">{words.now}</span>
            ) : (
              <Button
                label={words.restore}
                class="small"
                aria-label={words.restoreOf(version)}
                onClick={() => restore(version)}
              />
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Writer({ writer, origins }: Pick<MemoryVersion, "writer" | "origins">) {
  const { by, byModelOver } = text.memory;
  const from = origins ? words.from(list(origins.map(({ kind, name }) => `${kind} ${name}`))) : "";
  const isModel = writer?.kind === "model";
  return (
    <span class="soft">
      {isModel && writer.channel ? byModelOver(writer.channel) : by[writer?.kind ?? "unknown"]}
      {from} {isModel && writer.thread_id && <a href={`#/chat/${writer.thread_id}`}>{words.openThread}</a>}
    </span>
  );
}
