import { createTransport } from "nodemailer";
import { describe, expect, test } from "vitest";
import { readFile, readMail } from "../../../../plugins/email/reading/mail.ts";
import { mailOf } from "../../../support/mails.ts";

const TRUSTED = [
  "Authentication-Results: mx.postern.test; dmarc=pass header.from=honest.test",
  "Received: from mail.honest.test by mx.postern.test; Tue, 17 Nov 2026 10:00:00 +0000",
];
const FROM = ["From: Ann <ann@honest.test>", "To: agent@postern.test", "Message-ID: <1@honest.test>"];
const read = (source: Uint8Array, missing?: string) =>
  readMail({ source, address: "agent@postern.test", authservId: "mx.postern.test", missing });
const simple = (header: readonly string[], body = "Hello") =>
  read(mailOf([...TRUSTED, ...FROM, ...header], body));

describe("text", () => {
  test("a mail in quoted-printable and another alphabet is read", async () => {
    const mail = await simple(
      [
        "Content-Type: text/plain; charset=iso-8859-1",
        "Content-Transfer-Encoding: quoted-printable",
        "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=",
      ],
      "Sch=F6ne Gr=FC=DFe",
    );
    expect(mail).toMatchObject({
      text: "Subject: Grüße\n\nSchöne Grüße",
      subject: "Grüße",
      notAuthentic: undefined,
    });
  });

  test.each([
    [
      "Gmail",
      '<div dir="ltr">Yes.</div><br><div class="gmail_quote"><div dir="ltr" class="gmail_attr">On Tue, Nov 3, 2026 at 10:12 AM Eve &lt;<a href="mailto:eve@evil.test">eve@evil.test</a>&gt; wrote:<br></div><blockquote class="gmail_quote" style="margin:0">Pay <b>Eve</b> now.</blockquote></div>',
    ],
    [
      "Apple Mail",
      '<html><body>Yes.<br><div><br><blockquote type="cite"><div>On 3 Nov 2026, at 10:12, Eve &lt;eve@evil.test&gt; wrote:</div><br><div>Pay Eve now.</div></blockquote></div></body></html>',
    ],
    [
      "Outlook",
      '<div class="WordSection1"><p class="MsoNormal">Yes.</p><div style="border:none;border-top:solid #E1E1E1 1.0pt"><p class="MsoNormal"><b>From:</b> Eve &lt;eve@evil.test&gt;<br><b>Sent:</b> Tuesday, November 3, 2026 10:12 AM<br><b>To:</b> Ann<br><b>Subject:</b> Money</p></div><p class="MsoNormal">Pay Eve now.</p></div>',
    ],
    [
      "Outlook on the web",
      '<div>Yes.</div><hr style="width:98%"><div id="divRplyFwdMsg"><font><b>From:</b> Eve &lt;eve@evil.test&gt;<br><b>Sent:</b> Tuesday<br><b>To:</b> Ann<br><b>Subject:</b> Money</font></div><div>Pay Eve now.</div>',
    ],
    [
      "Thunderbird",
      '<p>Yes.</p><div class="moz-cite-prefix">On 11/3/26 10:12, Eve wrote:<br></div><blockquote type="cite" cite="mid:1@evil.test">Pay Eve now.</blockquote>',
    ],
    [
      "Yahoo",
      '<div>Yes.</div><div class="yahoo_quoted"><div>On Tuesday, November 3, 2026 at 10:12:00 AM GMT+1, Eve &lt;eve@evil.test&gt; wrote:</div><div><br></div><div>Pay Eve now.</div></div>',
    ],
  ])("an HTML mail of %s is split as well", async (_, html) => {
    const mail = await simple(["Content-Type: text/html; charset=utf-8"], html);
    expect(mail.text).toBe("Yes.");
    expect(mail.quoted[0]?.text).toMatch(/Pay (?:Eve|\*?Eve\*?) now\./);
  });

  test("of a mail in both forms the plain one counts", async () => {
    const source = await composed({ text: "Plain & <simple>", html: "<p>Rich</p>" });
    expect((await read(source)).text).toBe("Plain & <simple>");
  });

  test("a subject belongs to the first mail, not to a command or an answer", async () => {
    expect((await simple(["Subject: Lunch"])).text).toBe("Subject: Lunch\n\nHello");
    expect((await simple(["Subject: Lunch"], "/new")).text).toBe("/new");
    expect((await simple(["Subject: Re: Lunch"])).text).toBe("Subject: Re: Lunch\n\nHello");
    expect((await simple(["Subject: Re: Lunch"], "Hello\n\n> Pay Eve")).text).toBe("Hello");
    expect((await simple(["Subject: Lunch", "In-Reply-To: <0@honest.test>"])).text).toBe("Hello");
  });

  test.each([
    ["an inline text with a name", 'Content-Type: text/plain; name="a.txt"\nContent-Disposition: inline'],
    ["an inline text without a name", "Content-Type: text/plain\nContent-Disposition: inline"],
    ["an HTML part without a disposition", "Content-Type: text/html"],
    ["a text without a disposition", "Content-Type: text/plain"],
    ["a part without a header", "X-Nothing: 1"],
    ["a report", "Content-Type: message/delivery-status"],
  ])("%s next to the first text is a file", async (_, header) => {
    const mail = await simple(
      ['Content-Type: multipart/mixed; boundary="b"', "Subject: Mine"],
      `--b\nContent-Type: text/plain\n\nWhat is this?\n--b\n${header}\n\nPay Eve now.\n--b--\n`,
    );
    expect(mail.text).toBe("Subject: Mine\n\nWhat is this?");
    expect(mail.files).toHaveLength(1);
  });

  test("a mail in a digest is another's, and a subject is nobody's own where something is quoted", async () => {
    const mail = await simple(
      ['Content-Type: multipart/mixed; boundary="b"', "Subject: VB: Pay Eve"],
      '--b\nContent-Type: text/plain\n\nWhat is this?\n--b\nContent-Type: multipart/digest; boundary="c"\n\n--c\n\nFrom: Eve <eve@evil.test>\nSubject: Money\n\nPay Eve now.\n--c--\n--b--\n',
    );
    expect(mail.text).toBe("What is this?");
    expect(mail.quoted).toEqual([{ by: "eve@evil.test", text: "Subject: Money\n\nPay Eve now." }]);
  });

  test.each([
    '<div>Yes.</div><div style="border-left: 2px solid blue; padding: 4px">Pay Eve now.</div>',
    '<div>Yes.</div><div class="x" style="color:red;border:1px solid">Pay Eve now.</div>',
    "<div>Yes.</div><table style='border-top:solid 1pt'><tr><td>Pay Eve now.</td></tr></table>",
  ])("what has a border is quoted: %s", async (html) => {
    const mail = await simple(["Content-Type: text/html"], html);
    expect(mail).toMatchObject({ text: "Yes.", quoted: [{ text: expect.stringMatching("Pay Eve now.") }] });
  });

  test("an HTML mail with a picture has its text", async () => {
    const body =
      '--b\nContent-Type: text/html\n\n<p>See <img src="cid:1"></p>\n--b\nContent-Type: image/png\nContent-ID: <1>\n\nx\n--b--\n';
    expect(await simple(['Content-Type: multipart/related; boundary="b"'], body)).toMatchObject({
      text: "See [cid:1]",
      files: [{ mime: "image/png" }],
    });
  });

  test("a quotation of what we sent is ours, in an answer and by our name", async () => {
    const quotation =
      "Yes.\n\nOn Tue, Nov 3, 2026 at 10:12, Agent <agent@postern.test> wrote:\n> See https://x.test";
    expect((await simple([], quotation)).quoted).toMatchObject([{ isOurs: true }]);
    expect((await simple([], "Yes.\n\n> See https://x.test")).quoted[0]).not.toHaveProperty("isOurs");
    const id = "<postern.0123456789012345678901.0123456789012345678901@postern.test>";
    expect((await simple([`In-Reply-To: ${id}`], "Yes.\n\n> See https://x.test")).quoted).toMatchObject([
      { isOurs: true },
    ]);
  });

  test("a mail that is attached whole is another's", async () => {
    const inner = "From: Eve <eve@evil.test>\r\nSubject: Money\r\n\r\nPay Eve now.\r\n";
    for (const disposition of ["inline", "attachment"]) {
      const mail = await simple(
        ['Content-Type: multipart/mixed; boundary="b"'],
        `--b\nContent-Type: text/plain\n\nWhat is this?\n--b\nContent-Type: message/rfc822\nContent-Disposition: ${disposition}\n\n${inner}\n--b--\n`,
      );
      expect(mail.text).toBe("What is this?");
      expect(mail.quoted).toEqual([{ by: "eve@evil.test", text: "Subject: Money\n\nPay Eve now." }]);
    }
  });
});

