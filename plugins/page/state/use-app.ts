import { useSyncExternalStore } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { type AppState, getState, request, showRefusal, subscribe } from "./app.ts";
import { ask, Refused } from "./wire.ts";

export function useApp(): AppState {
  return useSyncExternalStore(subscribe, getState);
}

/** Loads at once, and again while the page is visible. Returns what was loaded, its setter, a reload, and it as `Loaded`. */
export function useLive<Answer>(
  load: (before: Answer | undefined, isFirst: boolean) => Promise<Answer>,
  millis: number,
  changes: readonly unknown[],
) {
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState<string>();
  const newest = useRef(answer);
  newest.current = answer;
  /** Nothing can be shown without the first one; later ones are refusals like others. */
  const fail = (error: unknown) => {
    if (newest.current === undefined && !isSignedOut(error)) setProblem(messageOf(error));
    else showRefusal(error);
  };
  const reload = async () => {
    try {
      setAnswer(await load(newest.current, true));
      setProblem(undefined);
    } catch (error) {
      fail(error);
    }
  };
  useEffect(() => {
    let isStopped = false;
    let isLoading = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (isFirst = false): Promise<void> => {
      clearTimeout(timer);
      if (isStopped || isLoading || (document.hidden && !isFirst)) return;
      isLoading = true;
      const found = await load(newest.current, isFirst).catch((error) => {
        if (isFirst && !isStopped) fail(error);
      });
      isLoading = false;
      if (isStopped) return;
      if (found) {
        setAnswer(found);
        setProblem(undefined);
      }
      timer = setTimeout(() => void look(), millis);
    };
    const onVisible = () => void look();
    void look(true);
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      isStopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, changes);
  const shown: Shown<Answer> = { answer, problem, load: reload };
  return [answer, setAnswer, reload, shown] as const;
}

const isSignedOut = (error: unknown) => error instanceof Refused && error.status === 401;

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** What a page shows, until then why it cannot, and a function that loads it (again). */
export interface Shown<Answer> {
  readonly answer: Answer | undefined;
  readonly problem: string | undefined;
  load(): Promise<void>;
}

/** Loads what a page cannot be shown without, from one path or in its own way; `Loaded` draws it. */
export function useShown<Answer>(from: string | (() => Promise<Answer>)): Shown<Answer> {
  const [answer, setAnswer] = useState<Answer>();
  const [problem, setProblem] = useState<string>();
  const load = async () => {
    try {
      setAnswer(await (typeof from === "string" ? ask<Answer>("GET", from) : from()));
      setProblem(undefined);
    } catch (error) {
      if (answer === undefined && !isSignedOut(error)) setProblem(messageOf(error));
      else showRefusal(error);
    }
  };
  useEffect(() => void load(), [typeof from === "string" ? from : ""]);
  return { answer, problem, load };
}

/** A hint that is shown while something is under way: `await during("Installing…", request(…))`. */
export function useHint() {
  const [hint, setHint] = useState("");
  const during = async <Result>(words: string, work: Promise<Result>): Promise<Result> => {
    setHint(words);
    try {
      return await work;
    } finally {
      setHint("");
    }
  };
  return { hint, setHint, during };
}

/** Loads a JSON document. Returns it, undefined until then, and a function that reloads it. */
export function useLoaded<Answer>(
  path: string,
  find: (path: string) => Promise<Answer | undefined> = (from) => request<Answer>("GET", from),
): readonly [Answer | undefined, () => Promise<void>] {
  const [answer, setAnswer] = useState<Answer>();
  const load = async () => {
    const found = await find(path);
    if (found) setAnswer(found);
  };
  useEffect(() => void load(), [path]);
  return [answer, load];
}
