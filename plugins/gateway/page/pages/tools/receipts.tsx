import { useState } from "preact/hooks";
import { whyRan } from "../../../../../kernel/vocabulary/approval.ts";
import { attempt } from "../../state/app.ts";
import { useApp } from "../../state/use-app.ts";
import { ask, type ToolReceipt } from "../../state/wire.ts";

/** The receipts of a tool's last calls. */
export function Receipts({ tool }: { tool: string }) {
  const { user } = useApp();
  const [receipts, setReceipts] = useState<readonly ToolReceipt[]>();
  const load = async () => {
    const query = new URLSearchParams({ tool, limit: "20" });
    setReceipts(
      (await attempt(() => ask<{ receipts: readonly ToolReceipt[] }>("GET", `/api/receipts?${query}`)))
        ?.receipts,
    );
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && void load()}>
      <summary>Recent calls</summary>
      {receipts?.length === 0 && <p class="soft">It has not been called yet.</p>}
      {receipts && receipts.length > 0 && (
        <table class="list">
          <thead>
            <tr>
              <th>When</th>
              <th>User</th>
              <th>Took</th>
              <th>Outcome</th>
              <th>Contacted</th>
            </tr>
          </thead>
          <tbody>
            {receipts.map((receipt) => (
              <tr key={receipt.id}>
                <td>{new Date(receipt.at).toLocaleString()}</td>
                <td>{receipt.user}</td>
                <td>{Math.round(receipt.millis)} ms</td>
                <td>
                  {receipt.message ?? receipt.status}
                  <Ruling of={receipt} reader={user?.id} />
                </td>
                <td>
                  {receipt.requests
                    .map(({ method, host, status, error }) => `${method} ${host} ${status ?? error ?? ""}`)
                    .join(", ")}
                  {receipt.credentials.length > 0 && ` as ${receipt.credentials.join(", ")}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </details>
  );
}

/** Why a call ran although its values were not the user's. */
function Ruling({ of: { ruling, user }, reader }: { of: ToolReceipt; reader: string | undefined }) {
  const why = ruling ? whyRan(ruling, user === reader ? "you" : user) : "";
  return why === "" ? null : <p class="soft">{why}</p>;
}
