/** Network addresses: which ones stay on this machine, and how a person may see them. */
import { isIPv4 } from 'node:net';

/** Whether an address never leaves this machine. Names are not looked up: only `localhost` counts. */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (address === 'localhost' || address === '::1') return true;
  const v4 = address.replace(/^::ffff:/, '');
  return isIPv4(v4) && v4.startsWith('127.');
}

/** The name and password between `//` and `@`. */
const LOGIN = /(\b[a-z][a-z\d+.-]*:\/\/)[^\s/?#"'<>]*@/gi;

/** The same address, without name, password and query, which are for the server alone. */
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

/** Takes names and passwords out of a foreign text, which may repeat the addresses that it was given. */
export function withoutLogins(text: string): string {
  return text.replace(LOGIN, '$1');
}
