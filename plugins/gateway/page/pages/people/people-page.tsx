import { attempt } from "../../state/app.ts";
import { useLoaded } from "../../state/use-app.ts";
import { type Account, ask, type BrowserSession, type Token } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { TokensCard } from "./tokens-card.tsx";
import { UsersCard } from "./users-card.tsx";

export function PeoplePage() {
  const [{ users = [] } = {}, loadUsers] = useLoaded<{ users: readonly Account[] }>("/api/users");
  const [{ tokens } = {}, loadTokens] = useLoaded<{ tokens: readonly Token[] }>("/api/tokens");
  const [{ sessions } = {}, loadSessions] = useLoaded<{ sessions: readonly BrowserSession[] }>(
    "/api/sessions",
  );
  const load = async () => void (await Promise.all([loadUsers(), loadTokens(), loadSessions()]));

  return (
    <Page title="People">
      <UsersCard users={users} onChange={load} />
      <TokensCard users={users} tokens={tokens} onChange={load} />
      <SessionsCard sessions={sessions} onChange={load} />
    </Page>
  );
}

interface SessionsProps {
  /** Undefined until they are loaded. */
  readonly sessions: readonly BrowserSession[] | undefined;
  readonly onChange: () => Promise<void>;
}

/** The browsers that are signed in. */
export function SessionsCard(props: SessionsProps) {
  const end = async ({ id, user, browser }: BrowserSession) => {
    const title = `Sign out ${user} in ${browser ?? "this browser"}?`;
    const words = "They can sign in again with their token.";
    if (!(await confirmed({ title, words, yes: "Sign out", danger: true }))) return;
    await attempt(() => ask("DELETE", `/api/sessions/${id}`));
    await props.onChange();
  };
  return (
    <section class="card">
      <h2>Signed-in browsers</h2>
      {props.sessions?.length === 0 && <p class="soft">Nobody is signed in.</p>}
      <List columns={["User", "Browser", "Since", "Last used"]} isHidden={!props.sessions?.length}>
        {props.sessions?.map((session) => (
          <tr key={session.id}>
            <td>{session.user}</td>
            <td>{session.browser ?? "unknown"}</td>
            <td>{new Date(session.created_at).toLocaleString()}</td>
            <td>{session.last_used_at ? new Date(session.last_used_at).toLocaleString() : "never"}</td>
            <td>
              <button type="button" class="danger" onClick={() => void end(session)}>
                Sign out
              </button>
            </td>
          </tr>
        ))}
      </List>
    </section>
  );
}
