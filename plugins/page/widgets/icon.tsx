import { h } from "preact";

/** The shapes of an icon: `import Wrench from "lucide/dist/esm/icons/wrench.mjs"`. */
export type IconShapes = readonly (readonly [tag: string, attributes: Readonly<Record<string, string>>])[];

/** An icon of lucide, as large as a line of text. It has no name: the text beside it or the button around it says what it is. */
export function Icon({ of: shapes }: { of: IconShapes }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      {shapes.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}
