import { structuredPatch } from "diff";
import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type MemoryFile, type MemoryVersion } from "../../state/wire.ts";
import { Differences } from "../../widgets/differences.tsx";

export const at = (path: string) => `/api/memory/file?${new URLSearchParams({ path })}`;

interface HistoryProps {
  readonly path: string;
  readonly newest: number;
  onRestore(version: number, text: string): Promise<void>;
}

interface Comparison {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Comparing texts with more changed lines than this would take seconds. */
const MAX_DIFF_EDITS = 600;

/** Both texts end with a line feed. Those that differ too much are shown one after the other. */
function diffLines(before: string, after: string): readonly string[] {
  const options = { context: 2, maxEditLength: MAX_DIFF_EDITS };
  const patch = structuredPatch("", "", before, after, "", "", options);
  if (patch) return patch.hunks.flatMap(({ lines }) => lines.map((line) => `${line[0]} ${line.slice(1)}`));
  const all = (sign: string, text: string) => text.split("\n").map((line) => `${sign} ${line}`);
  return [...all("-", before.slice(0, -1)), ...all("+", after.slice(0, -1))];
}

/** The versions of a file: who wrote each, how it differs from the one before, and a button to restore it. */
export function History({ path, newest, onRestore }: HistoryProps) {
  const [versions, setVersions] = useState<readonly MemoryVersion[]>([]);
  const [shown, setShown] = useState<Comparison>();
  const open = async () => {
    const query = new URLSearchParams({ path });
    const found = await attempt(() =>
      ask<{ versions: readonly MemoryVersion[] }>("GET", `/api/memory/file/history?${query}`),
    );
    if (found) setVersions(found.versions);
  };
  const read = (version: number) => ask<MemoryFile>("GET", `${at(path)}&version=${version}`);
  const compare = async (from: number, to: number) => {
    const texts = await attempt(() => Promise.all([read(from), read(to)]));
    if (!texts) return;
    const [before = "", after = ""] = texts.map(({ text }) => `${text}\n`);
    setShown({ from, to, lines: diffLines(before, after) });
  };
  const restore = async (version: number) => {
    const found = await attempt(() => read(version));
    if (found) await onRestore(version, found.text);
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && void open()}>
      <summary>History</summary>
      {versions.length > 1 && <CompareForm versions={versions} onCompare={compare} />}
      {shown && (
        <section aria-label={`From version ${shown.from} to version ${shown.to}`}>
          <p class="soft" role="status">
            {shown.lines.length === 0
              ? `Version ${shown.from} and version ${shown.to} have the same text.`
              : `From version ${shown.from} to version ${shown.to}: lines with − were removed, lines with + are new.`}
          </p>
          {shown.lines.length > 0 && <Differences lines={shown.lines} />}
        </section>
      )}
      <ul class="entries">
        {versions.map(({ version, updated_at, ...written }) => (
          <li key={version}>
            <span>
              Version {version}, {new Date(updated_at).toLocaleString()}
              <Writer {...written} />
            </span>
            {version === newest ? (
              <span class="tag">now</span>
            ) : (
              <button
                type="button"
                aria-label={`Restore version ${version}`}
                onClick={() => void restore(version)}
              >
                Restore
              </button>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

const BY = {
  page: "written on the page",
  api: "written with a token",
  cli: "written on the command line",
} as const;

function Writer({ writer, origins }: Pick<MemoryVersion, "writer" | "origins">) {
  const from = origins ? `, from ${origins.map(({ kind, name }) => `${kind} ${name}`).join(", ")}` : "";
  if (writer?.kind === "model")
    return (
      <span class="soft">
        written by the model{writer.channel ? ` in a turn over ${writer.channel}` : ""}
        {from} {writer.thread_id && <a href={`#/chat/${writer.thread_id}`}>Open the thread</a>}
      </span>
    );
  return (
    <span class="soft">
      {writer ? BY[writer.kind] : "written by: unknown"}
      {from}
    </span>
  );
}

interface CompareProps {
  readonly versions: readonly MemoryVersion[];
  onCompare(from: number, to: number): Promise<void>;
}

function CompareForm({ versions, onCompare }: CompareProps) {
  const submit = (event: Event) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget as HTMLFormElement);
    void onCompare(Number(given.get("from")), Number(given.get("to")));
  };
  const choice = (name: string, label: string, chosen: number | undefined) => (
    <label>
      {label}{" "}
      <select name={name} defaultValue={String(chosen)}>
        {versions.map(({ version }) => (
          <option key={version} value={version} selected={version === chosen}>
            version {version}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="row" onSubmit={submit}>
      {choice("from", "Compare", versions[1]?.version)}
      {choice("to", "with", versions[0]?.version)}
      <button type="submit">Show differences</button>
    </form>
  );
}
