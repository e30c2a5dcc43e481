/** Small PDF documents, written by hand. */

/** One page for each text; its lines are the page's. */
export function pdf(...pages: readonly string[]): Buffer {
  const contents = pages.map((text) => {
    const lines = text.split("\n").map((line) => `(${line.replaceAll(/[\\()]/g, "\\$&")}) Tj T*`);
    return stream(Buffer.from(`BT /F1 12 Tf 72 720 Td 14 TL ${lines.join(" ")} ET`));
  });
  return pdfOf(contents);
}

/** `contents`: what draws each page, as an object of the file. */
export function pdfOf(contents: readonly Buffer[], trailer = ""): Buffer {
  const kids = contents.map((_, at) => `${4 + 2 * at} 0 R`).join(" ");
  const objects = [
    Buffer.from("<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> >>"),
    Buffer.from(`<< /Type /Pages /Count ${contents.length} /Kids [${kids}] >>`),
    Buffer.from("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"),
    ...contents.flatMap((content, at) => [
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * at} 0 R >>`,
      ),
      content,
    ]),
  ];
  const parts = [Buffer.from("%PDF-1.7\n")];
  const places: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [at, object] of objects.entries()) {
    places.push(length);
    const part = Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), object, Buffer.from("\nendobj\n")]);
    parts.push(part);
    length += part.length;
  }
  const rows = places.map((place) => `${String(place).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer << /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${length}\n%%EOF`,
    ),
  );
  return Buffer.concat(parts);
}

export function stream(data: Buffer, filter = ""): Buffer {
  return Buffer.concat([
    Buffer.from(`<< /Length ${data.length} ${filter} >>\nstream\n`),
    data,
    Buffer.from("\nendstream"),
  ]);
}
