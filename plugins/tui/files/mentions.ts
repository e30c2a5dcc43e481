/**
 * Files that a draft mentions: `@notes.md`, `@"my notes.md"`, or a path that was dropped on the terminal. A file of this machine
 * comes first; where there is none, a file of the workspace is meant.
 */
import { fileURLToPath } from "node:url";
import { completePath, isFile, pathOf } from "./paths.ts";

const MENTION = /(?<=^|\s)@(?:"([^"\n]{1,1000})"|(\S{1,1000}))/g;
const ENDS_SENTENCE = /[.,;:!?)]$/;
const MAX_DRAFT_LENGTH = 100_000;
const MAX_OTHERS = 20;

export interface Mentions {
  /** The paths of mentioned files of this machine. */
  readonly local: readonly string[];
  /** What may be files of the workspace: each with the ways it may be meant. Any other `@` is text. */
  readonly others: readonly (readonly string[])[];
}

export function mentionsIn(text: string): Mentions {
  const local = new Set<string>();
  const others = new Map<string, readonly string[]>();
  const found = text.length > MAX_DRAFT_LENGTH ? [] : text.matchAll(MENTION);
  for (const [all, quoted, bare = ""] of found) {
    const written = quoted === undefined ? [bare, bare.replace(ENDS_SENTENCE, "")] : [quoted];
    const candidates = written.filter((each) => each !== "");
    const path = candidates.map(pathOf).find(isFile);
    if (path !== undefined) local.add(path);
    else if (others.size < MAX_OTHERS) others.set(all, candidates);
  }
  return { local: [...local], others: [...others.values()] };
}

/**
 * Completes the path before the cursor; undefined if there is none to complete. Only where this machine has no such file is the
 * workspace asked, which takes a moment.
 */
export function completeMention(
  beforeCursor: string,
  readKept: () => Promise<readonly string[]>,
): string | undefined | Promise<string | undefined> {
  const at = beforeCursor.lastIndexOf("@");
  if (at === -1 || (at > 0 && !/\s/.test(beforeCursor.charAt(at - 1)))) return undefined;
  const typed = beforeCursor.slice(at + 1).replace(/^"/, "");
  if (/\s/.test(typed) && beforeCursor.charAt(at + 1) !== '"') return undefined;
  const complete = ([first]: readonly string[]) =>
    first === undefined || first === typed
      ? undefined
      : `${beforeCursor.slice(0, at)}${/\s/.test(first) ? `@"${first}` : `@${first}`}`;
  const local = completePath(typed);
  return local.length > 0 ? complete(local) : readKept().then((kept) => complete(completeKept(typed, kept)));
}

/** Returns the paths of the workspace that begin like this, one folder at a time, then those whose names do. */
export function completeKept(typed: string, kept: readonly string[]): readonly string[] {
  const start = /^\/|:\//.test(typed) ? typed : `/${typed}`;
  const isNext = (path: string) => {
    const rest = path.slice(start.length);
    return path.startsWith(start) && !rest.replace(/\/$/, "").includes("/");
  };
  const next = kept.filter(isNext);
  const isNamed = (path: string) =>
    path.slice(path.replace(/\/$/, "").lastIndexOf("/") + 1).startsWith(typed);
  return [...next, ...(typed === "" ? [] : kept.filter((path) => !isNext(path) && isNamed(path)))];
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
