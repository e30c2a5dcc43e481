import { useRef, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type ToolProposal } from "../../state/wire.ts";
import { Proposal } from "./proposal.tsx";

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
  const [hint, setHint] = useState("");
  const [upload, setUpload] = useState<Upload>();
  const [proposal, setProposal] = useState<ToolProposal>();

  const take = async (files: readonly File[]) => {
    const component = files.find(({ name }) => name.endsWith(".wasm"));
    const capabilities = files.find(({ name }) => name.endsWith(".json"));
    if (!component || !capabilities)
      return setHint("Drop both files: the component (.wasm) and its capabilities file (.json).");
    const given = { name: component.name.replace(/\.wasm$/, ""), component, capabilities };
    setHint("Checking the component…");
    setProposal(undefined);
    setUpload(given);
    const examined = await attempt(() =>
      ask<ToolProposal>("POST", "/api/tools/examine", formOf(given, false)),
    );
    setHint("");
    setProposal(examined);
  };
  const install = async () => {
    if (!upload) return;
    setHint("Installing…");
    const installed = await attempt(() =>
      ask("POST", "/api/tools", formOf(upload, proposal?.replaces !== undefined)),
    );
    setHint("");
    if (!installed) return;
    setUpload(undefined);
    setProposal(undefined);
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
        onAgree={() => void install()}
        onCancel={() => setUpload(undefined)}
      />
    );
  }
  return (
    <section
      class={`drop ${isOver ? "over" : ""}`}
      aria-label="Install a tool"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <p>
        Drop a component and its capabilities file here to install a tool. You can review what it may do
        first.
      </p>
      <button type="button" onClick={() => picker.current?.click()}>
        Choose files
      </button>
      <input
        ref={picker}
        class="unseen"
        type="file"
        multiple
        accept=".wasm,.json"
        aria-label="The component and its capabilities file"
        tabIndex={-1}
        onChange={(event) => void take([...(event.currentTarget.files ?? [])])}
      />
      <p role="status">{hint}</p>
    </section>
  );
}
