import { useRef, useState } from "preact/hooks";
import { request } from "../../state/app.ts";
import { useHint } from "../../state/use-app.ts";
import { ask, type SkillProposal } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button, Form } from "../../widgets/controls.tsx";
import { Field } from "../../widgets/field.tsx";
import { toast } from "../../widgets/toast.tsx";
import { SkillOffer } from "./skill-offer.tsx";

const words = text.tools.skills.adding;

/** Adds a skill from its address or from an archive, after showing what it brings and which scripts would run. */
export function AddSkill({ onAdded }: { onAdded(): void }) {
  const picker = useRef<HTMLInputElement>(null);
  const [from, setFrom] = useState("");
  const [archive, setArchive] = useState<File>();
  const [offer, setOffer] = useState<SkillProposal>();
  const { hint, during } = useHint();

  const find = async () => {
    setArchive(undefined);
    setOffer(await during(words.checking, ask("POST", "/api/skills/find", { from: from.trim() })));
  };
  const examine = async (file: File | undefined) => {
    if (!file) return;
    setArchive(file);
    const form = new FormData();
    form.set("archive", file);
    setOffer(await during(words.checking, request<SkillProposal>("POST", "/api/skills/examine", form)));
  };
  const add = async () => {
    if (!offer || !(await during(words.adding, install(offer, archive)))) return;
    setOffer(undefined);
    setFrom("");
    toast(words.added(offer.name));
    onAdded();
  };

  if (offer) return <SkillOffer of={offer} hint={hint} onAgree={add} onCancel={() => setOffer(undefined)} />;
  return (
    <Form class="fields" aria-label={words.label} onSubmit={find}>
      <Field label={words.where} name="from" help={words.help}>
        {(field) => (
          <input
            {...field}
            required
            maxLength={2048}
            spellcheck={false}
            autocomplete="off"
            value={from}
            onInput={(event) => setFrom(event.currentTarget.value)}
          />
        )}
      </Field>
      <span class="row">
        <Button label={text.tools.find.look} type="submit" class="primary" disabled={hint !== ""} />
        <Button label={words.choose} disabled={hint !== ""} onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          class="unseen"
          type="file"
          accept=".zip,.tar.gz,.tgz"
          aria-label={words.archive}
          tabIndex={-1}
          onChange={({ currentTarget }) => {
            void examine(currentTarget.files?.[0]);
            currentTarget.value = "";
          }}
        />
        <span role="status" class="soft">
          {hint}
        </span>
      </span>
    </Form>
  );
}

/** Adds what was shown, or puts it in place of the version before; `archive` where it was uploaded. */
export function install(offer: SkillProposal, archive?: File): Promise<unknown> {
  const { digest, from, signed, replaces } = offer;
  const isOtherSigner = replaces?.signer !== undefined;
  if (!archive) {
    const agreed = { allow_unsigned: !signed, allow_signer_change: isOtherSigner };
    return request("POST", "/api/skills/install", { from, digest, ...agreed });
  }
  const form = new FormData();
  form.set("archive", archive);
  form.set("digest", digest);
  form.set("allow_signer_change", String(isOtherSigner));
  return request("POST", "/api/skills", form);
}
