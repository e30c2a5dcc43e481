/** What a page shows in place of its content: nothing there yet, still loading, or failed. */

import Inbox from "lucide/dist/esm/icons/inbox.mjs";
import TriangleAlert from "lucide/dist/esm/icons/triangle-alert.mjs";
import type { ComponentChildren } from "preact";
import { text } from "../text/text.ts";
import { Button } from "./controls.tsx";
import { Icon, type IconShapes } from "./icon.tsx";

interface EmptyStateProps {
  readonly title: string;
  readonly icon?: IconShapes;
  /** What would be here, and how it gets here. */
  readonly children?: ComponentChildren;
  /** The button or link that brings the first one. */
  readonly action?: ComponentChildren;
}

export function EmptyState({ title, icon = Inbox, children, action }: EmptyStateProps) {
  return (
    <div class="state">
      <Icon of={icon} />
      <p class="state-title">{title}</p>
      {children && <p class="soft">{children}</p>}
      {action}
    </div>
  );
}

/** Lines where the content will be. They appear after a moment, so that a page that loads at once does not flash. */
export function LoadingState({ lines = 3, label = text.basics.loading }: { lines?: number; label?: string }) {
  return (
    <div class="loading" role="status">
      <span class="unseen">{label}</span>
      {Array.from({ length: lines }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are alike, and none of them moves
        <span key={at} class="skeleton" />
      ))}
    </div>
  );
}

interface ErrorStateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  /** The label of the button, and what it does. */
  readonly retry?: string;
  onRetry?(): unknown;
}

export function ErrorState({ title, children, retry = text.basics.retry, onRetry }: ErrorStateProps) {
  return (
    <div class="state failed" role="alert">
      <Icon of={TriangleAlert} />
      <p class="state-title">{title}</p>
      {children && <p class="soft">{children}</p>}
      {onRetry && <Button label={retry} onClick={onRetry} />}
    </div>
  );
}
