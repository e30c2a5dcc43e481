/** The thread for work that grows with a user's text, which everybody's requests would wait for otherwise. */
import { diffLines } from "./differences.ts";
import { indexedWords } from "./words.ts";

export type TextTask =
  | { readonly before: string; readonly after: string }
  /** For the index of words. */
  | { readonly text: string };

export default (task: TextTask): Promise<readonly string[]> | string =>
  "text" in task ? indexedWords(task.text) : diffLines(task.before, task.after);
