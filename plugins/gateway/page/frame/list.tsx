import type { ComponentChildren } from "preact";

interface ListProps {
  readonly columns: readonly string[];
  readonly hasActions?: boolean;
  readonly children: ComponentChildren;
}

/** A table of rows. In the last column, which has no heading to see, is what can be done with each, if anything. */
export function List({ columns, hasActions = true, children }: ListProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls on a narrow screen, so the keyboard has to reach it
    <section class="wide" tabIndex={0} aria-label={columns.join(", ")}>
      <table class="list">
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
    </section>
  );
}
