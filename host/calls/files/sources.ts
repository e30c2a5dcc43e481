/** What a call reads from, and where what it wrote is kept. */
import { pathMatches } from "../../../capabilities/match.ts";
import type { Origin, Page } from "../../../kernel/plugin.ts";
import type { MountedFiles } from "../../services.ts";

/** A file or a folder, as the service that keeps it describes it. */
export interface KeptFile {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly bytes: number;
  readonly version: number;
  readonly digest?: string | undefined;
  readonly updatedAt: string;
  /** Whose words it was made from; absent if they are the person's or the model's own. */
  readonly origins?: readonly Origin[] | undefined;
}

export type FileEdit =
  | {
      readonly op: "write";
      readonly path: string;
      readonly data: Uint8Array;
      readonly expected?: number | undefined;
      readonly origins?: readonly Origin[] | undefined;
    }
  | { readonly op: "folder" | "remove"; readonly path: string }
  | { readonly op: "move"; readonly path: string; readonly to: string };

/** What a call reads from; `read` is only asked for files that were found. */
export interface FileSource {
  find(user: string, path: string): Promise<KeptFile | undefined>;
  list(
    user: string,
    folder: string,
    query?: { readonly deep?: boolean; readonly after?: string },
  ): Promise<Page<KeptFile>>;
  read(
    user: string,
    path: string,
    part?: { readonly version?: number; readonly offset?: number; readonly length?: number },
  ): Promise<{ readonly entry: KeptFile; readonly data: Uint8Array } | undefined>;
}

/** Where the files of calls are kept: the workspace, if it is on. */
export interface FileStore extends FileSource {
  /** Makes all edits or, with a fault that names the path, none. */
  apply(
    user: string,
    edits: readonly FileEdit[],
    change: {
      readonly writer: {
        readonly kind: "tool";
        readonly channel?: string;
        readonly thread?: string;
        readonly turn?: string;
        readonly tool?: string;
      };
      readonly origins?: readonly Origin[];
    },
  ): Promise<readonly KeptFile[]>;
}

/** Below its folder the mounted files are seen, and nothing of the workspace. */
export function withMounted(source: FileSource, { folder, files }: MountedFiles): FileSource {
  const mounted = filesIn(new Map([...files].map(([path, data]) => [`${folder}/${path}`, data])));
  const at = (path: string) => (pathMatches(folder, path) ? mounted : source);
  return {
    find: (user, path) => at(path).find(user, path),
    list: (user, path, query) => at(path).list(user, path, query),
    read: (user, path, part) => at(path).read(user, path, part),
  };
}

/** For a call that is only tried: it finds these files and no others. */
export function filesIn(files: ReadonlyMap<string, Uint8Array>): FileSource {
  const updatedAt = new Date(0).toISOString();
  const entryOf = (path: string): KeptFile | undefined => {
    const data = files.get(path);
    if (data !== undefined) return { path, kind: "file", bytes: data.byteLength, version: 1, updatedAt };
    const isFolder = [...files.keys()].some((file) => file !== path && pathMatches(path, file));
    return isFolder ? { path, kind: "folder", bytes: 0, version: 0, updatedAt } : undefined;
  };
  return {
    find: async (_user, path) => entryOf(path),
    async list(_user, folder, { deep = false } = {}) {
      const prefix = folder === "/" ? folder : `${folder}/`;
      const paths = [...files.keys()].flatMap((file) => {
        if (!file.startsWith(prefix)) return [];
        const parts = file.slice(prefix.length).split("/");
        return deep
          ? parts.map((_, at) => prefix + parts.slice(0, at + 1).join("/"))
          : [`${prefix}${parts[0]}`];
      });
      return { items: [...new Set(paths)].toSorted().flatMap((path) => entryOf(path) ?? []) };
    },
    async read(_user, path, { offset = 0, length = Number.POSITIVE_INFINITY } = {}) {
      const [entry, data] = [entryOf(path), files.get(path)];
      return entry && data && { entry, data: data.slice(offset, offset + length) };
    },
  };
}
