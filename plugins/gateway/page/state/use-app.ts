import { useSyncExternalStore } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { type AppState, attempt, getState, subscribe } from "./app.ts";
import { ask } from "./wire.ts";

export function useApp(): AppState {
  return useSyncExternalStore(subscribe, getState);
}

/**
 * Loads at once, and again at intervals while the page is visible. Failures of later loads are not shown: the next one may
 * succeed, and the bar says when the service cannot be reached.
 */
export function useLive(
  load: (isFirst: boolean) => Promise<unknown>,
  millis: number,
  changes: readonly unknown[],
): void {
  useEffect(() => {
    let isStopped = false;
    let isLoading = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (isFirst = false): Promise<void> => {
      clearTimeout(timer);
      if (isStopped || isLoading || (document.hidden && !isFirst)) return;
      isLoading = true;
      await load(isFirst).catch(() => {});
      isLoading = false;
      if (!isStopped) timer = setTimeout(() => void look(), millis);
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
}

/** Loads a JSON document when the component is first shown. Returns it, undefined until then, and a function that reloads it. */
export function useLoaded<Answer>(path: string): readonly [Answer | undefined, () => Promise<void>] {
  const [answer, setAnswer] = useState<Answer>();
  const load = async () => {
    const found = await attempt(() => ask<Answer>("GET", path));
    if (found) setAnswer(found);
  };
  useEffect(() => void load(), []);
  return [answer, load];
}
