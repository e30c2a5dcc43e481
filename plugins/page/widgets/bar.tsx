import PanelLeft from "lucide/dist/esm/icons/panel-left.mjs";
import SquarePen from "lucide/dist/esm/icons/square-pen.mjs";
import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import { update } from "../state/app.ts";
import { isSideShown, toggleSidebar } from "../state/sidebar.ts";
import { startThread } from "../state/threads.ts";
import { useApp } from "../state/use-app.ts";
import { dateTime } from "../text/language.ts";
import { text } from "../text/text.ts";
import { Button } from "./controls.tsx";

/** The page that leads to this one, if there is one. */
export const Parent = createContext<{ readonly name: string; readonly title: string } | undefined>(undefined);

/** The header of every page, all of one height. Warnings and the last error lie over the page below it, so that nothing moves. */
export function PageHeader({ title, children }: { title: string; children?: ComponentChildren }) {
  const { trouble, connected, signInEnds, status, isStoreSeen, user } = useApp();
  const parent = useContext(Parent);
  const isOperator = user?.role === "operator";
  return (
    <>
      <header class="bar">
        <Button
          label={text.widgets.menu}
          icon={PanelLeft}
          isIconOnly
          class="menu plain"
          aria-expanded={isSideShown()}
          onClick={toggleSidebar}
        />
        {parent && (
          <a class="parent" href={`#/${parent.name}`}>
            {parent.title}
          </a>
        )}
        <h1 dir="auto">{title}</h1>
        {children}
        {/* Where the sidebar, which has the button for it, is hidden. */}
        <Button
          label={text.frame.newChat}
          icon={SquarePen}
          isIconOnly
          class="new plain"
          onClick={startThread}
        />
      </header>
      <div class="notices">
        {connected === false && (
          <p class="banner" role="status">
            {text.widgets.connectionLost}
          </p>
        )}
        {signInEnds && (
          <p class="banner" role="status">
            <span>
              {text.widgets.signInEnds(dateTime(signInEnds))}{" "}
              {isOperator
                ? text.widgets.renewUnder(
                    <a key="people" href="#/people">
                      {text.pages.people}
                    </a>,
                  )
                : text.widgets.askToRenew}
            </span>
            <Button label={text.basics.dismiss} onClick={() => update({ signInEnds: undefined })} />
          </p>
        )}
        {isOperator && status?.store?.is_filling && !isStoreSeen && (
          <p class="banner" role="status">
            <span>{text.widgets.store(status.store.detail)}</span>
            <Button label={text.basics.dismiss} onClick={() => update({ isStoreSeen: true })} />
          </p>
        )}
        {trouble && (
          <div class="trouble" role="alert">
            <span>{trouble}</span>
            <Button label={text.basics.dismiss} onClick={() => update({ trouble: undefined })} />
          </div>
        )}
      </div>
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
      <PageHeader title={title}>{actions}</PageHeader>
      <div class="page">
        <div>{children}</div>
      </div>
    </>
  );
}
