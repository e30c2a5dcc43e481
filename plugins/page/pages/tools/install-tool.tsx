import { useRef, useState } from "preact/hooks";
import { request } from "../../state/app.ts";
import { useHint } from "../../state/use-app.ts";
import type { ToolProposal } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";
import { toast } from "../../widgets/toast.tsx";
import { Proposal } from "./proposal.tsx";

const words = text.tools.drop;

interface Upload {
  readonly name: string;
  readonly component: File;
  readonly capabilities: File;
}

function formOf({ name, component, capabilities }: Upload, replace: boolean): FormData {
  const form = new FormData();
  form.set("name", name);
  form.set("component", component);
  form.set("capabilities", capabilities);
  form.set("replace", String(replace));
  return form;
}

/** Installs a tool from two dropped files, after showing what it may do. */
export function InstallTool({ onInstalled }: { onInstalled(): void }) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const { hint, setHint, during } = useHint();
  const [upload, setUpload] = useState<Upload>();
  const [proposal, setProposal] = useState<ToolProposal>();

  const take = async (files: readonly File[]) => {
    const component = files.find(({ name }) => name.endsWith(".wasm"));
    const capabilities = files.find(({ name }) => name.endsWith(".json"));
    if (!component || !capabilities) return setHint(words.both);
    const given = { name: component.name.replace(/\.wasm$/, ""), component, capabilities };
    setProposal(undefined);
    setUpload(given);
    const asked = request<ToolProposal>("POST", "/api/tools/examine", formOf(given, false));
    setProposal(await during(words.checking, asked));
  };
  const install = async () => {
    if (!upload) return;
    const form = formOf(upload, proposal?.replaces !== undefined);
    if (!(await during(text.tools.find.installing, request("POST", "/api/tools", form)))) return;
    setUpload(undefined);
    setProposal(undefined);
    toast(text.tools.proposal.installed(upload.name));
    onInstalled();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take([...(event.dataTransfer?.files ?? [])]);
  };

  if (upload && proposal) {
    return (
      <Proposal
        name={upload.name}
        proposal={proposal}
        hint={hint}
        onAgree={install}
        onCancel={() => setUpload(undefined)}
      />
    );
  }
  return (
    <section
      class={`drop ${isOver ? "over" : ""}`}
      aria-label={words.label}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <p>{words.words}</p>
      <Button label={words.choose} class="small" onClick={() => picker.current?.click()} />
      <input
        ref={picker}
        class="unseen"
        type="file"
        multiple
        accept=".wasm,.json"
        aria-label={words.files}
        tabIndex={-1}
        onChange={(event) => void take([...(event.currentTarget.files ?? [])])}
      />
      {hint && <p role="status">{hint}</p>}
    </section>
  );
}
