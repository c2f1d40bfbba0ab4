/** IP addresses of peers: one spelling for each, the network that rate limits count, and lists of networks. */
import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

/** Internet providers give each customer at least a /64, so one machine can use 2^64 addresses. */
const COUNTED_GROUPS = 4;
const MAPPED = '::ffff:';
/** The bits before the IPv4 address in an IPv4-mapped IPv6 address. */
const MAPPED_BITS = 96;
const BITS = { ipv4: 32, ipv6: 128 } as const;

/**
 * One spelling for each address: mapped IPv4 as IPv4, IPv6 in short form, without a zone. Undefined if the text is no
 * address.
 */
export function plainAddress(text: string): string | undefined {
  const address = text.replace(/%.*/s, '');
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const short = new SocketAddress({ address, family: 'ipv6' }).address.toLowerCase();
  const v4 = short.startsWith(MAPPED) ? short.slice(MAPPED.length) : '';
  return isIPv4(v4) ? v4 : short;
}

/**
 * The network that rate limits count: an IPv4 address, or the /64 of an IPv6 address. Expects the form of
 * `plainAddress`.
 */
export function countedNetwork(address: string): string {
  if (!isIPv6(address)) return address;
  const [front = '', back] = address.split('::');
  const groups = front === '' ? [] : front.split(':');
  const left = back === undefined || back === '' ? 0 : back.split(':').length + (back.includes('.') ? 1 : 0);
  const zeros = back === undefined ? 0 : 2 * COUNTED_GROUPS - groups.length - left;
  const all = [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(back ? back.split(':') : [])];
  return `${all.slice(0, COUNTED_GROUPS).join(':')}::/64`;
}

/** A list of networks, written as `10.0.0.0/8`, `fd00::/8` or single addresses. */
export class Networks {
  readonly #list = new BlockList();

  /** Throws a `TypeError` that says how to write a network. */
  constructor(networks: readonly string[]) {
    for (const text of networks) this.#add(text);
  }

  /** Expects the form of `plainAddress`. */
  has(address: string): boolean {
    return isIP(address) !== 0 && this.#list.check(address, familyOf(address));
  }

  #add(text: string): void {
    const [, before = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
    const address = plainAddress(before);
    if (address === undefined || before.includes('%')) throw wrongNetwork(text);
    const family = familyOf(address);
    const isMapped = family === 'ipv4' && isIPv6(before);
    const prefix = bits === undefined ? BITS[family] : Number(bits) - (isMapped ? MAPPED_BITS : 0);
    if (prefix > BITS[family] || prefix < 0) throw wrongNetwork(text);
    if (prefix === 0) throw new TypeError(`${text} is every address there is: name the network of the proxy alone`);
    this.#list.addSubnet(address, prefix, family);
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

function wrongNetwork(text: string): TypeError {
  return new TypeError(`"${text}" is not a network: write it as 10.0.0.0/8, fd00::/8 or 192.168.1.7`);
}
