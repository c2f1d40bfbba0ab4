/**
 * `web_fetch`: reads a page of the web as text. A person is asked for each host. Addresses of this machine and of the networks
 * around it are refused: their servers trust whoever reaches them, and a page could tell a model to ask them.
 */
import { lookup } from 'node:dns/promises';
import http from 'node:http';
import https from 'node:https';
import { BlockList, isIP } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type HostTool, ToolFailure } from '@atrium/core/contracts/tool.js';
import { hasLogin } from '@atrium/core/util/addresses.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';
import { hostTool, succeeded } from './host-tool.js';

export const FETCH_MAX_BYTES = 5 * 2 ** 20;
const FETCH_TIMEOUT_MS = 20_000;
export const REDIRECTS_MAX = 5;

export interface Address {
  readonly address: string;
  readonly family: number;
}

export interface WebFetchOptions {
  /** All addresses of a name. */
  readonly resolve?: (name: string) => Promise<readonly Address[]>;
  /** Whether a server at this address may be asked. */
  readonly isPublic?: (address: string) => boolean;
}

export function webFetchTool({ resolve = systemLookup, isPublic = isPublicAddress }: WebFetchOptions = {}): HostTool {
  return hostTool({
    name: 'web_fetch',
    displayName: 'Fetch a page',
    description:
      'Reads a page of the web, by http or https, as text: HTML becomes Markdown, other text comes as it is. ' +
      `At most ${sizeText(FETCH_MAX_BYTES)}. Addresses of private networks are refused. A page that leads to another ` +
      'host is not followed: call the tool again with the address that it names.',
    annotations: { readOnlyHint: true, openWorldHint: true },
    timeoutMs: FETCH_TIMEOUT_MS,
    properties: { url: { type: 'string', minLength: 1, description: 'The address, with http:// or https://.' } },
    required: ['url'],
    invocation: ({ url }) => `Fetch ${shorten(url, 200)}`,
    confirmation: ({ url }) => ({
      title: `Fetch a page from ${URL.canParse(url) ? new URL(url).host : 'the web'}?`,
      options: [
        { id: 'approve', label: 'Fetch', kind: 'approve' },
        { id: 'deny', label: 'Do not fetch', kind: 'deny' },
      ],
    }),
    async run({ url }, { signal }) {
      const first = webAddress(url);
      let place = first;
      for (let redirects = 0; ; redirects++) {
        const answer = await get(place, await pinned(place, resolve, isPublic), signal);
        if (answer.leadsTo === undefined) return report(place, answer);
        if (redirects === REDIRECTS_MAX)
          throw new ToolFailure('TOO_MANY_REDIRECTS', `${first.href} leads on more than ${REDIRECTS_MAX} times.`);
        const next = webAddress(answer.leadsTo, place);
        // The person was asked about one host.
        if (next.host !== first.host && !isSafer(first, next))
          return succeeded(`Was sent on to ${next.host}`, `${first.href} leads to ${next.href}. Fetch that address.`);
        place = next;
      }
    },
  });
}

/** From http to https of the same name. */
function isSafer(first: URL, next: URL): boolean {
  return first.protocol === 'http:' && first.port === '' && next.href.startsWith(`https://${first.hostname}/`);
}

