import { useEffect } from "preact/hooks";
import { List } from "../../frame/list.tsx";
import { loadStatus } from "../../state/threads.ts";
import { useApp } from "../../state/use-app.ts";

/** The processes that serve, as of now, and the store behind them. Folded: the lines below are what people come for. */
export function NodesCard() {
  const { status } = useApp();
  useEffect(() => void loadStatus(), []);
  return (
    <details class="card">
      <summary>
        {status ? (status.nodes.length === 1 ? "1 node" : `${status.nodes.length} nodes`) : "Nodes"}, store
      </summary>
      <List columns={["Node", "Version", "Started", "Last seen"]} hasActions={false}>
        {status?.nodes.map((node) => (
          <tr key={node.id}>
            <td title={node.id}>{node.id.slice(0, 8)}</td>
            <td>{node.version}</td>
            <td>{new Date(node.started_at).toLocaleString()}</td>
            <td>{new Date(node.last_seen_at).toLocaleTimeString()}</td>
          </tr>
        ))}
      </List>
      {status?.store && (
        <p class={status.store.is_filling ? "danger" : "soft"}>
          <strong>Store:</strong> {status.store.detail}.
        </p>
      )}
    </details>
  );
}
