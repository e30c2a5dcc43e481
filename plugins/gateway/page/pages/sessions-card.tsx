import { attempt } from "../app.ts";
import { List } from "../frame/list.tsx";
import { ask, type BrowserSession } from "../wire.ts";

/** The browsers that are signed in. */
export function SessionsCard(props: { sessions: readonly BrowserSession[]; onChange: () => Promise<void> }) {
  const end = async ({ id }: BrowserSession) => {
    await attempt(() => ask("DELETE", `/api/sessions/${id}`));
    await props.onChange();
  };
  return (
    <section class="card">
      <h2>Signed-in browsers</h2>
      <List columns={["User", "Browser", "Since", "Last used"]}>
        {props.sessions.map((session) => (
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
