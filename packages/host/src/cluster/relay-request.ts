/** An HTTP request, such as for the page, that another host answers. */
import { type IncomingMessage, request as newRequest, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { TLSSocket } from 'node:tls';

/** Headers of one connection, not of the request (RFC 9110, 7.6.1). */
const OF_THE_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

export function relayRequest(request: IncomingMessage, response: ServerResponse, stream: TLSSocket): void {
  if (response.destroyed) return void stream.destroy();
  const { method, url, rawHeaders } = request;
  const passed = newRequest({ createConnection: () => stream, method, path: url, headers: passedOn(rawHeaders) });
  passed.on('error', () => response.destroy());
  passed.on('response', (answer) => {
    response.sendDate = false;
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.rawHeaders));
    pipeline(answer, response, () => stream.destroy());
  });
  response.once('close', () => stream.destroy());
  pipeline(request, passed, () => {});
}

/** Repeated headers stay repeated, because the host that judges them must see that. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const headers: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) headers.push(name, value);
  }
  return headers;
}