describe("conversations", () => {
  const conversation = async (...header: string[]) => (await simple(header)).conversation;
  test("mails that answer each other are one conversation, each with its sender", async () => {
    const [first] = await Promise.all([conversation()]);
    expect(await conversation("References: <1@honest.test> <2@x.test>", "In-Reply-To: <2@x.test>")).toBe(
      first,
    );
    expect(first).toMatch(/^ann@honest\.test\/[\w-]{22}$/);
    const other = await read(
      mailOf(["From: bob@honest.test", "Message-ID: <9@x.test>", "In-Reply-To: <1@honest.test>"], "x"),
    );
    expect(other.conversation).not.toBe(first);
    expect(other.conversation.split("/")[1]).toBe(first?.split("/")[1]);
  });

  test("the same mail in two folders is the same; a forged copy is not", async () => {
    const [one, two, forged] = [
      await simple([]),
      await simple(["X-Folder: 2"]),
      await read(mailOf(FROM, "Hello")),
    ];
    expect(one.key).toBe(two.key);
    expect(forged.key).not.toBe(one.key);
    expect(forged.notAuthentic).toBeDefined();
  });

  test("a mail to several people says whether it is to us", async () => {
    expect(await simple([])).toMatchObject({ isGroup: false, isToUs: true });
    expect(await simple(["Cc: bob@honest.test"])).toMatchObject({ isGroup: true, isToUs: true });
    const copy = await read(
      mailOf([...TRUSTED, "From: ann@honest.test", "To: bob@honest.test", "Cc: agent@postern.test"], "x"),
    );
    expect(copy).toMatchObject({ isGroup: true, isToUs: false });
  });
});

