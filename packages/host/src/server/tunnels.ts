/**
 * Ways into the host that are open for a time. Each is one origin, from which a tunnel on this machine passes requests
 * on. While it is open, exactly that origin and host name count as the host's own. Requests through it never count as
 * coming from a program of this machine, although the tunnel connects from here.
 */
import { isLoopback } from '@atrium/core/util/addresses.js';
import type { RequestSource } from './forwarded.js';
import { plainAddress } from './peer-address.js';

export const TUNNELS_MAX = 8;
/** The address that all requests share when a tunnel does not say where they come from. */
const UNNAMED_ADDRESS = 'tunnel';

interface Way {
  readonly authority: string;
  readonly scheme: 'http' | 'https';
}

/** The message says why an origin cannot be opened, and what to do. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
}

export class Tunnels {
  readonly #ways = new Set<Way>();

  /** The origins as browsers know them. */
  get origins(): readonly string[] {
    return [...this.#ways].map(({ scheme, authority }) => `${scheme}://${authority}`);
  }

  /** Opens a way; the returned function closes it. */
  open(origin: string): () => void {
    const way = wayOf(origin);
    if (this.#ways.size >= TUNNELS_MAX) throw new TunnelError(`${TUNNELS_MAX} ways are open; close one first`);
    if (this.origins.includes(`${way.scheme}://${way.authority}`))
      throw new TunnelError(`${origin} is open already, for another program`);
    this.#ways.add(way);
    return () => this.#ways.delete(way);
  }

  /** For a request through a tunnel, its source as the sender sees it; otherwise the source unchanged. */
  through(source: RequestSource, headers: Readonly<Record<string, readonly string[] | undefined>>): RequestSource {
    // A trusted proxy speaks for itself.
    if (source.isProxied || !isLoopback(source.address) || this.#ways.size === 0) return source;
    // Some tunnels put the name of this machine into the Host header, and the requested name into `X-Forwarded-Host`.
    const names = [source.host, lastOf(headers['x-forwarded-host'])].map(only);
    const way = [...this.#ways].find(({ authority }) => names.includes(authority));
    if (!way) return source;
    const [from] = lastOf(headers['x-forwarded-for']);
    const address = plainAddress(from ?? '') ?? UNNAMED_ADDRESS;
    return { address, scheme: way.scheme, host: [way.authority], isProxied: true, isTunnelled: true };
  }
}

/** The value of a header that occurs exactly once. */
function only([first, another]: readonly string[]): string | undefined {
  return another === undefined ? first?.toLowerCase() : undefined;
}

/** The tunnel adds its own entry last. */
function lastOf(values: readonly string[] | undefined): readonly string[] {
  const last = values?.join(',').split(',').at(-1)?.trim();
  return last ? [last] : [];
}

/** Other machines are allowed only with encryption. */
function wayOf(origin: string): Way {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const isOrigin = url && `${url.origin}/` === url.href;
  if (!isOrigin || !/^https?:$/.test(url.protocol))
    throw new TunnelError(`"${origin}" is not an origin. Write it as https://name`);
  const isSecure = url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  if (!isSecure)
    throw new TunnelError(`${origin} is not encrypted: anyone on the network could read everything. Use https`);
  return { authority: url.host.toLowerCase(), scheme: url.protocol === 'https:' ? 'https' : 'http' };
}
