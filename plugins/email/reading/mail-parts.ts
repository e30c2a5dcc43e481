/** The parts of a mail. The first, if it has no name, is what the sender wrote; every other part is a file. */
import { type AttachmentStream, MailParser, type MessageText, type ParsedMail } from "mailparser";

export const MAX_PARTS = 200;
const MAX_HEADER_BYTES = 128 * 2 ** 10;
const MAX_HTML_LENGTH = 2 * 2 ** 20;

// Several are options of the splitter below it, which has no types here.
const OPTIONS = {
  skipTextToHtml: true,
  skipImageLinks: true,
  maxHtmlLengthToParse: MAX_HTML_LENGTH,
  keepDeliveryStatus: true,
  ignoreEmbedded: true,
  maxHeadSize: MAX_HEADER_BYTES,
  maxChildNodes: MAX_PARTS,
};

interface SplitPart {
  readonly parentNode: SplitPart | false | undefined;
  readonly contentType: string | false;
  readonly disposition: string | false;
  readonly filename: string | false | undefined;
  readonly headers: { hasHeader(name: string): boolean };
}

/** The same part as the parser will read it. */
interface ReadPart {
  contentType: string | false;
  isAttachment?: boolean;
  root?: boolean;
  textContent?: string;
}

/** What the parser does with a part is not among its types. */
interface Inside {
  createNode(part: SplitPart): ReadPart;
  getTextContent(): unknown;
  readonly headers: ParsedMail["headers"] | false;
  readonly headerLines: ParsedMail["headerLines"] | false;
}

export interface MailParts extends Pick<ParsedMail, Named | "headerLines" | "text"> {
  readonly attachments: readonly MailFile[];
}

export interface MailFile {
  readonly contentType: string;
  readonly filename?: string | undefined;
  readonly content: Buffer;
}

const NAMED = ["subject", "from", "to", "cc", "date"] as const;
type Named = (typeof NAMED)[number];

/** Rejects where it has too many parts, or is damaged. */
export async function parseMail(source: Uint8Array): Promise<MailParts> {
  const parser = new MailParser(OPTIONS);
  const inside = parser as unknown as Inside;
  const createNode = inside.createNode.bind(parser);
  const getTextContent = inside.getTextContent.bind(parser);
  const isBody = createBodyCheck();
  let html: ReadPart | undefined;
  inside.createNode = (part) => {
    const read = createNode(part);
    if (isMultipart(part)) isBody(part);
    else if (!isBody(part)) {
      read.isAttachment = true;
      if (isMailInDigest(part)) read.contentType = "message/rfc822";
    } else if (read.contentType === "text/html") {
      html = read;
      // The parser makes a text of this one alone.
      read.root = true;
    }
    return read;
  };
  inside.getTextContent = () => {
    if (html?.textContent) html.textContent = html.textContent.replace(BORDERED, "<hr>$&");
    return getTextContent();
  };
  parser.end(Buffer.from(source.buffer, source.byteOffset, source.byteLength));
  const attachments: MailFile[] = [];
  let text: string | undefined;
  for await (const part of parser as AsyncIterable<AttachmentStream | MessageText>) {
    if (part.type === "text") text = part.text;
    else {
      const { contentType, filename } = part;
      const chunks = await Array.fromAsync(part.content as unknown as AsyncIterable<Buffer>);
      part.release();
      attachments.push({ contentType, filename, content: Buffer.concat(chunks) });
    }
  }
  const named: Pick<ParsedMail, Named> = Object.fromEntries(
    NAMED.map((name) => [name, inside.headers ? inside.headers.get(name) : undefined]),
  );
  return { ...named, headerLines: inside.headerLines || [], text, attachments };
}

/** What begins with a border or has one around it is a quotation in the programs that write no other mark. */
const BORDERED =
  /<[a-z]{1,10}\s(?:[^<>]{0,1000}\s)?style\s{0,9}=\s{0,9}["'][^<>]{0,1000}\bborder(?:-(?:top|left))?\s{0,9}:(?!\s{0,9}(?:none|0)\b)/gi;

const isMultipart = ({ contentType }: SplitPart) =>
  contentType !== false && contentType.startsWith("multipart/");

/** In a digest, what says nothing of its type is a mail (RFC 2046). */
const isMailInDigest = ({ parentNode, headers }: SplitPart) =>
  parentNode && parentNode.contentType === "multipart/digest" && !headers.hasHeader("content-type");

/** Returns a check, to be asked for each part in their order: may it be, or hold, what the sender wrote? */
function createBodyCheck(): (part: SplitPart) => boolean {
  const begun = new Set<SplitPart>();
  const holding = new Set<SplitPart>();
  const forms = new Set<string>();
  return (part) => {
    const { parentNode: parent, contentType, disposition, filename } = part;
    const isFirst = !parent || !begun.has(parent);
    if (parent) begun.add(parent);
    const isForm = parent && parent.contentType === "multipart/alternative";
    const isInPlace = !parent || (holding.has(parent) && (isFirst || isForm));
    if (!isInPlace || (parent && parent.contentType === "multipart/digest")) return false;
    if (isMultipart(part)) {
      holding.add(part);
      return true;
    }
    const form = contentType || "text/plain";
    const isOther = Boolean(filename) || disposition === "attachment" || forms.has(form);
    if (isOther || (form !== "text/plain" && form !== "text/html")) return false;
    forms.add(form);
    return true;
  };
}
