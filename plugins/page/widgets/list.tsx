import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { text } from "../text/text.ts";

interface ListProps<Item> {
  readonly columns: readonly string[];
  /** Undefined until they are loaded. */
  readonly items: readonly Item[] | undefined;
  readonly empty?: string;
  readonly hasActions?: boolean;
  /** Returns the row of an item. */
  children(item: Item): ComponentChildren;
}

/** A table of rows, the actions last. On a narrow screen each row is a card; to screen readers it stays a table. */
export function List<Item>({ columns, items, empty, hasActions = true, children }: ListProps<Item>) {
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    if (!table.current) return;
    table.current.role = "table";
    for (const group of table.current.children) group.role = "rowgroup";
    for (const row of table.current.rows) {
      row.role = "row";
      for (const cell of row.cells) {
        cell.role = cell.tagName === "TH" ? "columnheader" : "cell";
        cell.dataset["label"] = columns[cell.cellIndex] ?? "";
      }
    }
  });
  if (!items?.length) return items && empty ? <p class="soft">{empty}</p> : null;
  return (
    <table class={hasActions ? "list has-actions" : "list"} ref={table}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name}>{name}</th>
          ))}
          {hasActions && (
            <th>
              <span class="unseen">{text.basics.actions}</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{items.map(children)}</tbody>
    </table>
  );
}
