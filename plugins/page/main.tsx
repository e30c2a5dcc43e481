/** The page's entry: the frame around the chat and the other pages. */

import MapPinOff from "lucide/dist/esm/icons/map-pin-off.mjs";
import Plug from "lucide/dist/esm/icons/plug.mjs";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Chat } from "./chat/chat.tsx";
import { ADMIN, isOfAdmin } from "./frame/admin.tsx";
import { followKeys } from "./frame/commands/commands.tsx";
import { openSession } from "./frame/session.ts";
import { Sidebar } from "./frame/sidebar/sidebar.tsx";
import { ConfirmSignIn, SignIn } from "./frame/sign-in.tsx";
import { PAGES, type Page, type PageEntry } from "./pages/pages.tsx";
import { update } from "./state/app.ts";
import { restoreSidebar } from "./state/sidebar.ts";
import { keepConnected } from "./state/socket.ts";
import { openThread } from "./state/threads.ts";
import { useApp } from "./state/use-app.ts";
import { text } from "./text/text.ts";
import { Page as PageFrame, Parent } from "./widgets/bar.tsx";
import { EmptyState, ErrorState, LoadingState } from "./widgets/states.tsx";
import { applyTheme } from "./widgets/theme.tsx";
import { Toasts } from "./widgets/toast.tsx";

/** The name of the page, and what follows it. */
const readRoute = () => {
  const [name = "", ...rest] = location.hash.replace(/^#\//, "").split("/");
  return [name, rest.join("/")] as const;
};

/** Reached by links, and not listed. */
const CONNECT: PageEntry = {
  name: "connect",
  title: text.start.connect.title,
  icon: Plug,
  group: "admin",
  load: async () => (await import("./chat/connect/connect-model.tsx")).ConnectPage,
};

function App() {
  const { user, signedOut, signInQuestion, announcement, isMenuOpen, isSideKept } = useApp();
  const [route, setRoute] = useState(readRoute);
  const [name, shown] = route;
  const isOperator = user?.role === "operator";
  const entry = [...PAGES, ADMIN, CONNECT].find((page) => page.name === name);

  useEffect(() => {
    const onHash = () => {
      setRoute(readRoute());
      update({ isMenuOpen: false, trouble: undefined });
    };
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => (user ? keepConnected() : undefined), [user?.id]);
  useEffect(() => (user ? followKeys() : undefined), [user?.id]);
  useEffect(restoreSidebar, [user?.id]);
  useEffect(() => {
    if (user && (name === "" || name === "chat")) void openThread(shown || undefined);
  }, [user?.id, name, shown]);

  if (signInQuestion) return <ConfirmSignIn question={signInQuestion} />;
  if (signedOut) return <SignIn />;
  if (!user) return <p class="unseen">{text.basics.loading}</p>;
  return (
    <div class={`frame ${isMenuOpen ? "menu-open" : ""} ${isSideKept ? "" : "side-hidden"}`}>
      <Sidebar page={name || "chat"} />
      <main class="main">
        {entry ? (
          <Parent.Provider value={isOperator && name !== ADMIN.name && isOfAdmin(name) ? ADMIN : undefined}>
            <LazyPage entry={entry} shown={shown || undefined} />
          </Parent.Provider>
        ) : name === "" || name === "chat" ? (
          <Chat />
        ) : (
          <NotFound address={location.hash} />
        )}
        <Toasts />
      </main>
      <p class="unseen" aria-live="polite">
        {announcement}
      </p>
    </div>
  );
}

function NotFound({ address }: { address: string }) {
  return (
    <PageFrame title={text.frame.notFound}>
      <EmptyState
        title={text.frame.notFound}
        icon={MapPinOff}
        action={
          <a class="button" href="#/">
            {text.frame.toChat}
          </a>
        }
      >
        {text.frame.notFoundWords(address)}
      </EmptyState>
    </PageFrame>
  );
}

const loaded = new Map<string, Page>();

/** A page whose code is loaded when it is first opened. */
function LazyPage({ entry, shown }: { entry: PageEntry; shown: string | undefined }) {
  const [failed, setFailed] = useState(false);
  const [, setLoaded] = useState("");
  useEffect(() => {
    setFailed(false);
    entry.load().then(
      (page) => {
        loaded.set(entry.name, page);
        setLoaded(entry.name);
      },
      () => setFailed(true),
    );
  }, [entry.name]);
  const Shown = loaded.get(entry.name);
  if (Shown) return <Shown shown={shown} />;
  return (
    <PageFrame title={entry.title}>
      {failed ? (
        // Browsers remember a module that failed to load until the document is reloaded.
        <ErrorState
          title={text.frame.pageNotLoaded}
          retry={text.basics.reload}
          onRetry={() => location.reload()}
        >
          {text.frame.pageNotLoadedWords}
        </ErrorState>
      ) : (
        <LoadingState />
      )}
    </PageFrame>
  );
}

applyTheme();
render(<App />, document.getElementById("app") as HTMLElement);
void openSession();
