import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface ListProps {
  readonly columns: readonly string[];
  readonly hasActions?: boolean;
  readonly isHidden?: boolean;
  readonly children: ComponentChildren;
}

/**
 * A table of rows. The last column, without a visible heading, has the actions. On a narrow screen each row is a card whose cells
 * have labels; the roles keep it a table for screen readers.
 */
export function List({ columns, hasActions = true, isHidden = false, children }: ListProps) {
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
  return (
    <table class="list" ref={table} hidden={isHidden}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name}>{name}</th>
          ))}
          {hasActions && (
            <th>
              <span class="unseen">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
