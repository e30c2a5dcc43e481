import type { ComponentChildren } from "preact";
import { update } from "../state/app.ts";
import { useApp } from "../state/use-app.ts";
import { isSideShown, toggleSidebar } from "./sidebar/visibility.ts";

/** The line at the top of every page, and below it whatever went wrong last. */
export function Bar({ title, children }: { title: string; children?: ComponentChildren }) {
  const { trouble, connected, signInEnds } = useApp();
  return (
    <>
      <header class="bar">
        <button type="button" class="menu" aria-expanded={isSideShown()} onClick={toggleSidebar}>
          Menu
        </button>
        <h1 dir="auto">{title}</h1>
        {children}
      </header>
      {!connected && (
        <p class="banner" role="status">
          Connection lost, reconnecting. Your draft is saved.
        </p>
      )}
      {signInEnds && (
        <p class="banner" role="status">
          Your sign-in ends {new Date(signInEnds).toLocaleString()}. If your token expires then, ask the
          operator to renew it.{" "}
          <button type="button" onClick={() => update({ signInEnds: undefined })}>
            Dismiss
          </button>
        </p>
      )}
      {trouble && (
        <div class="trouble" role="alert">
          <span>{trouble}</span>
          <span class="row">
            <button type="button" onClick={() => update({ trouble: undefined })}>
              Dismiss
            </button>
          </span>
        </div>
      )}
    </>
  );
}
