/** Which jobs may go when they are old. */
import type { AgingRows } from "../../../kernel/kit.ts";

export const OLD_JOBS: AgingRows = {
  kind: "jobs",
  table: "jobs",
  key: "id",
  order: "seq",
  time: "completed_at",
  when: "status = 'completed'",
  bytes: "octet_length(message) + COALESCE(octet_length(response), 0)",
};
