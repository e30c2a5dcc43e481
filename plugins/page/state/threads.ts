/** Lists, opens, reads, renames and removes threads. */

import { text } from "../text/text.ts";
import { attempt, getState, request, update } from "./app.ts";
import { EMPTY, withEarlier, withNewest, withPath } from "./timeline.ts";
import {
  ask,
  type ModelName,
  type ModelOption,
  Refused,
  type Status,
  type ThreadPage,
  type ThreadRow,
  type TurnPage,
} from "./wire.ts";

export async function loadStatus(): Promise<void> {
  const status = await request<Status>("GET", "/api/status");
  if (status) update({ status });
}

/** Reads the beginning of the list again and keeps the threads that were loaded beyond it. */
export async function loadThreads(query = getState().query): Promise<void> {
  const isSame = query === getState().query;
  update({ query });
  const page = await readThreads();
  if (!page || getState().query !== query) return;
  const { threads, nextThreads } = getState();
  const read = new Set(page.threads.map(({ id }) => id));
  const last = page.threads.at(-1);
  const beyond =
    isSame && last && page.next !== null
      ? threads.filter((row) => !read.has(row.id) && isBehind(row, last))
      : [];
  update({
    threads: [...page.threads, ...beyond],
    nextThreads: beyond.length > 0 ? nextThreads : (page.next ?? undefined),
  });
}

export async function loadMoreThreads(): Promise<void> {
  const { nextThreads, query } = getState();
  if (nextThreads === undefined) return;
  const page = await readThreads(nextThreads);
  if (!page || getState().query !== query || getState().nextThreads !== nextThreads) return;
  const known = new Set(getState().threads.map(({ id }) => id));
  update({
    threads: [...getState().threads, ...page.threads.filter(({ id }) => !known.has(id))],
    nextThreads: page.next ?? undefined,
  });
}

function readThreads(before?: string): Promise<ThreadPage | undefined> {
  const { query } = getState();
  const search = new URLSearchParams({ limit: "50", ...(query && { q: query }), ...(before && { before }) });
  return request<ThreadPage>("GET", `/api/threads?${search}`);
}

/** The order of the list: pinned threads first, then the newest. */
function isBehind(row: ThreadRow, last: ThreadRow): boolean {
  if (row.pinned !== last.pinned) return last.pinned;
  return row.updated_at < last.updated_at || (row.updated_at === last.updated_at && row.id < last.id);
}

export async function openThread(thread: string | undefined): Promise<void> {
  if (thread !== getState().thread)
    update({ thread, ...EMPTY, chosen: null, threadState: thread === undefined ? "ready" : "loading" });
  if (thread !== undefined) await reloadThread();
}

export function startThread(): void {
  void openThread(undefined);
  location.hash = "#/";
}

const leafKey = (thread: string) => `postern.leaf.${thread}`;

/** Remembers, for this window, the end of the path that is shown of a thread. */
export function rememberLeaf(thread: string, turn: string): void {
  sessionStorage.setItem(leafKey(thread), turn);
}

export function leafOf(thread: string): string | undefined {
  const shown = getState().thread === thread ? getState().turns.at(-1)?.id : undefined;
  return shown ?? sessionStorage.getItem(leafKey(thread)) ?? undefined;
}

/** Reads the shown path and its continuation again; other branches do not replace it. */
export async function reloadThread(): Promise<void> {
  const { thread } = getState();
  if (thread === undefined) return;
  const page = await readTurns(thread, leafOf(thread));
  if (getState().thread !== thread) return;
  if (page) update({ ...withNewest(getState(), page), chosen: page.thread.model, threadState: "ready" });
  else if (getState().threadState === "loading") update({ threadState: "failed" });
}

/** Shows the path through another version of a turn. */
export async function showVersion(turn: string): Promise<void> {
  const { thread } = getState();
  if (thread === undefined) return;
  const page = await readTurns(thread, turn);
  if (!page || getState().thread !== thread) return;
  update({ ...withPath(getState(), page), announcement: text.state.showingVersion });
}

export async function showEarlier(): Promise<void> {
  const { thread, earlier } = getState();
  if (thread === undefined || earlier === undefined) return;
  const page = await readTurns(thread, leafOf(thread), earlier);
  // The button was pressed twice, or another thread was opened meanwhile.
  if (!page || getState().thread !== thread || getState().earlier !== earlier) return;
  update({
    ...withEarlier(getState(), page),
    announcement: text.state.earlierLoaded(page.turns.length),
  });
}

type ReadThread = TurnPage & { readonly thread: ThreadRow };

function readTurns(thread: string, through = "newest", before?: string): Promise<ReadThread | undefined> {
  const search = new URLSearchParams({ limit: "200", through, ...(before && { before }) });
  return attempt(async () => {
    try {
      return await ask<ReadThread>("GET", `/api/threads/${thread}?${search}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      // One that was there, and was deleted elsewhere, stays to be read.
      if (error.code === "thread_not_found" && getState().threadState !== "ready") {
        update({ threadState: "missing" });
        return undefined;
      }
      // The remembered turn may be missing after the store was restored.
      if (error.code !== "turn_not_found") throw error;
      sessionStorage.removeItem(leafKey(thread));
      return await ask<ReadThread>("GET", `/api/threads/${thread}?through=newest&limit=200`);
    }
  });
}

export async function loadModels(): Promise<void> {
  const found = await request<{ readonly models: readonly ModelOption[] }>("GET", "/api/models");
  if (found) update({ models: found.models });
}

/** Takes effect at once for the open thread, and with the first message of a new one. */
export async function chooseModel(model: ModelName | null): Promise<void> {
  const { thread, chosen: before } = getState();
  update({ chosen: model });
  if (thread === undefined) return;
  const row = await request<ThreadRow>("PATCH", `/api/threads/${thread}`, { model });
  if (getState().thread === thread) update({ chosen: row ? row.model : before });
}

export async function rename(thread: string, title: string): Promise<void> {
  await change(thread, { title });
}

/** The model has named it. */
export function nameThread(thread: string, title: string): void {
  update({ threads: getState().threads.map((row) => (row.id === thread ? { ...row, title } : row)) });
}

export async function pin(thread: string, pinned: boolean): Promise<void> {
  await change(thread, { pinned });
}

async function change(thread: string, change: { title?: string; pinned?: boolean }): Promise<void> {
  const row = await request<ThreadRow>("PATCH", `/api/threads/${thread}`, change);
  if (!row) return;
  const threads = getState().threads.map((known) => (known.id === thread ? row : known));
  update({ threads: threads.toSorted((one, other) => (isBehind(one, other) ? 1 : -1)) });
  await loadThreads();
}

/** Moves a thread to the bin. Returns false if that was refused, which is shown. */
export async function remove(thread: string): Promise<boolean> {
  if (!(await request("DELETE", `/api/threads/${thread}`))) return false;
  if (getState().thread === thread) location.hash = "#/";
  update({ threads: getState().threads.filter(({ id }) => id !== thread) });
  void loadThreads();
  return true;
}

/** Takes a thread out of the bin. Returns false if that was refused, which is shown. */
export async function restore(thread: string): Promise<boolean> {
  const row = await request<ThreadRow>("POST", `/api/bin/${thread}/restore`);
  if (row) await loadThreads();
  return row !== undefined;
}
