/** Files that programs of the machine run or read by themselves, so that changing one is more than changing a text. */
import { basename } from "node:path";
import { foldPath } from "../path.ts";
import type { MountedPath } from "./mounts.ts";

const FOLDERS = new Set(["hooks", "node_modules"]);

const NAMES = new Set(
  [
    ...[
      "package.json",
      "package-lock.json",
      "npm-shrinkwrap.json",
      "yarn.lock",
      "pnpm-lock.yaml",
      "deno.json",
    ],
    ...["pyproject.toml", "setup.py", "setup.cfg", "conftest.py", "tox.ini", "noxfile.py", "pipfile"],
    ...[
      "makefile",
      "gnumakefile",
      "justfile",
      "rakefile",
      "gemfile",
      "procfile",
      "vagrantfile",
      "jenkinsfile",
    ],
    ...["cmakelists.txt", "meson.build", "pom.xml", "build.xml", "build.sbt", "build.zig", "gradlew"],
    ...["cargo.toml", "build.rs", "go.mod", "composer.json", "mix.exs", "taskfile.yml", "compose.yml"],
    ...["compose.yaml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml", "buildspec.yml"],
    ...["cloudbuild.yaml", "authorized_keys", "crontab", "autorun.inf", "desktop.ini"],
  ].map(foldPath),
);

const PATTERNS = [
  /(?:^|\.)(?:dockerfile|containerfile)(?:\.|$)/,
  /^(?:docker-compose.*\.ya?ml|requirements.*\.txt)$/,
  /\.config\.[cm]?[jt]s$/,
  /\.(?:sh|bash|zsh|fish|ksh|csh|ps1|psm1|bat|cmd|command|vbs|scpt|desktop|service|timer|plist|lnk|url|reg)$/,
  /\.(?:mk|gradle|kts|nix|code-workspace|exe|dll|so|dylib|jar|msi)$/,
];

/** True for a dot file, what is in a dot folder, an executable file, and what tools run. `mode`: of the file, if there is one. */
export function isRun({ mount, parts }: Pick<MountedPath, "mount" | "parts">, mode = 0n): boolean {
  const names = [basename(mount.folder), ...parts].map(foldPath);
  const name = names.at(-1) ?? "";
  return (
    (mode & 0o111n) !== 0n ||
    names.some((each) => each.startsWith(".") || FOLDERS.has(each)) ||
    NAMES.has(name) ||
    PATTERNS.some((pattern) => pattern.test(name))
  );
}
