/** `postern completion <shell>`: a script that asks `postern complete` what may come next. Shells run it when they start, so it loads little. */
import { type Command, CommanderError } from "commander";
import type { OperatorContext } from "./context.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

// The word that is being typed is the last, also where it is empty. Where Postern offers nothing, the shell offers files. The other
// shells quote what they insert; bash would run what is in the name of a file that a model has chosen.
const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `_postern() {
  local line name
  COMPREPLY=()
  while IFS= read -r line; do
    printf -v name %q "\${line%%$'\\t'*}"
    COMPREPLY+=("$name")
  done < <("\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _postern postern
`,
  zsh: `_postern() {
  local -a offers
  local line name
  while IFS= read -r line; do
    name="\${line%%$'\\t'*}"
    offers+=("\${name//:/\\\\:}:\${line#*$'\\t'}")
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#offers} )); then _describe -V postern offers; else _files; fi
}
compdef _postern postern
`,
  fish: `function __postern_complete
    set -l typed (commandline -opc)
    $typed[1] complete -- $typed[2..] (commandline -ct) 2>/dev/null
end
function __postern_has_offers
    test -n "$(__postern_complete)"
end
complete -c postern -f -n __postern_has_offers -a '(__postern_complete)'
`,
};

export function register(command: Command, { print }: OperatorContext): void {
  command
    .argument("<shell>", "bash, zsh or fish")
    .addHelpText(
      "after",
      '\nExamples:\n  $ eval "$(postern completion bash)"      in ~/.bashrc; the same with zsh in ~/.zshrc\n  $ postern completion fish | source',
    )
    .action((shell: string) => {
      const known = SHELLS.find((name) => name === shell);
      if (!known)
        throw new CommanderError(
          2,
          "usage",
          `postern completion supports ${SHELLS.join(", ")}, not "${shell}"`,
        );
      print(SCRIPTS[known]);
    });
}
