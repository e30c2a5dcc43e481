import type { Account, Identity, PairingGate } from "../../state/wire.ts";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";

interface PairingCardProps {
  readonly gate: PairingGate;
  readonly users: readonly Account[];
  onPair(account: string): void;
  onDeny(): void;
}

/** Asks which account an unknown sender of the webhook channel is. */
export function PairingCard({ gate, users, onPair, onDeny }: PairingCardProps) {
  return (
    <section class="gate" aria-label="Pairing">
      <strong>Who is {gate.identity}?</strong>
      <pre class="log">{gate.message}</pre>
      <span class="row">
        <PairForm identity={gate.identity} users={users} onPair={onPair} />
        <button type="button" class="danger" onClick={onDeny}>
          Deny
        </button>
      </span>
    </section>
  );
}

interface IdentitiesProps {
  readonly identities: readonly Identity[];
  readonly users: readonly Account[];
  onPair(identity: string, account: string): void;
  onUnpair(identity: string): void;
  onRemove(identity: string): void;
}

export function Identities({ identities, users, onPair, onUnpair, onRemove }: IdentitiesProps) {
  const remove = async (id: string) => {
    const words = "Everything that is kept of it is deleted. This cannot be undone.";
    if (await confirmed({ title: `Delete ${id}?`, words, yes: "Delete", danger: true })) onRemove(id);
  };
  return (
    <section class="card">
      <h2>Identities</h2>
      <p class="soft">
        A user that a webhook names is separate from the accounts here until you pair the two.
      </p>
      {identities.length === 0 && <p class="soft">Nobody has used the webhook yet.</p>}
      {identities.length > 0 && (
        <List columns={["Identity", "Account", "Waiting"]}>
          {identities.map(({ id, account, held }) => (
            <tr key={id}>
              <td>{id}</td>
              <td>
                {account === null ? (
                  <PairForm identity={id} users={users} onPair={(chosen) => onPair(id, chosen)} />
                ) : (
                  <span class="row">
                    {account}
                    <button type="button" aria-label={`Unpair ${id}`} onClick={() => onUnpair(id)}>
                      Unpair
                    </button>
                  </span>
                )}
              </td>
              <td>{held > 0 ? held : ""}</td>
              <td>
                <button
                  type="button"
                  class="danger"
                  aria-label={`Delete ${id}`}
                  onClick={() => void remove(id)}
                >
                  Delete
                </button>
              </td>
            </tr>
          ))}
        </List>
      )}
    </section>
  );
}

interface PairFormProps {
  readonly identity: string;
  readonly users: readonly Account[];
  onPair(account: string): void;
}

function PairForm({ identity, users, onPair }: PairFormProps) {
  const submit = async (event: Event) => {
    event.preventDefault();
    const { account } = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement));
    const chosen = String(account);
    const title = `Pair ${identity} with ${chosen}?`;
    const words = "From now on they are one, with the threads and memory of both.";
    if (await confirmed({ title, words, yes: "Pair" })) onPair(chosen);
  };
  return (
    <form class="row" onSubmit={(event) => void submit(event)}>
      <select name="account" required aria-label={`Account of ${identity}`}>
        {users.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </select>
      <button type="submit">Pair</button>
    </form>
  );
}
