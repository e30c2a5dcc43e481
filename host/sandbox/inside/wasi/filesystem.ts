/** `wasi:filesystem` for the folders that a tool was granted, each a preopened directory without links, locks or times. */
import type { Preopen } from "../../protocol.ts";
import { FileRefusal } from "../files.ts";
import { Descriptor } from "./descriptor.ts";
import { DirectoryEntryStream, FileStreamError } from "./file-streams.ts";
import type { GrantedFolders } from "./folders.ts";
import type { Holdings, StreamError } from "./io.ts";

const NO_FOLDERS: GrantedFolders = {
  preopens: [],
  files() {
    throw new FileRefusal("access", "there are no files here");
  },
};

export function createFilesystem(
  holdings: Holdings,
  folders: GrantedFolders = NO_FOLDERS,
): Readonly<Record<string, object>> {
  const getDirectories = () => {
    const { account } = holdings;
    // All that is opened below it asks here. The files of the next call are another user's.
    const files = () => {
      if (account.isOver) throw new FileRefusal("access", "the call that it was opened in is over");
      return folders.files();
    };
    const parts = { ...folders, holdings, files };
    return folders.preopens.map(({ path, access }: Preopen): [Descriptor, string] => {
      const flags = { read: true, mutateDirectory: access === "write" };
      return [new Descriptor(parts, path, "directory", flags), path];
    });
  };
  return {
    "wasi:filesystem/preopens": { getDirectories },
    "wasi:filesystem/types": {
      Descriptor,
      DirectoryEntryStream,
      filesystemErrorCode: (error: StreamError) =>
        error instanceof FileStreamError ? error.code : undefined,
    },
  };
}
