/** What content says to a reader who undoes its encoding. */

/** The content as it is, and without percent-encoding and without `\uXXXX`. */
export function readings(bytes: Buffer): readonly Buffer[] {
  const found = [bytes];
  const plain = bytes.toString("latin1");
  let text = plain;
  // Encoding twice or three times is as cheap as once.
  for (let round = 0; round < 3 && /%[0-9a-f]{2}/i.test(text); round++) {
    text = text.replace(/%([0-9a-f]{2})/gi, toCharacter);
    found.push(Buffer.from(text, "latin1"));
  }
  if (plain.includes("\\u")) {
    found.push(Buffer.from(plain.replace(/\\u00([0-9a-f]{2})/gi, toCharacter), "latin1"));
  }
  return found;
}

function toCharacter(_escape: string, hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
