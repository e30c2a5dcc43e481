import { useEffect, useState } from "preact/hooks";
import { type DraftFiles, filesOf, subscribeFiles } from "./draft-files.ts";

export function useDraftFiles(thread: string | undefined): DraftFiles {
  const [, renew] = useState({});
  useEffect(() => subscribeFiles(() => renew({})), []);
  return filesOf(thread);
}
