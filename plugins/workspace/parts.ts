/** What the modules of the workspace work with. */
import type { Sql } from "../../kernel/plugin.ts";
import type { UserStorage } from "../store/services.ts";
import type { ChangeStore } from "./change-store.ts";
import type { Contents } from "./contents.ts";
import type { MountedFiles } from "./mounts/files.ts";
import type { Mounts } from "./mounts/mounts.ts";

export interface WorkspaceParts {
  readonly sql: Sql;
  readonly contents: Contents;
  readonly mounts: Mounts;
  readonly mounted: MountedFiles;
  readonly changing: ChangeStore;
  /** Absent if nothing is counted. */
  readonly storage: Pick<UserStorage, "take"> | undefined;
}
