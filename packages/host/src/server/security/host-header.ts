/**
 * Which names a request may use for this host. A page can make its own name point at this machine (DNS rebinding), but
 * it cannot make the browser say another name than the page's.
 */

/** The names of the machine itself, as they stand in a Host header. The last two are one address. */
export const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'] as const;

export interface Authority {
  /** In lower case; an IPv6 address with its brackets. */
  readonly name: string;
  readonly port: number | undefined;
}

export interface HostPolicy {
  readonly port: number;
  readonly names: ReadonlySet<string>;
}

/** `name`, `name:port` or `[address]:port`, and nothing around it. */
export function parseAuthority(text: string): Authority | undefined {
  const match = /^(\[[\da-f:.]+\]|[\w-]+(?:\.[\w-]+)*)(?::(\d{1,5}))?$/i.exec(text);
  if (match?.[1] === undefined) return undefined;
  return { name: match[1].toLowerCase(), port: match[2] === undefined ? undefined : Number(match[2]) };
}

/** Without a port is fine: there is nothing that a page could gain by leaving it out. */
export function isOwnHost(header: string, policy: HostPolicy): boolean {
  const authority = parseAuthority(header);
  if (authority === undefined || !policy.names.has(authority.name)) return false;
  return authority.port === undefined || authority.port === policy.port;
}

/** An address as it stands in a Host header or a URL. */
export function bracketed(address: string): string {
  return address.includes(':') && !address.startsWith('[') ? `[${address.toLowerCase()}]` : address.toLowerCase();
}
