import type { ComponentChildren } from "preact";
import { update } from "../app.ts";
import { useApp } from "../use-app.ts";

/** The line at the top of every page, and below it whatever went wrong last. */
export function Bar({ title, children }: { title: string; children?: ComponentChildren }) {
  const { trouble, connected, isMenuOpen } = useApp();
  return (
    <>
      <header class="bar">
        <button
          type="button"
          class="menu"
          aria-expanded={isMenuOpen}
          onClick={() => update({ isMenuOpen: !isMenuOpen })}
        >
          Menu
        </button>
        <h1>{title}</h1>
        {children}
      </header>
      {!connected && (
        <p class="banner" role="status">
          Connection lost, reconnecting. Your draft is saved.
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
