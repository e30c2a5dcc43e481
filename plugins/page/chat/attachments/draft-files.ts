/** Files of unsent messages, by draft: each is uploaded at once and kept like the draft's text. */

import { useEffect, useState } from "preact/hooks";
import { nameIn } from "../../state/files.ts";
import { type Attachment, ask, type Routes, startUpload, type Upload } from "../../state/wire.ts";
import { text } from "../../text/text.ts";

export interface DraftFile {
  readonly key: string;
  readonly name: string;
  readonly size: number;
  /** The share that is uploaded, from 0 to 1. */
  readonly progress: number;
  /** Present when the upload is complete. */
  readonly upload?: Upload;
  /** Why it could not be uploaded. */
  readonly problem?: string;
}

export interface DraftFiles {
  readonly files: readonly DraftFile[];
  /** A sentence about files that were not accepted at all. */
  readonly problem?: string;
}

const NONE: DraftFiles = { files: [] };
const drafts = new Map<string, DraftFiles>();
const underWay = new Map<string, { cancel(): void; readonly ended: Promise<void> }>();
const listeners = new Set<() => void>();
let last = 0;

const draftOf = (thread: string | undefined): string => thread ?? "new";
const storageKey = (draft: string) => `postern.files.${draft}`;

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
  const over = Math.max(0, given.length - room);
  const problem = text.chat.attachments.tooMany(limits.files, over, given.length);
  say(thread, over > 0 ? problem : undefined);
  for (const file of given.slice(0, room)) add(thread, file, limits);
}

export function say(thread: string | undefined, problem: string | undefined): void {
  const { files } = filesOf(thread);
  set(draftOf(thread), { files, problem });
}

function add(thread: string | undefined, file: File, { file_bytes: most }: Limits): void {
  last += 1;
  const draft = draftOf(thread);
  const key = `${Date.now()}-${last}`;
  const { name, size } = file;
  const before = filesOf(thread);
  const problem =
    size > most
      ? text.chat.attachments.tooLarge(sizeWords(size), sizeWords(most))
      : size === 0
        ? text.chat.attachments.emptyOrFolder
        : undefined;
  set(draft, { ...before, files: [...before.files, { key, name, size, progress: 0, problem }] });
  if (problem !== undefined) return;
  const form = new FormData();
  form.set("file", file);
  const upload = startUpload<Upload>("POST", "/api/attachments", form, (progress) =>
    change(key, { progress }),
  );
  const ended = upload.done
    .then(
      (answer) => change(key, { progress: 1, upload: answer, name: answer.name }),
      (error: Error) => change(key, { problem: error.message }),
    )
    .then(() => void underWay.delete(key));
  underWay.set(key, { cancel: upload.cancel, ended });
}

/** Attaches a file of the workspace. One that no message can carry is only named by the message. */
export async function attachFile(thread: string | undefined, path: string): Promise<void> {
  last += 1;
  const key = `${Date.now()}-${last}`;
  const draft = draftOf(thread);
  const before = filesOf(thread);
  const name = nameIn(path);
  set(draft, { ...before, files: [...before.files, { key, name, size: 0, progress: 1 }] });
  const attached = ask<Upload>("POST", "/api/workspace/attach", { path }).then(
    (upload) => change(key, { upload, name: upload.name, size: upload.size }),
    (error: Error) => {
      set(draft, { files: filesOf(thread).files.filter((file) => file.key !== key) });
      say(thread, text.chat.attachments.onlyNamed(name, error.message));
    },
  );
  underWay.set(key, { cancel() {}, ended: attached.then(() => void underWay.delete(key)) });
  await attached;
}

/** Changes a file in the draft that it is in by now. */
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
  set(draftOf(thread), { files: filesOf(thread).files.filter((file) => file.key !== key) });
  // If this fails, the service deletes the upload after a day.
  if (upload) void fetch(`/api/attachments/${upload.id}`, { method: "DELETE" }).catch(() => {});
}

/** Takes the files out of the draft when all are uploaded. Returns undefined, and leaves all, if one could not be attached. */
export async function takeFiles(thread: string | undefined): Promise<readonly DraftFile[] | undefined> {
  const keys = filesOf(thread).files.map(({ key }) => key);
  await Promise.all(keys.map((key) => underWay.get(key)?.ended));
  const { files } = filesOf(thread);
  const wanted = files.filter(({ key }) => keys.includes(key));
  const failed = wanted.find(({ problem }) => problem !== undefined);
  if (failed !== undefined) {
    say(thread, text.chat.attachments.notAttached(failed.name));
    return undefined;
  }
  set(draftOf(thread), { files: files.filter(({ key }) => !keys.includes(key)) });
  return wanted;
}

/** Puts the files back after the message was refused. */
export function putBack(thread: string | undefined, files: readonly DraftFile[]): void {
  set(draftOf(thread), { files: [...files, ...filesOf(thread).files] });
}

/** Moves files that were attached after the first message to the thread that the message started. */
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

/** Reads the uploads of before a reload of the page. */
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
  useEffect(() => {
    const listener = () => renew({});
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
  return filesOf(thread);
}

type Limits = Routes["GET /api/attachments"]["answer"];

let limits: Promise<Limits> | undefined;

function readLimits(): Promise<Limits> {
  limits ??= ask<Limits>("GET", "/api/attachments").catch((error: unknown) => {
    limits = undefined;
    throw error;
  });
  return limits;
}
