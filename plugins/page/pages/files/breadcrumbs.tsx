import { filesLink, folderOf, nameIn } from "../../state/files.ts";
import { text } from "../../text/text.ts";

export function Breadcrumbs({ path }: { path: string }) {
  const steps: string[] = [];
  for (let step: string | undefined = path; step !== undefined; step = folderOf(step)) steps.unshift(step);
  // A named workspace is beside the user's own.
  if (steps[0] !== "/") steps.unshift("/");
  return (
    <nav class="breadcrumbs" aria-label={text.files.path}>
      <ol>
        {steps.map((step) => (
          <li key={step}>
            <a href={filesLink(step)} aria-current={step === path ? "page" : undefined} dir="auto">
              {step === "/" ? text.pages.files : step.endsWith(":/") ? step.slice(0, -2) : nameIn(step)}
            </a>
          </li>
        ))}
      </ol>
    </nav>
  );
}
