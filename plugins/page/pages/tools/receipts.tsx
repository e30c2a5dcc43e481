import { useState } from "preact/hooks";
import { request } from "../../state/app.ts";
import { useApp } from "../../state/use-app.ts";
import type { ToolReceipt } from "../../state/wire.ts";
import { duration } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { List } from "../../widgets/list.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { whyRan } from "./receipt-words.ts";

const words = text.tools;

/** The receipts of a tool's last calls. */
export function Receipts({ tool }: { tool: string }) {
  const { user } = useApp();
  const [receipts, setReceipts] = useState<readonly ToolReceipt[]>();
  const load = async () => {
    const query = new URLSearchParams({ tool, limit: "20" });
    const path = `/api/receipts?${query}`;
    setReceipts((await request<{ receipts: readonly ToolReceipt[] }>("GET", path))?.receipts);
  };
  return (
    <details onToggle={(event) => event.currentTarget.open && void load()}>
      <summary>{words.recentCalls}</summary>
      <List
        columns={Object.values(words.callColumns)}
        items={receipts}
        empty={words.noCalls}
        hasActions={false}
      >
        {(receipt) => (
          <tr key={receipt.id}>
            <td class="whole">
              <Moment at={receipt.at} />
            </td>
            <td class="whole" title={receipt.user}>
              {receipt.user}
            </td>
            <td>{duration(receipt.millis)}</td>
            <td>
              {receipt.message ?? receipt.status}
              <Ruling of={receipt} reader={user?.id} />
            </td>
            <td>
              {receipt.requests
                .map(({ method, writes, host, status, error }) => {
                  const request = `${method} ${host} ${status ?? error ?? ""}`;
                  return writes ? words.writesThere(request) : request;
                })
                .join(", ")}
              {receipt.credentials.length > 0 && words.usingCredentials(receipt.credentials)}
              <Files of={receipt} />
            </td>
          </tr>
        )}
      </List>
    </details>
  );
}

function Files({ of: { files } }: { of: ToolReceipt }) {
  const { read = [], written = [], more = 0 } = files ?? {};
  const parts = [
    ...(read.length > 0 ? [words.filesRead(read)] : []),
    ...(written.length > 0 ? [words.filesWritten(written)] : []),
    ...(more > 0 ? [words.andMore(more)] : []),
  ];
  return parts.length === 0 ? null : <p class="soft">{parts.join("; ")}</p>;
}

/** Why a call ran although its values were not the user's. */
function Ruling({ of: { ruling, user }, reader }: { of: ToolReceipt; reader: string | undefined }) {
  const why = ruling ? whyRan(ruling, user === reader ? undefined : user) : "";
  return why === "" ? null : <p class="soft">{why}</p>;
}
