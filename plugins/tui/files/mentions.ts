/** Files that a draft mentions: `@notes.md`, `@"my notes.md"`, or a path that was dropped on the terminal. */
import { fileURLToPath } from "node:url";
import { completePath, isFile, pathOf } from "./paths.ts";

const MENTION = /(?<=^|\s)@(?:"([^"\n]{1,1000})"|(\S{1,1000}))/g;
const ENDS_SENTENCE = /[.,;:!?)]$/;
const MAX_DRAFT_LENGTH = 100_000;

/** Returns the paths of the mentioned files that exist. Any other `@` is text. */
export function mentionsIn(text: string): readonly string[] {
  if (text.length > MAX_DRAFT_LENGTH) return [];
  const found = new Set<string>();
  for (const [, quoted, bare = ""] of text.matchAll(MENTION)) {
    const candidates = quoted === undefined ? [bare, bare.replace(ENDS_SENTENCE, "")] : [quoted];
    const path = candidates
      .filter((each) => each !== "")
      .map(pathOf)
      .find(isFile);
    if (path !== undefined) found.add(path);
  }
  return [...found];
}

/** Completes the path before the cursor; undefined if there is none to complete. */
export function completeMention(beforeCursor: string): string | undefined {
  const at = beforeCursor.lastIndexOf("@");
  if (at === -1 || (at > 0 && !/\s/.test(beforeCursor.charAt(at - 1)))) return undefined;
  const typed = beforeCursor.slice(at + 1).replace(/^"/, "");
  if (/\s/.test(typed) && beforeCursor.charAt(at + 1) !== '"') return undefined;
  const [first] = completePath(typed);
  if (first === undefined || first === typed) return undefined;
  return `${beforeCursor.slice(0, at)}${/\s/.test(first) ? `@"${first}` : `@${first}`}`;
}

const MAX_DROPPED_FILES = 20;
const MAX_DROPPED_LENGTH = 10_000;
// Terminals paste what is dropped on them quoted, escaped or as URLs.
const DROPPED = /'([^'\n]+)'|"([^"\n]+)"|((?:\\.|[^\s\\'"])+)/g;

/** Turns a paste that is nothing but absolute paths of files into mentions; undefined otherwise. */
export function droppedFiles(pasted: string): string | undefined {
  const text = pasted.trim();
  if (text.length > MAX_DROPPED_LENGTH || !/^(?:['"]?[/~]|file:\/\/)/.test(text)) return undefined;
  const paths = [...text.matchAll(DROPPED)].map(([, single, double, bare = ""]) =>
    decodeFileUrl(single ?? double ?? bare.replaceAll(/\\(.)/g, "$1")),
  );
  if (paths.length > MAX_DROPPED_FILES || !paths.every((path) => /^[/~]/.test(path) && isFile(pathOf(path))))
    return undefined;
  return `${paths.map((path) => (/\s/.test(path) ? `@"${path}"` : `@${path}`)).join(" ")} `;
}

function decodeFileUrl(word: string): string {
  if (!word.startsWith("file://")) return word;
  try {
    return fileURLToPath(word);
  } catch {
    return word;
  }
}
