import { useEffect } from "preact/hooks";
import { loadStatus } from "../app.ts";
import { List } from "../frame/list.tsx";
import { useApp } from "../use-app.ts";

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
    </section>
  );
}
