import Shield from "lucide/dist/esm/icons/shield.mjs";
import { PAGES, type PageEntry } from "../pages/pages.tsx";
import { text } from "../text/text.ts";
import { Page } from "../widgets/bar.tsx";
import { Icon } from "../widgets/icon.tsx";

/** The way to every page that is for operators. */
export const ADMIN: PageEntry = {
  name: "admin",
  title: text.frame.admin,
  icon: Shield,
  group: "admin",
  load: async () => AdminPage,
};

const UNDER_ADMIN = PAGES.filter(({ group }) => group === "more" || group === "admin");

/** True for the pages that an operator finds under Admin. */
export const isOfAdmin = (name: string): boolean =>
  name === ADMIN.name || UNDER_ADMIN.some((page) => page.name === name);

function AdminPage() {
  return (
    <Page title={text.frame.admin}>
      <ul class="known">
        {UNDER_ADMIN.map(({ name, title, icon }) => (
          <li key={name}>
            <a class="button" href={`#/${name}`}>
              <Icon of={icon} />
              <b>{title}</b>
              <span class="soft">{text.frame.adminPages[name]}</span>
            </a>
          </li>
        ))}
      </ul>
    </Page>
  );
}
