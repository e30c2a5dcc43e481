/** Passwords in the URL of a connection: shown without, and known as secrets. */

// Up to the last @: a password may hold one that should have been written as %40.
const USERS_PASSWORD = /^([a-z][a-z\d+.-]*:\/\/[^:@/?#]*:)(.*)(?=@)/is;
const NAMED_PASSWORD = /([?&](?:ssl)?password=)([^&#]*)/gi;

export function withoutPassword(url: string): string {
  return url.replace(USERS_PASSWORD, "$1***").replace(NAMED_PASSWORD, "$1***");
}

/** Returns each password both encoded and decoded. */
export function passwordsIn(url: string): readonly string[] {
  const found = [USERS_PASSWORD.exec(url), ...url.matchAll(NAMED_PASSWORD)];
  return found.flatMap((match) => {
    const password = match?.[2] ?? "";
    if (password === "") return [];
    try {
      return [password, decodeURIComponent(password)];
    } catch {
      return [password];
    }
  });
}
