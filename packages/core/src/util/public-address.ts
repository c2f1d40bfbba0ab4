/**
 * Which addresses belong to the internet. Servers on this machine and in the networks around it trust whoever reaches
 * them, so requests that a stranger can cause are checked: a name is looked up once, and the request goes to the
 * address that was checked.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** Looks up all addresses of a name. */
export type Resolve = (name: string) => Promise<readonly Address[]>;

export async function systemLookup(name: string): Promise<readonly Address[]> {
  return lookup(name, { all: true });
}

/** A name must not be contacted: it does not exist, or is not on the internet. */
export class AddressError extends Error {
  override readonly name = 'AddressError';
  constructor(
    readonly reason: 'unknown' | 'private',
    host: string,
  ) {
    super(
      reason === 'unknown'
        ? `There is no host named ${host}.`
        : `${host} is an address of this machine or of a private network.`,
    );
  }
}

export interface PinOptions {
  readonly resolve?: Resolve | undefined;
  /** Decides whether a server at this address may be contacted. */
  readonly isPublic?: ((address: string) => boolean) | undefined;
}

/** The address to connect to for the host of a URL; an IPv6 address may be in brackets. Throws an `AddressError`. */
export async function pinnedAddress(hostname: string, options: PinOptions = {}): Promise<Address> {
  const { resolve = systemLookup, isPublic = isPublicAddress } = options;
  const name = hostname.replace(/^\[|\]$/g, '');
  const literal = isIP(name);
  const found = literal ? [{ address: name, family: literal }] : await resolve(name).catch(() => []);
  const [first] = found;
  if (!first) throw new AddressError('unknown', name);
  // A name that has one private address among public ones may be a trap.
  if (!found.every(({ address }) => isPublic(address))) throw new AddressError('private', name);
  return first;
}

/** A lookup for a request that always returns the checked address, even if the name would be looked up again. */
export function pinnedLookup({ address, family }: Address): LookupFunction {
  return (_name, options, done) => (options.all ? done(null, [{ address, family }]) : done(null, address, family));
}

/** Addresses that cannot be reached from the internet, or that mean this machine: RFC 6890 and its successors. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
  ] as const),
  ...([
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 3],
  ] as const),
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv4');
/** The address space allocated to the internet. */
const IPV6_INTERNET = new BlockList();
IPV6_INTERNET.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23], // protocol assignments, including tunnels to any IPv4 address
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4: contains an IPv4 address
  ['3fff::', 20],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv6');

export function isPublicAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  if (family === 4) return !NOT_PUBLIC.check(plain, 'ipv4');
  return family === 6 && IPV6_INTERNET.check(plain, 'ipv6') && !NOT_PUBLIC.check(plain, 'ipv6');
}
