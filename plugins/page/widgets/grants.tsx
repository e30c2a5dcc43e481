import { text } from "../text/text.ts";

/** Lists what a tool may do, as its capabilities file says. */
export function Grants({ of: grants }: { of: readonly string[] }) {
  if (grants.length === 0) return <span>{text.widgets.nothingOutside}</span>;
  return (
    <ul>
      {grants.map((grant) => (
        <li key={grant}>
          {grant.split("`").map((piece, at) => (at % 2 === 1 ? <code key={piece}>{piece}</code> : piece))}
        </li>
      ))}
    </ul>
  );
}
