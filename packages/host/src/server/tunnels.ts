/**
 * Ways into the host that are open for a time: each is one origin, under which a tunnel on this machine passes requests on. While
 * it is open, exactly that origin and host name are the host's own. What comes through it is never taken for a program of this
 * machine, although the tunnel connects from here.
 */
import { isLoopback } from '@atrium/core/util/addresses.js';
import type { RequestSource } from './forwarded.js';
import { plainAddress } from './peer-address.js';

export const TUNNELS_MAX = 8;
/** Of everybody in a tunnel that does not say who they are. */
const UNNAMED_ADDRESS = 'tunnel';

interface Way {
  readonly authority: string;
  readonly scheme: 'http' | 'https';
}

/** Why an origin cannot be opened, in words that say what to do. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
}

export class Tunnels {
  readonly #ways = new Set<Way>();

  /** The origins, as the browser of a device has them. */
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

  /** The request as its sender made it, when it came through a tunnel; otherwise as it is. */
  through(source: RequestSource, headers: Readonly<Record<string, readonly string[] | undefined>>): RequestSource {
    // A trusted proxy speaks for itself.
    if (source.isProxied || !isLoopback(source.address) || this.#ways.size === 0) return source;
    // Some tunnels put the name of this machine into the Host header, and the one that was asked for beside it.
    const names = [source.host, lastOf(headers['x-forwarded-host'])].map(only);
    const way = [...this.#ways].find(({ authority }) => names.includes(authority));
    if (!way) return source;
    const [from] = lastOf(headers['x-forwarded-for']);
    const address = plainAddress(from ?? '') ?? UNNAMED_ADDRESS;
    return { address, scheme: way.scheme, host: [way.authority], isProxied: true, isTunnelled: true };
  }
}

/** The value of a header that stands there once. */
function only([first, another]: readonly string[]): string | undefined {
  return another === undefined ? first?.toLowerCase() : undefined;
}

/** What the tunnel itself wrote stands last. */
function lastOf(values: readonly string[] | undefined): readonly string[] {
  const last = values?.join(',').split(',').at(-1)?.trim();
  return last ? [last] : [];
}

/** Beyond this machine only with encryption. */
function wayOf(origin: string): Way {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const isOrigin = url && url.origin !== 'null' && `${url.origin}/` === url.href && url.username === '';
  if (!isOrigin || !/^https?:$/.test(url.protocol))
    throw new TunnelError(`"${origin}" is not an origin. Write it as https://name`);
  const isSecure = url.protocol === 'https:' || isLoopback(url.hostname.replace(/^\[|\]$/g, ''));
  if (!isSecure) throw new TunnelError(`${origin} is not encrypted: everybody on the way could read along. Use https`);
  return { authority: url.host.toLowerCase(), scheme: url.protocol === 'https:' ? 'https' : 'http' };
}
