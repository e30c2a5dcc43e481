import { useSyncExternalStore } from "preact/compat";
import { type AppState, getState, subscribe } from "./app.ts";

export function useApp(): AppState {
  return useSyncExternalStore(subscribe, getState);
}
