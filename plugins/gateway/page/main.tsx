import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Chat } from "./chat/chat.tsx";
import { followKeys } from "./frame/commands/commands.tsx";
import { LazyPage } from "./frame/lazy-page.tsx";
import { openSession } from "./frame/session.ts";
import { Sidebar } from "./frame/sidebar/sidebar.tsx";
import { restoreSidebar } from "./frame/sidebar/visibility.ts";
import { ConfirmSignIn, SignIn } from "./frame/sign-in.tsx";
import { applyTheme } from "./frame/theme.ts";
import { PAGES } from "./pages/pages.tsx";
import { update } from "./state/app.ts";
import { keepConnected } from "./state/socket.ts";
import { openThread } from "./state/threads.ts";
import { useApp } from "./state/use-app.ts";

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

applyTheme();
render(<App />, document.getElementById("app") as HTMLElement);
void openSession();
