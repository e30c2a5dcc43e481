import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { useLoaded } from "../../state/use-app.ts";
import { type Account, ask, type Integration } from "../../state/wire.ts";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";

interface Added {
  readonly name: string;
  readonly secret: string;
}

/** Senders with a secret of their own. */
export function Integrations({ users }: { users: readonly Account[] }) {
  const [known, load] = useLoaded<{ integrations: readonly Integration[] }>("/api/webhooks");
  const integrations = known?.integrations ?? [];
  const [added, setAdded] = useState<Added | undefined>();
  const add = async (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const { name, user, message } = Object.fromEntries(new FormData(form));
    const made = await attempt(() =>
      ask<Added>("POST", "/api/webhooks", { name, user, message: message || undefined }),
    );
    if (!made) return;
    form.reset();
    setAdded(made);
    await load();
  };
  const remove = async (name: string) => {
    const words = "Its secret stops working.";
    if (!(await confirmed({ title: `Remove “${name}”?`, words, yes: "Remove", danger: true }))) return;
    await attempt(() => ask("DELETE", `/api/webhooks/${encodeURIComponent(name)}`));
    await load();
  };

  return (
    <section class="card">
      <h2>Integrations</h2>
      {added && (
        <p class="gate" role="status">
          <span>
            {added.name} posts to <code>/webhook/{added.name}</code>. Its secret, shown only once:
          </span>
          <code>{added.secret}</code>
        </p>
      )}
      {integrations.length > 0 && (
        <List columns={["Name", "User", "Message", "Last used"]}>
          {integrations.map(({ name, user, message, last_used_at }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{user}</td>
              <td>{message ?? ""}</td>
              <td>{last_used_at ? new Date(last_used_at).toLocaleString() : "never"}</td>
              <td>
                <button type="button" class="danger" onClick={() => void remove(name)}>
                  Remove
                </button>
              </td>
            </tr>
          ))}
        </List>
      )}
      <form class="row" onSubmit={(event) => void add(event)}>
        <input name="name" required aria-label="Name of the integration" placeholder="name" />
        <input
          name="user"
          required
          list="users"
          aria-label="User of the integration"
          placeholder="account, or webhook/name"
        />
        <datalist id="users">
          {users.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        <input
          name="message"
          aria-label="Message template"
          placeholder="A {{action}} in {{repository.full_name}}"
        />
        <button type="submit">Add integration</button>
      </form>
    </section>
  );
}
