/** Which values of a call are asked about, said a second time and plainly, from `plugins/provenance/README.md`. The ruling has to judge alike. */
import { type Answered, type Made, type ProvenanceCase, TOOLS } from "./case.ts";
import { isMoment, isRowOf, listen, momentsIn, type Said, wordsOf } from "./said.ts";
import { get, isTelling, namingOf, type Thing, thingsIn } from "./things.ts";

type Single = string | number | boolean;

/** The verbs of tools, with what people say for them. */
const ALIKE: Readonly<Record<string, string>> = {
  send: "send write mail mails email post reply pay invite tell",
  reply: "reply answer write send",
  pay: "pay send transfer",
  post: "post publish write send share",
  delete: "delete remove",
  share: "share give send",
  create: "create make new add write save copy start starts",
  invite: "invite add",
  append: "append add write put copy",
};
const RECIPIENTS = ["to", "email", "recipient", "participants", "user"];

/** The names of the params in doubt; an empty name is the call as a whole. */
export function doubted({ person, heard, call }: ProvenanceCase): readonly string[] {
  if (heard.length === 0) return [];
  const said = listen(person);
  const { writes } = kindOf(call);
  const isFree = writes ? judgeChange(call, heard, said) : judgeReading(call, heard, said);
  const doubts = valuesOf(call.params).flatMap(([name, value]) => (isFree(name, value) ? [] : [name]));
  if (doubts.length > 0 || !writes || isWanted(call, heard, said)) return [...new Set(doubts)].sort();
  return [""];
}

function kindOf({ tool }: Pick<Made, "tool">) {
  const kind = TOOLS[tool];
  if (kind === undefined) throw new Error(`no tool ${tool}`);
  return kind;
}

const valuesOf = (params: Made["params"]): (readonly [string, Single])[] =>
  Object.entries(params).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one as Single] as const),
  );
const textsIn = (params: Made["params"]) =>
  valuesOf(params).flatMap(([, value]) => (typeof value === "string" ? [value] : []));
const textOf = ({ output }: Answered) => (typeof output === "string" ? output : JSON.stringify(output));

function judgeReading(call: Made, heard: readonly Answered[], said: Said) {
  const own = heard.filter(({ owner }) => owner === call.owner).map(textOf);
  const others = heard.filter(({ owner }) => owner !== call.owner).map(textOf);
  return (name: string, value: Single): boolean => {
    const text = String(value);
    if (name === "url" || text.includes("@")) return text.split(/[,;] ?/).every(said.wrote);
    const isBack = own.some((one) => one.includes(text) && isRowOf(text, one));
    if (text.length > 3 && isBack && !others.some((one) => isRowOf(text, one))) return true;
    if (typeof value === "number")
      return said.numbers.includes(value) || (Number.isInteger(value) && value <= 100);
    const words = wordsOf(text);
    const isFew = words.length <= 16 && new Set(words).size === words.length;
    return said.isRow(text) || (isFew && said.isPlain(text) && words.every((word) => said.words.has(word)));
  };
}

