/**
 * One POST to a server that an outsider named: a push service or a webhook. Allows only https on the internet, connects
 * to the address that was checked, follows no redirects, has a time limit, and reads little of the answer.
 */
import http from 'node:http';
import https from 'node:https';
import { hasLogin } from '@atrium/core/util/addresses.js';
import { AddressError, type PinOptions, pinnedAddress, pinnedLookup } from '@atrium/core/util/public-address.js';
import { errorText, shorten } from '@atrium/core/util/text.js';
import { ANSWER_MAX_BYTES, ENDPOINT_MAX_CHARACTERS, SEND_TIMEOUT_MS } from './limits.js';

export interface Reach extends PinOptions {
  /** Hosts that the operator allows although they are private or unencrypted: `ntfy.lan`, `localhost:8080`. */
  readonly privateHosts?: readonly string[] | undefined;
  /** Additional trusted certificates, as PEM. */
  readonly ca?: string | undefined;
}

export interface Posted {
  readonly status: number;
  /** The beginning of the answer. */
  readonly text: string;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfterMs?: number;
}

/** `address`: this address must not be contacted, now or later. `network`: it did not answer, or not in time. */
export class PostError extends Error {
  override readonly name = 'PostError';
  constructor(
    readonly reason: 'address' | 'network',
    message: string,
  ) {
    super(message);
  }
}

/** Why an address is not allowed, as far as that is known without a lookup. */
export function addressProblem(text: string, { privateHosts = [] }: Reach): string | undefined {
  if (text.length > ENDPOINT_MAX_CHARACTERS) return `an address may have at most ${ENDPOINT_MAX_CHARACTERS} characters`;
  if (!URL.canParse(text)) return 'this is not an address';
  const url = new URL(text);
  const isAllowed = privateHosts.includes(url.host) || privateHosts.includes(url.hostname);
  if (url.protocol !== 'https:' && !(isAllowed && url.protocol === 'http:'))
    return 'only https addresses are asked: the operator can allow others by name with --notify-hosts';
  return hasLogin(text) ? 'an address with a name or password is not asked' : undefined;
}

export interface PostRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly signal: AbortSignal;
  readonly reach: Reach;
  readonly timeoutMs?: number;
}

/**
 * Returns every answer of the server, even a redirect, which is not followed. Throws a `PostError` if there is none.
 */
export async function post(request: PostRequest): Promise<Posted> {
  const { url: text, reach, signal, timeoutMs = SEND_TIMEOUT_MS } = request;
  const problem = addressProblem(text, reach);
  if (problem !== undefined) throw new PostError('address', problem);
  const url = new URL(text);
  const { privateHosts = [], resolve } = reach;
  const isAllowed = privateHosts.includes(url.host) || privateHosts.includes(url.hostname);
  const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  try {
    const isPublic = isAllowed ? () => true : reach.isPublic;
    const address = await pinnedAddress(url.hostname, { resolve, isPublic });
    return await send(url, request, within, pinnedLookup(address));
  } catch (error) {
    if (error instanceof AddressError)
      throw new PostError(error.reason === 'private' ? 'address' : 'network', error.message);
    const why = within.aborted && !signal.aborted ? `did not answer within ${timeoutMs / 1_000} s` : errorText(error);
    throw new PostError('network', `${url.host}: ${shorten(why, 200)}`);
  }
}

function send(
  url: URL,
  { headers, body, reach }: PostRequest,
  signal: AbortSignal,
  lookup: ReturnType<typeof pinnedLookup>,
): Promise<Posted> {
  return new Promise((resolve, reject) => {
    const length = { 'Content-Length': String(body.length), 'User-Agent': 'Atrium' };
    const options = { method: 'POST', headers: { ...headers, ...length }, agent: false, signal, lookup } as const;
    const secure = reach.ca === undefined ? options : { ...options, ca: reach.ca };
    const request = url.protocol === 'https:' ? https.request(url, secure) : http.request(url, options);
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers: responseHeaders } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      const done = () => {
        const text = Buffer.concat(chunks).subarray(0, ANSWER_MAX_BYTES).toString('utf8');
        resolve({ status, text, ...retryAfter(responseHeaders['retry-after']) });
      };
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size < ANSWER_MAX_BYTES) return;
        done();
        request.destroy();
      });
      response.on('end', done);
      response.on('error', reject);
    });
    request.end(body);
  });
}

/** In seconds. A date is rare; for one the host uses its own wait. */
function retryAfter(header: string | undefined): { retryAfterMs?: number } {
  return header !== undefined && /^\d{1,6}$/.test(header.trim()) ? { retryAfterMs: Number(header) * 1_000 } : {};
}
