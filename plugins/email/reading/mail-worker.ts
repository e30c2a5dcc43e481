/** The thread that reads mails. */
import { type MailTask, type ReadMail, readFile, readMail } from "./mail.ts";

export type WorkerTask = MailTask | { readonly source: Uint8Array; readonly part: number };

export default (task: WorkerTask): Promise<ReadMail | Uint8Array | undefined> =>
  "part" in task ? readFile(task.source, task.part) : readMail(task);
