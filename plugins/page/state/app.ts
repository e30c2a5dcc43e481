/** The page's state. Components render it and change it only with the functions of this folder. */
import { EMPTY, type Timeline } from "./timeline.ts";
import {
  ask,
  countChanges,
  type ModelName,
  type ModelOption,
  Refused,
  type Status,
  type ThreadRow,
  type User,
} from "./wire.ts";

/** A link's token, and the question to confirm before it is used. */
export interface SignInQuestion {
  readonly token: string;
  /** The question: it names who is signed in and whom the link is for. */
  readonly words: string;
  readonly isSignedIn: boolean;
}

export interface AppState extends Timeline {
  readonly user?: User;
  readonly signedOut: boolean;
  readonly signInQuestion?: SignInQuestion;
  /** When the sign-in ends, if that is soon. */
  readonly signInEnds?: string;
  /** True if the operator has dismissed the warning that the disk is filling up. */
  readonly isStoreSeen: boolean;
  /** Undefined until the first connection is open. */
  readonly connected?: boolean;
  readonly status?: Status;
  readonly threads: readonly ThreadRow[];
  /** The start of the next page of threads; undefined if all are loaded. */
  readonly nextThreads?: string;
  readonly query: string;
  readonly thread?: string;
  /** How far the open thread is loaded. */
  readonly threadState: "loading" | "ready" | "missing" | "failed";
  /** The models that may be chosen; undefined until they are loaded. */
  readonly models?: readonly ModelOption[];
  /** Models that cannot be chosen: their price is not known, and there is a daily cap. */
  /** The model chosen for the open or new thread; null is the configured model. */
  readonly chosen: ModelName | null;
  /** Why the last request failed, until dismissed. */
  readonly trouble?: string;
  /** Counts messages sent from here, so that the chat scrolls to each. */
  readonly sent: number;
  /** Text that screen readers announce. */
  readonly announcement: string;
  /** On a narrow screen the sidebar is behind a button. */
  readonly isMenuOpen: boolean;
  /** On a wide screen it is beside the page, unless it was hidden. */
  readonly isSideKept: boolean;
}

const BLANK: AppState = {
  signedOut: false,
  isStoreSeen: false,
  threads: [],
  query: "",
  chosen: null,
  threadState: "ready",
  ...EMPTY,
  sent: 0,
  announcement: "",
  isMenuOpen: false,
  isSideKept: true,
};

let state = BLANK;
const listeners = new Set<() => void>();

export const getState = (): AppState => state;

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function update(change: Partial<AppState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** Runs a request. A refusal is shown until it is dismissed or another change succeeds. */
export async function attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  const before = countChanges();
  try {
    const result = await work();
    if (countChanges() > before) update({ trouble: undefined });
    return result;
  } catch (error) {
    showRefusal(error);
    return undefined;
  }
}

/** Shows why something failed; without a session, the sign-in. */
export function showRefusal(error: unknown): void {
  if (error instanceof Refused && error.status === 401) update({ signedOut: true, user: undefined });
  else update({ trouble: error instanceof Error ? error.message : String(error) });
}

/** Sends a request. Returns undefined if it was refused, which is shown. */
export const request = <Answer>(method: string, path: string, body?: unknown): Promise<Answer | undefined> =>
  attempt(() => ask<Answer>(method, path, body));

/** For what may not be there: nothing is said about it. */
export const findQuietly = <Answer>(path: string): Promise<Answer | undefined> =>
  ask<Answer>("GET", path).catch(() => undefined);

/** Returns a function that sends a request and then calls `done`, also if the request was refused. */
export const changeThen =
  (done: () => unknown) =>
  async <Answer>(method: string, path: string, body?: unknown): Promise<Answer | undefined> => {
    const answer = await request<Answer>(method, path, body);
    await done();
    return answer;
  };

/** Returns to the state before sign-in. */
export function reset(): void {
  state = BLANK;
  update({ signedOut: true });
}
