/**
 * Tells what a person wrote in a mail from what stands below or between it: the mail that is answered, or one that is
 * forwarded. Others wrote that. Where it is not clear, it counts as theirs.
 */

export interface QuotedText {
  readonly by: string;
  readonly text: string;
}

export interface SplitText {
  readonly own: string;
  readonly quoted: readonly QuotedText[];
}

const MAX_LINE = 500;
const MAX_NAME = 100;
const MAX_ATTRIBUTION_LINES = 3;
const EARLIER = "an earlier mail";

/** `-----Original Message-----`, `---------- Forwarded message ---------`, in the languages of common mail programs. */
const DIVIDER =
  /^[-_=*]{2,}[ \t]*(?:original (?:message|e?-?mail|appointment)|forwarded (?:message|mail)|forwarded by\b.{0,200}|urspr(?:ü|ue)ngliche (?:nachricht|e-?mail)|weitergeleitete (?:nachricht|e-?mail)|message d['’]origine|message (?:transféré|transmis|original)|mensaje (?:original|reenviado)|mensagem (?:original|encaminhada)|messaggio (?:originale|inoltrato)|(?:oorspronkelijk|doorgestuurd) bericht|ursprungligt meddelande|vidarebefordrat meddelande|oryginalna wiadomość|wiadomość oryginalna|пересылаемое сообщение|исходное сообщение|转发邮件|原始邮件|转发的邮件|元のメッセージ|転送メッセージ)[ \t]*[-_=*]{0,40}$/i;
const FORWARDED =
  /^(?:begin forwarded message|anfang der weitergeleiteten (?:nachricht|e-?mail)|début du message (?:réexpédié|transféré)|inicio del mensaje reenviado|início da mensagem reencaminhada|inizio messaggio inoltrato|begin doorgestuurd bericht|vidarebefordrat brev)[ \t]*:$/i;
/** `On Tue, 3 Nov 2026 at 10:00, Ann <ann@example.org> wrote:`, also over several lines. */
const ATTRIBUTION =
  /^(?:on|am|le|el|il|op|den|em|a|dnia|w dniu|pe|на|в) .{4,400}(?:wrote|schrieb|écrit|escribió|scritto|schreef|skrev|escreveu|napisał|пишет|написал).{0,150}:$/iu;
const ATTRIBUTION_OTHER = /(?:于.{0,100}写道|のメール)[:：]?$/u;

const FROM_WORDS = words("from von de da van från fra od от 发件人 差出人 expéditeur remitente mittente");
const OTHER_WORDS = words(
  "sent date to cc subject gesendet datum an betreff envoyé à objet enviado fecha para asunto inviato data a oggetto " +
    "verzonden aan onderwerp skickat till ämne sendt emne til wysłano do temat дата кому тема 发送时间 收件人 主题 日期 送信日時 宛先 件名",
);
const MIN_HEADER_LINES = 2;
const MAX_HEADER_LINES = 8;

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}

export function splitQuoted(text: string): SplitText {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\r", "\n").split("\n");
  const own: string[] = [];
  const quoted: QuotedText[] = [];
  for (let at = 0; at < lines.length; ) {
    const cut = cutAt(lines, at);
    if (cut !== undefined) {
      quoted.push({ by: cut.by, text: unquote(lines.slice(at)) });
      break;
    }
    const attribution = attributionAt(lines, at);
    const begin = at + (attribution?.lines ?? 0);
    if (attribution !== undefined && !isQuotedLine(lines[begin])) {
      // Some programs mark nothing after it: the rest is the other mail.
      quoted.push({ by: attribution.by, text: unquote(lines.slice(at)) });
      break;
    }
    if (isQuotedLine(lines[begin])) {
      const end = endOfQuote(lines, begin);
      quoted.push({ by: attribution?.by ?? EARLIER, text: unquote(lines.slice(at, end)) });
      at = end;
    } else own.push(lines[at++] ?? "");
  }
  return { own: own.join("\n").trim(), quoted: quoted.filter(({ text }) => text !== "") };
}

const isQuotedLine = (line: string | undefined) => line !== undefined && /^ ?>/.test(line);

/** A line right below a quoted one may be the rest of it, which the sender's program has wrapped. */
function endOfQuote(lines: readonly string[], begin: number): number {
  let end = begin;
  for (;;) {
    while (end < lines.length && (lines[end] ?? "").trim() !== "") end++;
    let next = end;
    while (next < lines.length && (lines[next] ?? "").trim() === "") next++;
    if (!isQuotedLine(lines[next])) return end;
    end = next;
  }
}

/** A line below which everything is another's. */
function cutAt(lines: readonly string[], at: number): { readonly by: string } | undefined {
  const line = trimmed(lines[at]);
  if (DIVIDER.test(line) || FORWARDED.test(line)) return { by: fromLine(lines, at) ?? EARLIER };
  // Outlook puts a line above the header, and sometimes nothing.
  const start = /^[_-]{10,}$/.test(line) ? nextText(lines, at + 1) : at;
  return isHeaderBlock(lines, start) ? { by: fromLine(lines, start) ?? EARLIER } : undefined;
}

function nextText(lines: readonly string[], at: number): number {
  let next = at;
  while (next < lines.length && (lines[next] ?? "").trim() === "") next++;
  return next;
}

/** `From: …` and, in the lines below it, at least two more of a mail's header. */
function isHeaderBlock(lines: readonly string[], at: number): boolean {
  if (!FROM_WORDS.has(headerWord(lines[at]))) return false;
  const block = lines.slice(at + 1, at + MAX_HEADER_LINES);
  const end = block.findIndex(
    (line, index) => index > 0 && line.trim() === "" && block[index - 1]?.trim() === "",
  );
  const seen = new Set((end < 0 ? block : block.slice(0, end)).map(headerWord));
  return [...seen].filter((word) => OTHER_WORDS.has(word)).length >= MIN_HEADER_LINES;
}

/** The word before the colon, without the stars that stand for bold. */
function headerWord(line: string | undefined): string {
  const text = trimmed(line);
  const colon = text.search(/[:：]/);
  return colon < 0 || colon > 20 ? "" : text.slice(0, colon).replaceAll("*", "").trim().toLowerCase();
}

function fromLine(lines: readonly string[], at: number): string | undefined {
  const line = lines.slice(at, at + MAX_HEADER_LINES).find((one) => FROM_WORDS.has(headerWord(one)));
  return line === undefined ? undefined : nameIn(trimmed(line).replace(/^[^:：]*[:：]/, ""));
}

function attributionAt(
  lines: readonly string[],
  at: number,
): { readonly lines: number; readonly by: string } | undefined {
  if (trimmed(lines[at]) === "") return undefined;
  for (let count = 1; count <= MAX_ATTRIBUTION_LINES; count++) {
    const joined = lines
      .slice(at, at + count)
      .map(trimmed)
      .join(" ");
    const next = nextText(lines, at + count);
    // In any language: a line that ends with a colon or an address, and then the quote.
    const isBefore =
      count === 1 && isQuotedLine(lines[next]) && next <= at + count + 1 && /[:：]$/.test(joined);
    if (isBefore || ATTRIBUTION.test(joined) || ATTRIBUTION_OTHER.test(joined))
      return { lines: next - at, by: nameIn(joined) };
    if (trimmed(lines[at + count]) === "" || isQuotedLine(lines[at + count])) return undefined;
  }
  return undefined;
}

function nameIn(text: string): string {
  const address = /[^\s<>()[\]"':,;]{1,100}@[^\s<>()[\]"':,;]{1,100}/.exec(text.slice(0, MAX_LINE))?.[0];
  return (address ?? text.replaceAll("*", "").trim().slice(0, MAX_NAME)) || EARLIER;
}

const trimmed = (line: string | undefined) => (line ?? "").slice(0, MAX_LINE).trim();

function unquote(lines: readonly string[]): string {
  return lines
    .map((line) => line.replace(/^(?: ?>){1,20} ?/, ""))
    .join("\n")
    .trim();
}
