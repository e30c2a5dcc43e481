/** The table of the files that nodes share, and how they go from a home to it and back. */
import type { OwnedTables } from "../../kernel/kit.ts";
import { pullFiles, pushFiles } from "./engine-transfer.ts";
import { FILE_TABLES } from "./rows.ts";

export const TABLES: readonly OwnedTables[] = [
  {
    owner: "home files",
    migrations: FILE_TABLES,
    files: { tables: ["home_files"], push: pushFiles, pull: pullFiles },
  },
];
