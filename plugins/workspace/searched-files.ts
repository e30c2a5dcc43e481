/** What a search reads: files in the store, and below mounts that are on this machine. */
import type { MountedPath } from "./mounts/mounts.ts";
import type { WorkspaceParts } from "./parts.ts";
import { ROOT } from "./path.ts";
import type { SearchSource } from "./search.ts";
import { searchSource } from "./tree.ts";

export function sourceOf(parts: WorkspaceParts, user: string): SearchSource {
  const stored = searchSource(parts.sql, user);
  return {
    async *files(folder) {
      if ((await parts.mounts.locate(user, folder)) === undefined) yield* stored.files(folder);
      for (const place of await searchedPlaces(parts, user, folder))
        try {
          parts.mounts.assertUsable(place);
          yield* parts.mounted.searchable(user, place);
        } catch (error) {
          // A mount that is away is no reason to find nothing elsewhere.
          if (folder !== ROOT) throw error;
        }
    },
    async read(files) {
      const kept = files.filter(({ digest }) => digest !== undefined);
      const texts = kept.length > 0 ? await stored.read(kept) : [];
      const known = new Map(kept.map((file, at) => [file, texts[at] as Uint8Array]));
      return await Promise.all(
        files.map(async (file) => {
          const text = known.get(file);
          if (text) return text;
          const place = await parts.mounts.locate(user, file.path);
          return place ? await parts.mounted.readText(place) : new Uint8Array();
        }),
      );
    },
  };
}

async function searchedPlaces(
  { mounts }: WorkspaceParts,
  user: string,
  folder: string,
): Promise<readonly MountedPath[]> {
  const place = await mounts.locate(user, folder);
  if (place) return [place];
  if (folder !== ROOT) return [];
  return (await mounts.of(user)).map((mount) => ({ mount, path: `/${mount.name}`, parts: [] }));
}
