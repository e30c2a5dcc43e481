/** What bytes are, by looking at them: what somebody says they are may be wrong, or a trick. */

const SIGNATURES: readonly (readonly [mime: string, bytes: string, at?: number])[] = [
  ["image/png", "\x89PNG\r\n\x1a\n"],
  ["image/jpeg", "\xff\xd8\xff"],
  ["image/gif", "GIF87a"],
  ["image/gif", "GIF89a"],
  ["image/webp", "WEBP", 8],
  ["application/pdf", "%PDF-"],
  ["audio/wav", "WAVE", 8],
  ["audio/mpeg", "ID3"],
];

/** The type that the first bytes show; undefined where they show none of those that matter here. */
export function sniff(data: Uint8Array): string | undefined {
  const head = Buffer.from(data.subarray(0, 16)).toString("latin1");
  return SIGNATURES.find(([, bytes, at = 0]) => head.startsWith(bytes, at))?.[0];
}

const IMAGES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** The type of an image that models and browsers take; undefined where it is none. */
export function sniffImage(data: Uint8Array): string | undefined {
  const seen = sniff(data);
  return seen !== undefined && IMAGES.has(seen) ? seen : undefined;
}
