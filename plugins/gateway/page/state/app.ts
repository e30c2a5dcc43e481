/** The page's state. Components render it and change it only with the functions of this folder. */
import { EMPTY, type Timeline } from "./timeline.ts";
import {
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
  readonly user: User | undefined;
  readonly signedOut: boolean;
  readonly signInQuestion: SignInQuestion | undefined;
  /** When the sign-in ends, if that is soon. */
  readonly signInEnds: string | undefined;
  /** True if the operator has dismissed the warning that the disk is filling up. */
  readonly isStoreSeen: boolean;
  readonly connected: boolean;
  readonly status: Status | undefined;
  readonly threads: readonly ThreadRow[];
  /** The start of the next page of threads; undefined if all are loaded. */
  readonly nextThreads: string | undefined;
  readonly query: string;
  readonly thread: string | undefined;
  /** The models that may be chosen; undefined until they are loaded. */
  readonly models: readonly ModelOption[] | undefined;
  /** The model chosen for the open or new thread; null is the configured model. */
  readonly chosen: ModelName | null;
  /** Why the last request failed, until dismissed. */
  readonly trouble: string | undefined;
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
  user: undefined,
  signedOut: false,
  signInQuestion: undefined,
  signInEnds: undefined,
  isStoreSeen: false,
  connected: false,
  status: undefined,
  threads: [],
  nextThreads: undefined,
  query: "",
  thread: undefined,
  models: undefined,
  chosen: null,
  ...EMPTY,
  trouble: undefined,
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
    if (error instanceof Refused && error.status === 401) update({ signedOut: true, user: undefined });
    else update({ trouble: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** Returns to the state before sign-in. */
export function reset(): void {
  update({ ...BLANK, signedOut: true });
}
