import type { ComponentChildren } from "preact";

interface ListProps {
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}

/** A table of rows; in the last column, which has no heading to see, is what can be done with each. */
export function List({ columns, children }: ListProps) {
  return (
    <table class="list">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name}>{name}</th>
          ))}
          <th>
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}
