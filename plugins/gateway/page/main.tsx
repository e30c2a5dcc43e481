/** The page's entry: the frame around the chat and the other pages. */
import { type ComponentType, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Chat } from "./chat/chat.tsx";
import { followKeys } from "./frame/commands/commands.tsx";
import { openSession } from "./frame/session.ts";
import { Sidebar } from "./frame/sidebar/sidebar.tsx";
import { ConfirmSignIn, SignIn } from "./frame/sign-in.tsx";
import { PAGES, type PageEntry } from "./pages/pages.tsx";
import { update } from "./state/app.ts";
import { restoreSidebar } from "./state/sidebar.ts";
import { keepConnected } from "./state/socket.ts";
import { openThread } from "./state/threads.ts";
import { useApp } from "./state/use-app.ts";
import { Bar } from "./widgets/bar.tsx";
import { applyTheme } from "./widgets/theme.tsx";

const readRoute = () => location.hash.replace(/^#\//, "").split("/");

function Page({ name, part }: { name: string; part: string | undefined }) {
  const entry = PAGES.find((page) => page.name === name);
  return entry ? <LazyPage entry={entry} shown={part} /> : <Chat />;
}

function App() {
  const { user, signedOut, signInQuestion, announcement, isMenuOpen, isSideKept } = useApp();
  const [route, setRoute] = useState(readRoute);
  const [name = "", thread] = route;

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
    if (user && (name === "" || name === "chat")) void openThread(thread || undefined);
  }, [user?.id, name, thread]);

  if (signInQuestion) return <ConfirmSignIn question={signInQuestion} />;
  if (signedOut) return <SignIn />;
  if (!user) return <p class="unseen">Loading…</p>;
  return (
    <div class={`frame ${isMenuOpen ? "menu-open" : ""} ${isSideKept ? "" : "side-hidden"}`}>
      <Sidebar page={name || "chat"} />
      <main class="main">
        <Page name={name} part={thread} />
      </main>
      <p class="unseen" aria-live="polite">
        {announcement}
      </p>
    </div>
  );
}

type Loaded = ComponentType<{ readonly shown: string | undefined }>;

const loaded = new Map<string, Loaded>();

/** A page whose code is loaded when it is first opened. */
function LazyPage({ entry, shown }: { entry: PageEntry; shown: string | undefined }) {
  const [failed, setFailed] = useState(false);
  const [, setLoaded] = useState("");
  const load = () => {
    setFailed(false);
    entry.load().then(
      (page) => {
        loaded.set(entry.name, page);
        setLoaded(entry.name);
      },
      () => setFailed(true),
    );
  };
  useEffect(load, [entry.name]);
  const Shown = loaded.get(entry.name);
  if (Shown) return <Shown shown={shown} />;
  return (
    <>
      <Bar title={entry.title} />
      {failed && (
        <div class="trouble" role="alert">
          <span>This page could not be loaded. Postern may have been upgraded, or cannot be reached.</span>
          <span class="row">
            {/* Browsers remember a module that failed to load until the document is reloaded. */}
            <button type="button" onClick={() => location.reload()}>
              Reload
            </button>
          </span>
        </div>
      )}
    </>
  );
}

applyTheme();
render(<App />, document.getElementById("app") as HTMLElement);
void openSession();
