import { attempt } from "../../state/app.ts";
import { useApp } from "../../state/use-app.ts";
import { type Account, ask } from "../../state/wire.ts";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";

/** The users with their roles, and buttons to remove them. */
export function UsersCard({ users, onChange }: { users: readonly Account[]; onChange: () => Promise<void> }) {
  const me = useApp().user?.id;
  const change = async (work: () => Promise<unknown>) => {
    await attempt(work);
    await onChange();
  };
  const add = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { id } = Object.fromEntries(new FormData(form));
    if (await attempt(() => ask("POST", "/api/users", { id }))) form.reset();
    await onChange();
  };
  const remove = async (id: string, withData: boolean) => {
    const words = withData
      ? "Their threads, jobs, memory and missions are deleted. This cannot be undone."
      : "They are signed out and their tokens end. Their data is kept.";
    const yes = withData ? "Remove with data" : "Remove";
    if (!(await confirmed({ title: `Remove ${id}?`, words, yes, danger: true }))) return;
    await change(() => ask("DELETE", `/api/users/${encodeURIComponent(id)}?with_data=${withData}`));
  };

  return (
    <section class="card">
      <h2>Users</h2>
      <List columns={["User", "Role"]}>
        {users.map(({ id, role, name }) => {
          // People cannot lock themselves out, and the operator is built in.
          const isFixed = id === "operator" || id === me;
          return (
            <tr key={id}>
              <td>{name && name !== id ? `${id} (${name})` : id}</td>
              <td>
                {isFixed ? (
                  <span class="tag">{role}</span>
                ) : (
                  <select
                    aria-label={`Role of ${id}`}
                    value={role}
                    onChange={({ currentTarget: { value } }) =>
                      void change(() => ask("PATCH", `/api/users/${encodeURIComponent(id)}`, { role: value }))
                    }
                  >
                    <option>user</option>
                    <option>operator</option>
                  </select>
                )}
              </td>
              <td>
                {!isFixed && (
                  <span class="row">
                    <button type="button" class="danger" onClick={() => void remove(id, false)}>
                      Remove
                    </button>
                    <button type="button" class="danger" onClick={() => void remove(id, true)}>
                      Remove with data
                    </button>
                  </span>
                )}
              </td>
            </tr>
          );
        })}
      </List>
      <form class="row" onSubmit={(event) => void add(event)}>
        <input name="id" required aria-label="Name of the new user" placeholder="name" />
        <button type="submit">Add user</button>
      </form>
    </section>
  );
}
