import RefreshCw from "lucide/dist/esm/icons/refresh-cw.mjs";
import Webhook from "lucide/dist/esm/icons/webhook.mjs";
import { GateCard } from "../../chat/gates/gate-card.tsx";
import { changeThen } from "../../state/app.ts";
import { useApp, useShown } from "../../state/use-app.ts";
import { type Account, ask, type Gate, type Identity, type PairingGate } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { toast } from "../../widgets/toast.tsx";
import { Identities, PairForm } from "./identities.tsx";
import { Integrations } from "./integrations.tsx";

const words = text.webhooks;

interface Everything {
  readonly pending: readonly (Gate | PairingGate)[];
  readonly identities: readonly Identity[];
  readonly users: readonly Account[];
}

/** The integrations of the webhook, the identities of channels, and the gates that an operator answers for them. */
export function WebhooksPage() {
  const { status } = useApp();
  const all = useShown(async (): Promise<Everything> => {
    const paths = ["approvals", "identities", "users"];
    const found = await Promise.all(paths.map((name) => ask<Partial<Everything>>("GET", `/api/${name}`)));
    return { pending: [], ...Object.assign({}, ...found) };
  });
  const isOn = status?.channels.some(({ name, on }) => name === "webhook" && on) ?? false;

  const change = changeThen(all.load);
  const post = (path: string, body: unknown) => change("POST", path, body);
  const pair = async (identity: string, account: string) => {
    if (await post("/api/identities/pair", { identity, account })) toast(words.paired(identity, account));
  };
  const remove = async (identity: string) => {
    if (await change("DELETE", `/api/users/${encodeURIComponent(identity)}?with_data=true`))
      toast(words.deleted(identity));
  };

  return (
    <Page
      title={text.pages.webhooks}
      actions={<Button label={text.basics.refresh} icon={RefreshCw} isIconOnly onClick={all.load} />}
    >
      <Loaded of={all} lines={8}>
        {({ pending, identities, users }) => {
          // The gates of the operator's own threads are answered in those threads.
          const gates = pending.filter((gate) => gate.type === "pairing" || gate.user_id);
          return (
            <>
              {!isOn && (
                <EmptyState title={words.off} icon={Webhook}>
                  {words.offNote}
                </EmptyState>
              )}
              {gates.length > 0 && (
                <Card title={words.waiting}>
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
                      <div key={gate.id} class="stack">
                        <span class="tag">{gate.user_id}</span>
                        <GateCard
                          gate={gate}
                          onAnswer={(answer) => void post(`/api/approvals/${gate.id}`, answer)}
                        />
                      </div>
                    ),
                  )}
                </Card>
              )}
              {isOn && <Integrations users={users} />}
              <Identities
                {...{ identities, users }}
                onPair={(identity, account) => void pair(identity, account)}
                onRemove={(identity) => void remove(identity)}
                onUnpair={(identity) => void post("/api/identities/unpair", { identity })}
              />
            </>
          );
        }}
      </Loaded>
    </Page>
  );
}

interface PairingCardProps {
  readonly gate: PairingGate;
  readonly users: readonly Account[];
  onPair(account: string): void;
  onDeny(): void;
}

/** Asks which account an unknown identity is. */
function PairingCard({ gate, users, onPair, onDeny }: PairingCardProps) {
  return (
    <section class="proposal" aria-label={words.pairing}>
      <strong>{words.who(gate.identity)}</strong>
      <pre class="log">{gate.message}</pre>
      <span class="row">
        <PairForm identity={gate.identity} users={users} onPair={onPair} />
        <Button label={words.deny} class="danger" onClick={onDeny} />
      </span>
    </section>
  );
}
