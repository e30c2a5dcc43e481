/** The thread that reads mails. */
import { type MailTask, type ReadMail, readFile, readMail } from "./mail.ts";

export type WorkerTask = MailTask | { readonly source: Uint8Array; readonly part: number };

/** No task only shows that the thread has loaded. */
export default async (task: WorkerTask | undefined): Promise<ReadMail | Uint8Array | undefined> => {
  if (task === undefined) return undefined;
  return "part" in task ? readFile(task.source, task.part) : readMail(task);
};