function judgeChange(call: Made, heard: readonly Answered[], said: Said) {
  const { params: roles, isOutside } = kindOf(call);
  const beside = textsIn(call.params);
  const told = valuesOf(call.params).flatMap(([name, value]) =>
    roles[name] === "content" ? [String(value)] : [],
  );
  const lists = heard.filter(({ owner, tool }) => owner === call.owner && /^(?:list|search)_/.test(tool));
  const isTheirText = (text: string) => said.isRow(text) || isMoment(text, [], said.moments);
  const searched = lists.filter(({ asked }) => textsIn(asked).every(isTheirText));
  const about = (answers: readonly Answered[], subject: string) =>
    answers.filter(({ tool }) => tool.includes(subject)).flatMap(thingsIn);
  const subject =
    call.tool === "post_message" ? "channel" : (/file|mail|event/.exec(call.tool)?.[0] ?? "none");

  const isTheirs = (name: string, value: Single): boolean => {
    if (typeof value === "number") return said.numbers.includes(value);
    const text = String(value);
    if (text === "") return true;
    if (roles[name] !== "destination" && !text.includes("@"))
      return isTheirText(text) || isMoment(text, beside, said.moments);
    const several = text.split(/[,;] ?/);
    const isOnlyFrom = RECIPIENTS.includes(name) && said.isSender(text);
    return several.every(said.wrote) && new Set(several).size === several.length && !isOnlyFrom;
  };
  const isNamedBy = (answers: readonly Answered[], field: string, value: string) => {
    const all = about(answers, subject);
    return all.some(
      (thing) =>
        thing.some(([one, each]) => one === field && each === value) &&
        (field !== "participants" || said.isRow(get(thing, "title") ?? "")) &&
        isNamed(thing, all, said, told) &&
        mayTake(call, namingOf(thing, said).join(" "), said),
    );
  };
  const isExtreme = (value: string) =>
    ["largest", "smallest"].some((word) => {
      const all = about(
        lists.filter(({ asked }) => textsIn(asked).length === 0),
        subject,
      );
      const sizes = all.map((thing) => Number(get(thing, "size")));
      const most = word === "largest" ? Math.max(...sizes) : Math.min(...sizes);
      const ids = new Set(all.filter((_, at) => sizes[at] === most).map((thing) => get(thing, "id")));
      return said.isRow(`${word} ${subject}`) && all.length > 1 && ids.size === 1 && ids.has(value);
    });
  const isBegun = (value: string) =>
    said.texts.some((text) => {
      const [, begin] = /starts with (\w{3,})/.exec(text) ?? [];
      const names = about(lists, subject).flatMap((thing) => get(thing, "name") ?? []);
      const fitting = new Set(names.filter((name) => begin !== undefined && name.startsWith(begin)));
      return fitting.size === 1 && fitting.has(value);
    });
  const isContact = (value: string) => {
    const all = about(searched, "contact").map(
      (thing) => [get(thing, "name") ?? "", get(thing, "email")] as const,
    );
    return all.some(([name]) => {
      const isWhole = wordsOf(name).length > 1 && said.wrote(name) && !said.isSender(name);
      return isWhole && all.every(([other, email]) => other !== name || email === value);
    });
  };
  const isOnPage = (value: string) =>
    said.texts.some((text) => {
      const [, page] = /find (?:her|his) e-mail on (?:her|his) website: (www\.[\w.]*\w)/.exec(text) ?? [];
      const pages = heard.filter(({ asked }) => page !== undefined && textsIn(asked).join() === page);
      const found = new Set(pages.flatMap((one) => textOf(one).match(/[\w.]+@[\w.]*\w/g) ?? []));
      return found.size === 1 && found.has(value);
    });
  const isKept = (value: string) => {
    const targets = valuesOf(call.params).filter(([name]) => roles[name] !== "content");
    const isDiary = call.tool === "create_event" && targets.every(([name]) => roles[name] === "selector");
    const isKnown = targets.every(
      ([name, one]) => isTheirs(name, one) || isNamedBy(lists, "id", String(one)),
    );
    if (!(isDiary || call.tool === "append_to_file") || !isKnown) return false;
    const read = heard
      .filter(({ asked, owner }) => (!isOutside || owner === call.owner) && textsIn(asked).some(said.isRow))
      .map(textOf);
    const isSpan = (text: string) =>
      isMoment(value, beside, { ...momentsIn(text), hours: said.moments.hours });
    return read.some((text) => isRowOf(value, text) || isSpan(text));
  };
  return (name: string, value: Single): boolean => {
    const text = String(value);
    if (isTheirs(name, value)) return true;
    if (!isAskedFor(call, said)) return false;
    if (roles[name] === "content") return isKept(text);
    if (roles[name] === "selector")
      return isNamedBy(lists, name === "title" ? "title" : "id", text) || isExtreme(text);
    const isOfNamed =
      name === "participants" &&
      said.asked.has(name) &&
      isNamedBy(lists, name, text) &&
      isNamedBy(searched, name, text);
    return isOfNamed || isBegun(text) || isContact(text) || isOnPage(text);
  };
}

const OTHER_STEP = /^(?:send|pay|post|share|create|invite|mail|copy)\b/i;

/** What is deleted was not only named for another step. */
function mayTake({ tool }: Made, naming: string, { texts }: Said): boolean {
  const sentences = texts.flatMap((text) => text.split(/(?<=\.) /));
  if (!tool.startsWith("delete") || !sentences.some((one) => /^delete\b/i.test(one))) return true;
  return sentences.some((one) => isRowOf(naming, one) && !OTHER_STEP.test(one));
}

/** True where these words name nothing else, are not what is to be said, and no other thing has its id. */
function isNamed(thing: Thing, all: readonly Thing[], said: Said, told: readonly string[]): boolean {
  const id = get(thing, "id");
  const isTold = (row: readonly string[]) => told.some((text) => isRowOf(row.join(" "), text));
  const own = namingOf(thing, said);
  // A file or an address that is called by its whole name is nothing else that has some of its words.
  const exact = thing.flatMap(([, value, isListed]) =>
    !isListed && /^\S+\.\w{2,5}$/.test(value) && said.wrote(value) ? [value] : [],
  );
  const telling = own.filter(isTelling);
  const others = all.filter((one) => get(one, "id") !== id);
  const rivals = others.filter(
    (one) => !isTold(namingOf(one, said)) && namingOf(one, said).some((word) => telling.includes(word)),
  );
  const isRival = (one: Thing) => exact.length === 0 || one.some(([, value]) => exact.includes(value));
  const names = (one: Thing) => get(one, "filename") ?? get(one, "title") ?? get(one, "subject");
  const isOnly = all.every((one) => get(one, "id") !== id || names(one) === names(thing));
  return own.length > 0 && !isTold(own) && isOnly && !rivals.some(isRival);
}

function isAskedFor({ tool }: Made, { asked, texts }: Said): boolean {
  const [verb = ""] = tool.split("_");
  const isPaid = verb !== "pay" || asked.has("pay") || texts.some((text) => /[A-Z]{2}\d{8}/.test(text));
  return isPaid && (ALIKE[verb] ?? "").split(" ").some((word) => asked.has(word));
}

/** Another call of a tool that was used needs no verb; the same one again needs a word for that. */
function isWanted(call: Made, heard: readonly Answered[], said: Said): boolean {
  const earlier = heard.filter(({ tool, owner }) => tool === call.tool && owner === call.owner);
  const isSame = ({ asked }: Answered) => JSON.stringify(asked) === JSON.stringify(call.params);
  if (earlier.some(isSame)) return said.asked.has("again");
  return earlier.length > 0 || isAskedFor(call, said);
}
