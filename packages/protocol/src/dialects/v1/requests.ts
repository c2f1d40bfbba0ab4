/** The two outcomes of translating a request, and what a translator is given. */
import { ErrorCode } from '../../errors/codes.js';
import type { ClientRequestMethod, ClientRequests } from '../../methods.js';
import type { DialectConnection, HostView, InboundRequest, Params } from '../dialect.js';

/** What came in. `connection` already knows how this very request spells the root. */
export interface Inbound {
  readonly method: string;
  readonly params: Params;
  readonly connection: DialectConnection;
  readonly view: HostView;
}

export type RequestTranslator = (inbound: Inbound) => InboundRequest;

/** Passes a request on. The result comes from our own host, so its type is taken on trust. */
export function forward<Method extends ClientRequestMethod>(
  connection: DialectConnection,
  method: Method,
  params: Params,
  encode: (result: ClientRequests[Method]['result'], view: HostView) => unknown,
): InboundRequest {
  const encodeResult = (result: unknown, view: HostView) => encode(result as ClientRequests[Method]['result'], view);
  return { kind: 'forward', connection, method, params, encodeResult };
}

export function fail(connection: DialectConnection, code: ErrorCode, message: string): InboundRequest {
  return { kind: 'fail', connection, error: { code, message } };
}

export function malformed({ connection, method }: Inbound, member: string): InboundRequest {
  return fail(connection, ErrorCode.InvalidParams, `${method}: \`${member}\` is missing or malformed.`);
}
