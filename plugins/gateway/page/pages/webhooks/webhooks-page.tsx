import { GateCard } from "../../chat/gates/gate-card.tsx";
import { attempt } from "../../state/app.ts";
import { useApp, useLoaded } from "../../state/use-app.ts";
import { type Account, ask, type Gate, type Identity, type PairingGate } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { Identities, PairingCard } from "./identities.tsx";
import { Integrations } from "./integrations.tsx";

/** The senders of the webhook channel, and the gates that an operator answers for them. */
export function WebhooksPage() {
  const { status } = useApp();
  const [{ pending = [] } = {}, loadGates] = useLoaded<{ pending: readonly (Gate | PairingGate)[] }>(
    "/api/approvals",
  );
  const [{ identities = [] } = {}, loadIdentities] = useLoaded<{ identities: readonly Identity[] }>(
    "/api/identities",
  );
  const [{ users = [] } = {}, loadUsers] = useLoaded<{ users: readonly Account[] }>("/api/users");
  // The gates of the operator's own threads are answered in those threads.
  const gates = pending.filter((gate) => gate.type === "pairing" || gate.user_id);
  const isOn = status?.channels.some(({ name, on }) => name === "webhook" && on) ?? false;

  const load = () => Promise.all([loadGates(), loadIdentities(), loadUsers()]);
  const change = async (method: string, path: string, body?: unknown) => {
    await attempt(() => ask(method, path, body));
    await load();
  };
  const post = (path: string, body: unknown) => change("POST", path, body);
  const pair = (identity: string, account: string) => post("/api/identities/pair", { identity, account });

  return (
    <Page
      title="Webhooks"
      actions={
        <button type="button" onClick={() => void load()}>
          Refresh
        </button>
      }
    >
      {!isOn && <p class="soft">The webhook channel is off: set HTTP_ENABLED=true.</p>}
      {gates.length > 0 && (
        <section class="card">
          <h2>Waiting for you</h2>
          {gates.map((gate) =>
            gate.type === "pairing" ? (
              <PairingCard
                key={gate.id}
                gate={gate}
                users={users}
                onPair={(account) => void pair(gate.identity, account)}
                onDeny={() => void post("/api/identities/deny", { identity: gate.identity })}
              />
            ) : (
              <div key={gate.id}>
                <p>{gate.user_id}</p>
                <GateCard gate={gate} onAnswer={(answer) => void post(`/api/approvals/${gate.id}`, answer)} />
              </div>
            ),
          )}
        </section>
      )}
      {isOn && <Integrations users={users} />}
      <Identities
        identities={identities}
        users={users}
        onPair={(identity, account) => void pair(identity, account)}
        onRemove={(identity) =>
          void change("DELETE", `/api/users/${encodeURIComponent(identity)}?with_data=true`)
        }
        onUnpair={(identity) => void post("/api/identities/unpair", { identity })}
      />
    </Page>
  );
}
