/** Lines of a diff. Each begins with its sign, so that colour is not needed to read it. */
export function Differences({ lines }: { lines: readonly string[] }) {
  return (
    <pre class="log diff">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two lines may be alike, and none of them moves
        <span key={at} class={line.startsWith("+") ? "new" : line.startsWith("-") ? "old" : ""}>
          {line}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}
