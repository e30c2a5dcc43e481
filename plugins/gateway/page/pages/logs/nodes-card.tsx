import { useEffect } from "preact/hooks";
import { List } from "../../frame/list.tsx";
import { loadStatus } from "../../state/threads.ts";
import { useApp } from "../../state/use-app.ts";

/** The processes that serve, as of now. */
export function NodesCard() {
  const { status } = useApp();
  useEffect(() => void loadStatus(), []);
  return (
    <section class="card">
      <h2>Nodes</h2>
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
    </section>
  );
}
