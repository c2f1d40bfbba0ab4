/** Requests that make, end and list sessions. */
import { ROOT_CHANNEL } from '../../channels.js';
import { ErrorCode } from '../../errors/codes.js';
import type { InboundRequest } from '../dialect.js';
import { compact } from './compact.js';
import { listSessionsReply } from './replies.js';
import { fail, forward, type Inbound, malformed } from './requests.js';
import { newSessionFromV1, sessionFromV1 } from './uris.js';

export function createSession(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { session, provider, model, workingDirectory } = params;
  if (typeof session !== 'string') return malformed(inbound, 'session');
  if (provider !== undefined && typeof provider !== 'string') return malformed(inbound, 'provider');
  if (model !== undefined && typeof model !== 'string') return malformed(inbound, 'model');
  const created = newSessionFromV1(session, provider);
  const taken = sessionFromV1(session, view.providerOf);
  if (taken !== created.channel && view.providerOf(taken) !== undefined) {
    return fail(connection, ErrorCode.SessionAlreadyExists, `${session} is in use. Choose another URI.`);
  }
  const selection = model === undefined ? undefined : { id: model };
  return forward(
    connection,
    'createSession',
    compact({ ...created, model: selection, workingDirectory }),
    (result) => result,
  );
}

export function disposeSession(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  if (typeof params.session !== 'string') return malformed(inbound, 'session');
  const channel = sessionFromV1(params.session, view.providerOf);
  return forward(connection, 'disposeSession', { channel }, (result) => result);
}

export function listSessions({ params, connection }: Inbound): InboundRequest {
  const { filter } = params;
  return forward(connection, 'listSessions', compact({ channel: ROOT_CHANNEL, filter }), (result) =>
    listSessionsReply(result, connection),
  );
}
