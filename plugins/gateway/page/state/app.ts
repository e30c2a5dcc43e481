/** The page's state. Components render it, and change it by the functions of this folder, nothing more. */
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

/** A link's token, and what has to be answered before it is used. */
export interface SignInQuestion {
  readonly token: string;
  /** Who is signed in, and who the link is for. */
  readonly words: string;
  readonly isSignedIn: boolean;
}

export interface AppState extends Timeline {
  readonly user: User | undefined;
  readonly signedOut: boolean;
  readonly signInQuestion: SignInQuestion | undefined;
  /** When the sign-in ends, where that is soon. */
  readonly signInEnds: string | undefined;
  /** The operator was told that the disk fills, and wants to go on without reading it. */
  readonly isStoreSeen: boolean;
  readonly connected: boolean;
  readonly status: Status | undefined;
  readonly threads: readonly ThreadRow[];
  /** Where the list goes on; undefined where all of them are there. */
  readonly nextThreads: string | undefined;
  readonly query: string;
  readonly thread: string | undefined;
  /** What may be chosen for a thread; undefined until it is known. */
  readonly models: readonly ModelOption[] | undefined;
  /** What was chosen for the open thread, or for the new one; null is the configured model. */
  readonly chosen: ModelName | null;
  /** Said by the page itself: what went wrong with the last request, until dismissed. */
  readonly trouble: string | undefined;
  /** How often something was sent from here: the reader is taken to it. */
  readonly sent: number;
  /** Read out by screen readers. */
  readonly announcement: string;
  /** On a narrow screen the sidebar is behind a button. */
  readonly isMenuOpen: boolean;
  /** On a wide one it is beside the page, unless it was hidden. */
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

/** Runs a request; what is refused stays on the screen until it is dismissed, or something else is done. */
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

/** As it was before anybody signed in. */
export function reset(): void {
  update({ ...BLANK, signedOut: true });
}
