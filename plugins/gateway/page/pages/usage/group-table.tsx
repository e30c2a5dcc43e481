import { List } from "../../frame/list.tsx";
import type { Figures } from "../../state/wire.ts";
import { dollars, seconds, whole } from "./words.ts";

interface GroupTableProps {
  readonly title: string;
  readonly groups: Figures["groups"];
  /** Tools have neither tokens nor a price. */
  readonly hasTokens?: boolean;
}

/** Each group with its sums, largest first. */
export function GroupTable({ title, groups, hasTokens = false }: GroupTableProps) {
  const counted = hasTokens ? ["Tokens in", "Tokens out", "Cost"] : [];
  const took = (millis: number | null) => (millis === null ? "" : seconds(millis));
  return (
    <section class="card">
      <h2>{title}</h2>
      <List columns={["Name", "Count", "Failed", ...counted, "Half took", "95% took"]} hasActions={false}>
        {groups.map((group) => (
          <tr key={group.name}>
            <td>{group.name || "unknown"}</td>
            <td>{whole(group.count)}</td>
            <td>{whole(group.failed)}</td>
            {hasTokens && <td>{whole(group.input_tokens)}</td>}
            {hasTokens && <td>{whole(group.output_tokens)}</td>}
            {hasTokens && <td>{dollars(group.cost)}</td>}
            <td>{took(group.p50_millis)}</td>
            <td>{took(group.p95_millis)}</td>
          </tr>
        ))}
      </List>
    </section>
  );
}
