import type { ComponentChildren } from "preact";
import { update } from "../state/app.ts";
import { isSideShown, toggleSidebar } from "../state/sidebar.ts";
import { useApp } from "../state/use-app.ts";

/** The bar at the top of every page, with warnings and the last error below it. */
export function Bar({ title, children }: { title: string; children?: ComponentChildren }) {
  const { trouble, connected, signInEnds, status, isStoreSeen, user } = useApp();
  const isOperator = user?.role === "operator";
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
          <span>
            Your sign-in ends {new Date(signInEnds).toLocaleString()}. If your token expires then,{" "}
            {isOperator ? (
              <>
                renew it under <a href="#/people">People</a>.
              </>
            ) : (
              "ask the operator to renew it."
            )}
          </span>
          <button type="button" onClick={() => update({ signInEnds: undefined })}>
            Dismiss
          </button>
        </p>
      )}
      {isOperator && status?.store?.is_filling && !isStoreSeen && (
        <p class="banner" role="status">
          <span>The store: {status.store.detail}.</span>
          <button type="button" onClick={() => update({ isStoreSeen: true })}>
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

interface PageProps {
  readonly title: string;
  /** Shown in the bar. */
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A page that scrolls below the bar. */
export function Page({ title, actions, children }: PageProps) {
  return (
    <>
      <Bar title={title}>{actions}</Bar>
      <div class="page">
        <div>{children}</div>
      </div>
    </>
  );
}
