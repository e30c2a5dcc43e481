/** Uploads files to a folder of the workspace, a few at a time. */
import { joinPath } from "../../state/files.ts";
import { type FileEntry, startUpload } from "../../state/wire.ts";
import { text } from "../../text/text.ts";

export interface Sending {
  readonly name: string;
  /** From 0 to 1. */
  readonly progress: number;
  readonly state: "sending" | "sent" | "failed";
  readonly problem?: string;
  cancel(): void;
}

const AT_ONCE = 2;

/** Resolves to the uploads when each has ended, well or not; `show` gets how far they are. */
export async function sendFiles(
  folder: string,
  files: readonly File[],
  show: (sending: readonly Sending[]) => void,
): Promise<readonly Sending[]> {
  const cancelled = new Set<string>();
  let all: readonly Sending[] = files.map(({ name }) => ({
    ...{ name, progress: 0, state: "sending" },
    cancel: () => void cancelled.add(name),
  }));
  const change = (at: number, changed: Partial<Sending>) => {
    all = all.map((one, index) => (index === at ? { ...one, ...changed } : one));
    show(all);
  };
  show(all);
  const waiting = [...files.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, file] = next;
      if (cancelled.has(file.name)) {
        change(at, { state: "failed", problem: text.state.cancelled });
        continue;
      }
      const path = `/api/workspace/file?${new URLSearchParams({ path: joinPath(folder, file.name) })}`;
      const { done, cancel } = startUpload<FileEntry>("PUT", path, file, (progress) =>
        change(at, { progress }),
      );
      change(at, { cancel });
      await done.then(
        () => change(at, { state: "sent", progress: 1 }),
        (error: Error) => change(at, { state: "failed", problem: error.message }),
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return all;
}
