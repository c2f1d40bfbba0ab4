/**
 * The connection token. It arrives in the fragment of the address, which no server ever sees, and moves from there into
 * the memory of this tab before anything else happens.
 */
const KEY = 'atrium.token';

/** Takes a token out of the address and says whether there was one. Call it before anything reads the address. */
export function takeTokenFromAddress(): boolean {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return false;
  if (token !== '') keepToken(token);
  history.replaceState(null, '', `${location.pathname}${location.search}#/`);
  return true;
}

export function keptToken(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
}

/** What a person pasted may be the token itself or the whole link from the start screen. */
export function tokenIn(pasted: string): string {
  const text = pasted.trim();
  const fromLink = /[#&?](?:token|tkn)=([^&\s]+)/.exec(text)?.[1];
  return fromLink ?? text;
}

/** A link that opens this page elsewhere, with the token in the part that stays in the browser. */
export function linkWithToken(): string {
  const token = keptToken();
  return token === undefined ? `${location.origin}/` : `${location.origin}/#token=${token}`;
}
