/** Calendars and address books on a server, by CalDAV and CardDAV. */
import { Refusal } from "./refusal.ts";
import { all, type Element, escapeXml, find, parseXml } from "./xml.ts";

export interface Answer {
  readonly status: number;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Send = (
  method: string,
  url: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
) => Answer;

export interface Collection {
  readonly url: string;
  readonly name: string;
}

export interface Resource {
  /** Its path on the server. */
  readonly id: string;
  readonly version: string;
  readonly text: string;
}

const DAV = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:A="urn:ietf:params:xml:ns:carddav"';
const MAX_COLLECTIONS = 20;
const MAX_ANSWER = 4 * 1024 * 1024;

export type Dav = ReturnType<typeof openDav>;

/** `server`: its address, below which everything is, such as https://dav.example.com. */
export function openDav(server: string, send: Send) {
  const origin = /^https?:\/\/[^/]+/.exec(server)?.[0] ?? "";

  /** An id is a path: whatever it says, the request goes to this server. */
  function urlOf(href: string): string {
    const path = href.startsWith(`${origin}/`) ? href.slice(origin.length) : href;
    if (!/^\/(?!\/)[!-~]*$/.test(path))
      throw new Refusal(`"${href.slice(0, 200)}" is not a path on the server.`);
    return origin + path;
  }

  function ask(
    method: string,
    url: string,
    headers: Readonly<Record<string, string>>,
    body?: string,
  ): Answer {
    const answer = send(method, url, headers, body);
    const { status } = answer;
    if (answer.body.length > MAX_ANSWER)
      throw new Refusal("The server's answer is larger than 4 MiB. Ask for fewer days.");
    if (status === 401 || status === 403)
      throw new Refusal(`The server refused that (${status}). Check the user name and the password.`);
    if (status === 404) throw new Refusal("There is no such event or calendar on the server (404).");
    return answer;
  }

  function multistatus(method: string, url: string, depth: "0" | "1", body: string): readonly Element[] {
    const headers = { depth, "content-type": "application/xml; charset=utf-8" };
    const { status, body: text } = ask(method, url, headers, `<?xml version="1.0" encoding="utf-8"?>${body}`);
    if (status !== 207) throw new Refusal(`The server answered ${method} with status ${status}.`);
    return all(find(parseXml(text), "multistatus"), "response");
  }

  const propfind = (url: string, depth: "0" | "1", props: string) =>
    multistatus("PROPFIND", url, depth, `<propfind ${DAV}><prop>${props}</prop></propfind>`);

  function hrefIn(url: string, prop: string, name: string): string | undefined {
    const [response] = propfind(url, "0", prop);
    const href = find(propsOf(response), name, "href")?.text.trim();
    return href === undefined || href === "" ? undefined : urlOf(href);
  }

  function homeOf(prop: string, name: string): string {
    const base = `${server.replace(/\/$/, "")}/`;
    const principal = hrefIn(base, "<current-user-principal/>", "current-user-principal");
    const home = principal === undefined ? undefined : hrefIn(principal, prop, name);
    return home ?? base;
  }

  function collections(home: string, kind: string): readonly Collection[] {
    const props = "<resourcetype/><displayname/><C:supported-calendar-component-set/>";
    return propfind(home, "1", props)
      .flatMap((response) => {
        const found = propsOf(response);
        const href = find(response, "href")?.text.trim() ?? "";
        if (find(found, "resourcetype", kind) === undefined) return [];
        const components = all(find(found, "supported-calendar-component-set"), "comp");
        if (components.length > 0 && !components.some(({ attributes }) => /VEVENT/i.test(attributes)))
          return [];
        const name = find(found, "displayname")?.text.trim() || href;
        return [{ url: urlOf(href), name: name.slice(0, 200) }];
      })
      .slice(0, MAX_COLLECTIONS);
  }

  function resources(url: string, body: string, data: string): readonly Resource[] {
    return multistatus("REPORT", url, "1", body).flatMap((response) => {
      const found = propsOf(response);
      const text = find(found, data)?.text;
      const href = find(response, "href")?.text.trim();
      if (text === undefined || href === undefined) return [];
      return [{ id: urlOf(href).slice(origin.length), version: find(found, "getetag")?.text ?? "", text }];
    });
  }

  return {
    calendars: () => collections(homeOf("<C:calendar-home-set/>", "calendar-home-set"), "calendar"),
    addressBooks: () =>
      collections(homeOf("<A:addressbook-home-set/>", "addressbook-home-set"), "addressbook"),
    /** `from` and `to` such as 20261120T000000Z. */
    events({ url }: Collection, from: string, to: string): readonly Resource[] {
      const filter = `<C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT"><C:time-range start="${from}" end="${to}"/></C:comp-filter></C:comp-filter>`;
      const query = `<C:calendar-query ${DAV}><prop><getetag/><C:calendar-data/></prop><C:filter>${filter}</C:filter></C:calendar-query>`;
      return resources(url, query, "calendar-data");
    },
    contacts({ url }: Collection, words: string, most: number): readonly Resource[] {
      const match = `<A:text-match collation="i;unicode-casemap" match-type="contains">${escapeXml(words)}</A:text-match>`;
      const filters = ["FN", "EMAIL"].map((name) => `<A:prop-filter name="${name}">${match}</A:prop-filter>`);
      const query = `<A:addressbook-query ${DAV}><prop><getetag/><A:address-data/></prop><A:filter test="anyof">${filters.join("")}</A:filter><A:limit><A:nresults>${most}</A:nresults></A:limit></A:addressbook-query>`;
      return resources(url, query, "address-data");
    },
    read(id: string): Resource {
      const { status, headers, body } = ask("GET", urlOf(id), { accept: "text/calendar" });
      if (status !== 200) throw new Refusal(`The server answered with status ${status}.`);
      return { id, version: headers["etag"] ?? "", text: body };
    },
    /** `version`: what it replaces; without one there must be nothing yet. Returns the new version, if the server tells. */
    write(id: string, text: string, version: string | undefined): string {
      const condition: Record<string, string> =
        version === undefined ? { "if-none-match": "*" } : { "if-match": version };
      const headers = { "content-type": "text/calendar; charset=utf-8", ...condition };
      const { status, headers: answered } = ask("PUT", urlOf(id), headers, text);
      settle(status);
      return answered["etag"] ?? "";
    },
    remove(id: string, version: string): void {
      settle(ask("DELETE", urlOf(id), { "if-match": version }).status);
    },
    idIn: ({ url }: Collection, name: string) => `${url.slice(origin.length).replace(/\/?$/, "/")}${name}`,
  };
}

function settle(status: number): void {
  if (status === 412)
    throw new Refusal(
      "Someone else has changed this event since you read it. Nothing was changed: read it again first.",
    );
  if (status < 200 || status > 299)
    throw new Refusal(`The server answered with status ${status}; nothing was changed.`);
}

/** The properties that were found. */
function propsOf(response: Element | undefined): Element | undefined {
  const found = all(response, "propstat").find((one) => / 200(?: |$)/.test(find(one, "status")?.text ?? ""));
  return find(found, "prop");
}
