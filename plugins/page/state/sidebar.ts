/** Shows and hides the sidebar. On a narrow screen it lies over the page until something is chosen. */
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

/** Restores the choice of the last visit. */
export const restoreSidebar = (): void => update({ isSideKept: localStorage.getItem(KEY) !== "hidden" });

export const toggleSidebar = (): void => show(!isSideShown());

export function showSidebar(): void {
  if (!isSideShown()) show(true);
}
