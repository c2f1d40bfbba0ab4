/** Addresses as people may see them. Some hold a name and a password, which are nobody else's business. */

/** What stands between `//` and `@`. */
const LOGIN = /(\b[a-z][a-z\d+.-]*:\/\/)[^\s/?#"'<>]*@/gi;

/** The same address, without what it tells the server alone. */
export function shownAddress(text: string): string {
  if (!URL.canParse(text)) return 'something that is not an address';
  const { protocol, host, pathname } = new URL(text);
  return `${protocol}//${host}${pathname}`;
}

/** Whether an address holds a name or a password. */
export function hasLogin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== '' || password !== '';
}

/** Words of others, which may repeat the addresses that they were given. */
export function withoutLogins(text: string): string {
  return text.replace(LOGIN, '$1');
}
