/**
 * `web_fetch`: reads a page of the web as text. A person is asked about each host. Addresses of this machine and of the
 * networks around it are refused: their servers trust everyone who reaches them, and a page could tell a model to call
 * them.
 */
import http from 'node:http';
import https from 'node:https';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type HostTool, ToolFailure } from '@atrium/core/contracts/tool.js';
import { hasLogin } from '@atrium/core/util/addresses.js';
import {
  type Address,
  AddressError,
  type PinOptions,
  pinnedAddress,
  pinnedLookup,
} from '@atrium/core/util/public-address.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';
import { hostTool, succeeded } from './host-tool.js';

export const FETCH_MAX_BYTES = 5 * 2 ** 20;
const FETCH_TIMEOUT_MS = 20_000;
export const REDIRECTS_MAX = 5;

export type WebFetchOptions = PinOptions;

export function webFetchTool(options: WebFetchOptions = {}): HostTool {
  return hostTool({
    name: 'web_fetch',
    displayName: 'Fetch a page',
    description:
      'Reads a web page over http or https as text: HTML becomes Markdown, other text stays as it is. ' +
      `At most ${sizeText(FETCH_MAX_BYTES)}. Refuses addresses in private networks. Does not follow a redirect to another ` +
      'host: call the tool again with the address that the answer names.',
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
        const answer = await get(place, await pinned(place, options), signal);
        if (answer.leadsTo === undefined) return report(place, answer);
        if (redirects === REDIRECTS_MAX)
          throw new ToolFailure('TOO_MANY_REDIRECTS', `${first.href} leads on more than ${REDIRECTS_MAX} times.`);
        const next = webAddress(answer.leadsTo, place);
        // The person was asked about one host only.
        if (next.host !== first.host && !isSafer(first, next))
          return succeeded(`Was sent on to ${next.host}`, `${first.href} leads to ${next.href}. Fetch that address.`);
        place = next;
      }
    },
  });
}

/** Whether the redirect only goes from http to https of the same name. */
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

async function pinned({ hostname }: URL, options: PinOptions): Promise<Address> {
  try {
    return await pinnedAddress(hostname, options);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new ToolFailure(error.reason === 'unknown' ? 'NOT_FOUND' : 'PRIVATE_ADDRESS', error.message);
  }
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly leadsTo?: string;
}

const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

function get(url: URL, address: Address, signal: AbortSignal): Promise<Answer> {
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
        lookup: pinnedLookup(address),
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
        // The server may close too early, and then `end` never comes.
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
  // Loaded only when needed, because few sessions read pages.
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
