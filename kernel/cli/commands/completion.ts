/** `postern completion <shell>`: a script that completes commands and options, made from the commands themselves. */
import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

/** Every command path with the words that may follow it. */
function vocabulary(command: Command, path: readonly string[] = []): Map<string, string[]> {
  const commands = command.createHelp().visibleCommands(command);
  const options = command.createHelp().visibleOptions(command);
  const words = [
    ...commands.map((sub) => sub.name()),
    ...options.flatMap(({ long }) => (long ? [long] : [])),
  ];
  const all = new Map([[path.join(" "), words]]);
  for (const sub of command.commands) {
    for (const [key, value] of vocabulary(sub, [...path, sub.name()])) all.set(key, value);
  }
  return all;
}

export function completionScript(program: Command, shell: Shell): string {
  const entries = [...vocabulary(program)];
  if (shell === "fish") {
    const offers = entries.flatMap(([path, words]) => words.map((word) => ({ path, word })));
    return offers
      .map(({ path, word }) => `complete -c postern -f -n '${fishCondition(path)}' -a '${word}'\n`)
      .join("");
  }
  const cases = entries.map(([path, words]) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n");
  // Walks the typed words as long as they name commands, then offers what may follow there.
  const bash = `_postern() {
  local path="" word words
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _postern postern
`;
  return shell === "zsh" ? `autoload -U +X bashcompinit && bashcompinit\n${bash}` : bash;
}

function fishCondition(path: string): string {
  return path === ""
    ? "__fish_use_subcommand"
    : `string match -q -- "${path}*" (string join " " (commandline -opc)[2..])`;
}
