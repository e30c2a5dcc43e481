/** Whether the sidebar is there. On a narrow screen it lies above the page, for a moment. */
import { getState, update } from "./app.ts";

const KEY = "postern.sidebar";

const isNarrow = () => matchMedia("(max-width: 46rem)").matches;

export const isSideShown = (): boolean => (isNarrow() ? getState().isMenuOpen : getState().isSideKept);

function show(isShown: boolean): void {
  if (isNarrow()) {
    update({ isMenuOpen: isShown });
  } else {
    localStorage.setItem(KEY, isShown ? "shown" : "hidden");
    update({ isSideKept: isShown });
  }
}

/** As it was left the last time. */
export const restoreSidebar = (): void => update({ isSideKept: localStorage.getItem(KEY) !== "hidden" });

export const toggleSidebar = (): void => show(!isSideShown());

export function showSidebar(): void {
  if (!isSideShown()) show(true);
}