function webAddress(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new ToolFailure('BAD_INPUT', `"${shorten(text, 200)}" is not an address.`);
  const url = new URL(text, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ToolFailure('BAD_INPUT', `Only http and https can be fetched, not ${url.protocol}`);
  if (hasLogin(url.href)) throw new ToolFailure('BAD_INPUT', 'An address with a name or password is not fetched.');
  url.hash = '';
  return url;
}

/** The address to connect to. It is looked up once: what was checked is what is asked. */
async function pinned(
  { hostname }: URL,
  resolve: NonNullable<WebFetchOptions['resolve']>,
  isPublic: (address: string) => boolean,
): Promise<Address> {
  const name = hostname.replace(/^\[|\]$/g, '');
  const literal = isIP(name);
  const found = literal ? [{ address: name, family: literal }] : await resolve(name).catch(() => []);
  const [first] = found;
  if (!first) throw new ToolFailure('NOT_FOUND', `There is no host named ${name}.`);
  // A name with one private address among its public ones may be a trap.
  if (!found.every(({ address }) => isPublic(address)))
    throw new ToolFailure('PRIVATE_ADDRESS', `${name} is an address of this machine or of a private network.`);
  return first;
}

async function systemLookup(name: string): Promise<readonly Address[]> {
  return lookup(name, { all: true });
}

/** Addresses that nobody on the internet can reach, or that mean this machine: RFC 6890 and its successors. */
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
/** What is allocated to the internet at all. */
const IPV6_INTERNET = new BlockList();
IPV6_INTERNET.addSubnet('2000::', 3, 'ipv6');
for (const [network, prefix] of [
  ['2001::', 23], // protocol assignments, with tunnels to any IPv4 address
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4: an IPv4 address stands in it
  ['3fff::', 20],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, 'ipv6');

export function isPublicAddress(address: string): boolean {
  const [plain = ''] = address.split('%');
  const family = isIP(plain);
  if (family === 4) return !NOT_PUBLIC.check(plain, 'ipv4');
  return family === 6 && IPV6_INTERNET.check(plain, 'ipv6') && !NOT_PUBLIC.check(plain, 'ipv6');
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly leadsTo?: string;
}

const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

function get(url: URL, { address, family }: Address, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) =>
      reject(
        error instanceof ToolFailure || signal.aborted
          ? error
          : new ToolFailure('UNREACHABLE', `${url.host} cannot be reached: ${shorten(error.message, 300)}.`),
      );
    const request = (url.protocol === 'https:' ? https : http).get(
      url,
      {
        ...{ signal, agent: false },
        // Also a name that would be looked up anew gets the address that was checked.
        lookup: (_name, options, done) =>
          options.all ? done(null, [{ address, family }]) : done(null, address, family),
        headers: {
          accept: 'text/html, text/*;q=0.9, */*;q=0.5',
          'accept-encoding': 'gzip, br',
          'user-agent': 'Atrium',
        },
      },
      (response) => {
        const { statusCode: status = 0, headers } = response;
        if (status >= 300 && status < 400 && headers.location !== undefined) {
          response.destroy();
          return resolve({ status, contentType: '', body: Buffer.alloc(0), leadsTo: headers.location });
        }
        const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
        const isKnown = Object.hasOwn(DECODERS, encoding);
        if (!isKnown && encoding !== 'identity') {
          request.destroy();
          return fail(new ToolFailure('NOT_TEXT', `${url.host} answers in the encoding ${shorten(encoding, 50)}.`));
        }
        const body = isKnown ? response.pipe(DECODERS[encoding as keyof typeof DECODERS]()) : response;
        const chunks: Buffer[] = [];
        let size = 0;
        body.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (size > FETCH_MAX_BYTES) {
            request.destroy();
            body.destroy();
            fail(new ToolFailure('TOO_LARGE', `${url.href} has more than ${sizeText(FETCH_MAX_BYTES)}.`));
          } else chunks.push(chunk);
        });
        body.on('end', () => {
          resolve({ status, contentType: headers['content-type'] ?? '', body: Buffer.concat(chunks) });
        });
        body.on('error', fail);
        response.on('error', fail);
        // A server that closes before the end: `end` never comes.
        response.on('close', () => response.complete || fail(new Error('the answer was cut off')));
      },
    );
    request.on('error', fail);
  });
}

async function report(url: URL, { status, contentType, body }: Answer) {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const isHtml = type === 'text/html' || type === 'application/xhtml+xml';
  const isText = isHtml || type.startsWith('text/') || /[/+](json|xml|yaml|javascript|x-sh)$/.test(type);
  if (!isText && body.length > 0)
    throw new ToolFailure(
      'NOT_TEXT',
      `${url.href} is ${type || 'of no known type'} (${sizeText(body.length)}), not text.`,
    );
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  const text = decode(body, charset ?? (isHtml ? charsetIn(body) : undefined));
  // Loaded when it is needed: few sessions read pages.
  const readable = isHtml ? await (await import('./readable-text.js')).readableText(text, url) : text;
  const head = `${url.href} (${status})`;
  if (status >= 400) throw new ToolFailure(`HTTP_${status}`, `${head} failed:\n\n${shorten(readable, 2_000)}`);
  return succeeded(`Fetched ${url.host}${url.pathname}`, `${head}\n\n${readable}`);
}

function decode(body: Buffer, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

function charsetIn(body: Buffer): string | undefined {
  return /<meta[^>]{0,200}charset=["']?([\w-]{1,40})/i.exec(body.subarray(0, 2_048).toString('latin1'))?.[1];
}