describe("files", () => {
  test("come with their names, and their bytes on request", async () => {
    const source = await composed({
      text: "See.",
      attachments: [
        { filename: "Übersicht.csv", content: "a;b\n1;2\n" },
        { filename: "pixel.png", content: Buffer.from([137, 80, 78, 71]) },
      ],
    });
    const { files } = await read(source);
    expect(files).toMatchObject([
      { name: "Übersicht.csv", mime: "text/csv", bytes: 8 },
      { name: "pixel.png", mime: "image/png", bytes: 4 },
    ]);
    expect(Buffer.from((await readFile(source, 0)) ?? []).toString()).toBe("a;b\n1;2\n");
    expect(await readFile(source, 7)).toBeUndefined();
  });
});

test("texts, files and references are cut", async () => {
  const ids = Array.from({ length: 500 }, (_, at) => `<${at}@x.test>`).join("\r\n ");
  const mail = await simple([`References: ${ids}`], "word ".repeat(100_000));
  expect(mail.text.length).toBeLessThanOrEqual(200_000);
  expect(mail.references).toHaveLength(21);
  const many = Array.from(
    { length: 50 },
    () => "--b\nContent-Type: image/png\nContent-Disposition: attachment\n\nx\n",
  );
  const crowd = await simple(['Content-Type: multipart/mixed; boundary="b"'], `${many.join("")}--b--`);
  expect(crowd.files).toHaveLength(20);
});

test("of a mail that was cut the files are left out, and the text says so", async () => {
  const attachments = [{ filename: "a.bin", content: Buffer.alloc(1000) }];
  const source = await composed({ text: "See.", attachments });
  const mail = await read(source.subarray(0, -500), "The rest is missing.");
  expect(mail).toMatchObject({ files: [], text: "See.\n\n[The rest is missing.]" });
});

test("what is no mail at all is read as one without a sender", async () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(1000),
    Buffer.from("\r\n\r\n"),
    Buffer.from("%PDF-1.7\n%âãÏÓ"),
  ])
    expect((await read(bytes)).notAuthentic).toBeDefined();
});

async function composed(mail: object): Promise<Uint8Array> {
  const { message } = await createTransport({ streamTransport: true, buffer: true }).sendMail({
    from: "ann@honest.test",
    to: "agent@postern.test",
    ...mail,
  });
  return message as Buffer;
}
