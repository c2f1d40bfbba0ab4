/** Requests that open, resume and subscribe. Channels that version 1 does not have are left out, or not found. */
import { ROOT_CHANNEL } from '../../channels.js';
import { ErrorCode } from '../../errors/codes.js';
import { PROTOCOL_VERSION, V1_PROTOCOL_VERSION } from '../../versions/versions.js';
import type { HostView, InboundRequest } from '../dialect.js';
import { compact } from './compact.js';
import { isStringList } from './read.js';
import { initializeReply, reconnectReply, subscribeReply } from './replies.js';
import { fail, forward, type Inbound, malformed } from './requests.js';
import { channelFromV1 } from './uris.js';

/** What the host negotiates for a version-1 client: the version of the internal model. */
const INTERNAL_VERSIONS = [PROTOCOL_VERSION];

export function initialize(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { protocolVersion, clientId, initialSubscriptions } = params;
  if (protocolVersion !== V1_PROTOCOL_VERSION) {
    const message = `Version ${protocolVersion} is not spoken here; ${V1_PROTOCOL_VERSION} is.`;
    return fail(connection, ErrorCode.UnsupportedProtocolVersion, message);
  }
  if (initialSubscriptions !== undefined && !isStringList(initialSubscriptions)) {
    return malformed(inbound, 'initialSubscriptions');
  }
  const channels = initialSubscriptions && channelsOf(initialSubscriptions, view);
  const forwarded = { channel: ROOT_CHANNEL, protocolVersions: INTERNAL_VERSIONS, clientId };
  return forward(
    connection,
    'initialize',
    compact({ ...forwarded, initialSubscriptions: channels }),
    (result, resultView) => initializeReply(result, connection, resultView),
  );
}

export function reconnect(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { clientId, lastSeenServerSeq, subscriptions } = params;
  if (!isStringList(subscriptions)) return malformed(inbound, 'subscriptions');
  const known = { channel: ROOT_CHANNEL, clientId, lastSeenServerSeq, subscriptions: channelsOf(subscriptions, view) };
  return forward(connection, 'reconnect', known, (result, resultView) =>
    reconnectReply(result, connection, resultView),
  );
}

export function subscribe(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { resource } = params;
  if (typeof resource !== 'string') return malformed(inbound, 'resource');
  const channel = channelFromV1(resource, view.providerOf);
  if (channel === undefined) {
    return fail(connection, ErrorCode.NotFound, `Version 1 has no channel ${resource}.`);
  }
  return forward(connection, 'subscribe', { channel }, (result, resultView) =>
    subscribeReply(result, connection, resultView),
  );
}

function channelsOf(uris: readonly string[], { providerOf }: HostView): string[] {
  return uris.flatMap((uri) => channelFromV1(uri, providerOf) ?? []);
}
