/** The types of calls to the host, with the boilerplate of the wire taken away. */
import type { ClientRequestMethod, ClientRequests, ROOT_CHANNEL } from '@atrium/protocol';

type Params<M extends ClientRequestMethod> = ClientRequests[M]['params'];

/** The methods that users call. The others belong to the connection and to subscriptions. */
export type CallMethod = Exclude<ClientRequestMethod, 'initialize' | 'reconnect' | 'subscribe'>;

/** Where a method always goes to the root channel, `channel` may be left out. */
export type CallParams<M extends ClientRequestMethod> =
  Params<M> extends { channel: typeof ROOT_CHANNEL } ? Omit<Params<M>, 'channel'> : Params<M>;

export type CallResult<M extends ClientRequestMethod> = ClientRequests[M]['result'];
