/** Boxes that hold one thing each, and the table of facts inside them. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { text } from "../text/text.ts";
import { Icon, type IconShapes } from "./icon.tsx";

interface CardProps {
  readonly title: ComponentChildren;
  readonly icon?: IconShapes | undefined;
  /** Short words beside the title, each a `<span class="tag">`. */
  readonly tags?: ComponentChildren;
  /** One sentence below the title. */
  readonly note?: ComponentChildren;
  /** Buttons or a menu at the end of the title's line. */
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
  /** The name for screen readers, if the title is not a text. */
  readonly label?: string;
}

export function Card({ children, label, ...head }: CardProps) {
  return (
    <section class="card" aria-label={label}>
      <CardHead {...head} Heading="h2" />
      {children}
    </section>
  );
}

interface CompactCardProps extends CardProps {
  /** What is folded. */
  readonly more?: string;
  /** For an address that leads to it. */
  readonly id?: string;
  readonly isOpen?: boolean;
  /** What must be seen without unfolding. */
  readonly warning?: ComponentChildren;
}

/** One of many: a line with what it is, and the rest folded below it, which is rendered when it is first opened. */
export function CompactCard({
  children,
  label,
  more = text.widgets.details,
  id,
  isOpen,
  warning,
  ...head
}: CompactCardProps) {
  // Undefined until it is first opened.
  const [isUnfolded, setUnfolded] = useState<boolean | undefined>(isOpen || undefined);
  // It stays open when the reason to open it is gone: nothing closes below somebody's pointer.
  useEffect(() => {
    if (isOpen) setUnfolded(true);
  }, [isOpen]);
  return (
    <article class="card compact" aria-label={label} id={id} tabIndex={id === undefined ? undefined : -1}>
      <CardHead {...head} Heading="h3" />
      {warning}
      {children && (
        <details open={isUnfolded ?? false} onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}>
          <summary>{more}</summary>
          {isUnfolded !== undefined && <div class="inside">{children}</div>}
        </details>
      )}
    </article>
  );
}

type CardHeadProps = Omit<CardProps, "children" | "label"> & { readonly Heading: "h2" | "h3" };

function CardHead({ title, icon, tags, note, actions, Heading }: CardHeadProps) {
  return (
    <header class="card-head">
      {icon && <Icon of={icon} />}
      <div>
        <Heading>
          <span dir="auto">{title}</span>
          {tags}
        </Heading>
        {note && <p class="soft">{note}</p>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
  );
}

/** Names and values, one pair in each line. Pairs without a value are left out. */
export function KeyValue({
  of: pairs,
}: {
  of: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {pairs
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
