/** Files of messages that are not sent yet, by draft: each is uploaded at once, and kept like the draft's text. */

import { useEffect, useState } from "preact/hooks";
import { type Attachment, ask, Refused, type Upload } from "../../state/wire.ts";

export interface DraftFile {
  /** For the page alone. */
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** From 0 to 1, while it is on its way. */
  readonly progress: number;
  /** When it is there. */
  readonly upload?: Upload;
  /** Why it is not. */
  readonly problem?: string;
}

export interface DraftFiles {
  readonly files: readonly DraftFile[];
  /** What was not taken at all. */
  readonly problem?: string;
}

const NONE: DraftFiles = { files: [] };
const drafts = new Map<string, DraftFiles>();
const underWay = new Map<string, { cancel(): void; readonly ended: Promise<void> }>();
const listeners = new Set<() => void>();
let last = 0;

const draftOf = (thread: string | undefined): string => thread ?? "new";
const storageKey = (draft: string) => `postern.files.${draft}`;

function subscribeFiles(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function filesOf(thread: string | undefined): DraftFiles {
  const draft = draftOf(thread);
  const known = drafts.get(draft) ?? { files: readKept(draft) };
  drafts.set(draft, known);
  return known;
}

export async function addFiles(thread: string | undefined, given: readonly File[]): Promise<void> {
  if (given.length === 0) return;
  let limits: Limits;
  try {
    limits = await readLimits();
  } catch (error) {
    return say(thread, (error as Error).message);
  }
  const room = Math.max(0, limits.files - filesOf(thread).files.length);
  if (given.length > room)
    say(
      thread,
      `A message may have ${limits.files} files, so ${given.length - room} of ${given.length} ${given.length - room === 1 ? "was" : "were"} not attached.`,
    );
  else say(thread, undefined);
  for (const file of given.slice(0, room)) add(thread, file, limits);
}

export function say(thread: string | undefined, problem: string | undefined): void {
  const { files } = filesOf(thread);
  set(draftOf(thread), { files, ...(problem !== undefined && { problem }) });
}

function add(thread: string | undefined, file: File, { file_bytes: most }: Limits): void {
  last += 1;
  const draft = draftOf(thread);
  const key = `${Date.now()}-${last}`;
  const { name, size } = file;
  const before = filesOf(thread);
  const problem =
    size > most
      ? `Too large: ${sizeWords(size)}, and a file may have ${sizeWords(most)}.`
      : size === 0
        ? "Empty, or a folder."
        : undefined;
  set(draft, {
    ...before,
    files: [...before.files, { key, name, size, progress: 0, ...(problem && { problem }) }],
  });
  if (problem !== undefined) return;
  const upload = startUpload(file, (progress) => change(key, { progress }));
  const ended = upload.done
    .then(
      (answer) => change(key, { progress: 1, upload: answer, name: answer.name }),
      (error: Error) => change(key, { problem: error.message }),
    )
    .then(() => void underWay.delete(key));
  underWay.set(key, { cancel: upload.cancel, ended });
}

/** In whatever draft it is by now. */
function change(key: string, changed: Partial<DraftFile>): void {
  for (const [draft, known] of drafts)
    if (known.files.some((file) => file.key === key))
      set(draft, {
        ...known,
        files: known.files.map((file) => (file.key === key ? { ...file, ...changed } : file)),
      });
}

export function removeFile(thread: string | undefined, { key, upload }: DraftFile): void {
  underWay.get(key)?.cancel();
  const draft = draftOf(thread);
  set(draft, { files: filesOf(thread).files.filter((file) => file.key !== key) });
  // Where it fails, the upload goes in a day.
  if (upload) void fetch(`/api/attachments/${upload.id}`, { method: "DELETE" }).catch(() => {});
}

/** Takes them out of the draft when all are uploaded; undefined where one could not be attached, and all stay. */
export async function takeFiles(thread: string | undefined): Promise<readonly DraftFile[] | undefined> {
  const keys = filesOf(thread).files.map(({ key }) => key);
  await Promise.all(keys.map((key) => underWay.get(key)?.ended));
  const { files } = filesOf(thread);
  const wanted = files.filter(({ key }) => keys.includes(key));
  const failed = wanted.find(({ problem }) => problem !== undefined);
  if (failed !== undefined) {
    say(thread, `“${failed.name}” could not be attached. Remove it, then send.`);
    return undefined;
  }
  set(draftOf(thread), { files: files.filter(({ key }) => !keys.includes(key)) });
  return wanted;
}

/** The message was not taken. */
export function putBack(thread: string | undefined, files: readonly DraftFile[]): void {
  const draft = draftOf(thread);
  set(draft, { files: [...files, ...filesOf(thread).files] });
}

/** What was attached after the first message belongs to the thread that it has begun. */
export function moveFiles(thread: string): void {
  const { files } = filesOf(undefined);
  if (files.length === 0) return;
  set(draftOf(undefined), NONE);
  putBack(thread, files);
}

export const attachmentOf = ({ note: _, ...attachment }: Upload): Attachment => attachment;

function set(draft: string, files: DraftFiles): void {
  drafts.set(draft, files);
  const kept = files.files.filter(({ upload }) => upload !== undefined);
  if (kept.length === 0) localStorage.removeItem(storageKey(draft));
  else localStorage.setItem(storageKey(draft), JSON.stringify(kept));
  for (const listener of listeners) listener();
}

/** What was uploaded before the page was loaded again. */
function readKept(draft: string): readonly DraftFile[] {
  try {
    return JSON.parse(localStorage.getItem(storageKey(draft)) ?? "[]") as DraftFile[];
  } catch {
    return [];
  }
}

export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 && bytes % 1_000_000 !== 0 ? 1 : 0)} MB`;
}

export function useDraftFiles(thread: string | undefined): DraftFiles {
  const [, renew] = useState({});
  useEffect(() => subscribeFiles(() => renew({})), []);
  return filesOf(thread);
}

export interface Limits {
  readonly file_bytes: number;
  readonly files: number;
}

let limits: Promise<Limits> | undefined;

function readLimits(): Promise<Limits> {
  limits ??= ask<Limits>("GET", "/api/attachments").catch((error: unknown) => {
    limits = undefined;
    throw error;
  });
  return limits;
}

export interface Uploading {
  readonly done: Promise<Upload>;
  cancel(): void;
}

function startUpload(file: File, onProgress: (share: number) => void): Uploading {
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.set("file", file);
  const done = new Promise<Upload>((resolve, reject) => {
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 0 : loaded / total);
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Upload);
      else reject(new Refused(request.status, wordsOf(request.responseText)));
    };
    request.onerror = () => reject(new Refused(0, "The upload was interrupted. Remove it and try again."));
    request.onabort = () => reject(new Refused(0, "Cancelled."));
  });
  request.open("POST", "/api/attachments");
  request.send(form);
  return { done, cancel: () => request.abort() };
}

function wordsOf(text: string): string {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message;
  } catch {
    return text.slice(0, 300) || "It could not be uploaded.";
  }
}
