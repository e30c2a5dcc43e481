import type { ComponentChildren } from "preact";
import { Icon, type IconShapes } from "../../widgets/icon.tsx";

/** The kind of gate, above everything else on its card. */
export function GateHead({ icon, children }: { icon: IconShapes; children: ComponentChildren }) {
  return (
    <p class="gate-head">
      <Icon of={icon} />
      <span>{children}</span>
    </p>
  );
}
