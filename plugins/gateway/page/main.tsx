import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { openThread, update } from "./app.ts";
import { Chat } from "./chat/chat.tsx";
import { openSession } from "./frame/session.ts";
import { Sidebar } from "./frame/sidebar.tsx";
import { ConfirmSignIn, SignIn } from "./frame/sign-in.tsx";
import { applyTheme } from "./frame/theme.ts";
import { JobsPage } from "./pages/jobs-page.tsx";
import { LogsPage } from "./pages/logs-page.tsx";
import { MemoryPage } from "./pages/memory-page.tsx";
import { PeoplePage } from "./pages/people-page.tsx";
import { WebhooksPage } from "./pages/webhooks-page.tsx";
import { keepConnected } from "./socket.ts";
import { ToolsPage } from "./tools/tools-page.tsx";
import { useApp } from "./use-app.ts";

const readRoute = () => location.hash.replace(/^#\//, "").split("/");

function Page({ name, part }: { name: string; part: string | undefined }) {
  switch (name) {
    case "tools":
      return <ToolsPage shown={part} />;
    case "jobs":
      return <JobsPage />;
    case "memory":
      return <MemoryPage />;
    case "people":
      return <PeoplePage />;
    case "webhooks":
      return <WebhooksPage />;
    case "logs":
      return <LogsPage />;
    default:
      return <Chat />;
  }
}

function App() {
  const { user, signedOut, signInQuestion, announcement, isMenuOpen } = useApp();
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
  useEffect(() => {
    if (user && (name === "" || name === "chat")) void openThread(thread || undefined);
  }, [user?.id, name, thread]);

  if (signInQuestion) return <ConfirmSignIn question={signInQuestion} />;
  if (signedOut) return <SignIn />;
  if (!user) return <p class="unseen">Loading…</p>;
  return (
    <div class={`frame ${isMenuOpen ? "menu-open" : ""}`}>
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
