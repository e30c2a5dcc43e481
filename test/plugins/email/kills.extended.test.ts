import { expect, test } from "vitest";
import { describeKills, killRounds } from "../../support/processes/chat-kills.ts";
import { describeWithMail } from "../../support/servers/mail-server.ts";
import { emailUnderKills } from "../../support/services/email-kills.ts";

describeWithMail("kill -9", () => {
  test("of ten kills no mail is lost, and answers keep their order", async () => {
    const counted = await killRounds(await emailUnderKills(), 10);
    expect(counted, describeKills(counted)).toMatchObject({
      kills: 10,
      lost: [],
      disordered: 0,
      strange: [],
    });
  });
});
