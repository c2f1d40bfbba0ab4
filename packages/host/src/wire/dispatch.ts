/** A client asks for an action. It is applied once, turned down with a reason, or held until the turn is over. */
import { actionKind, channelKind, isClientDispatchable } from '@atrium/protocol';
import { checkAction, describeProblem } from '@atrium/protocol/validation';
import type { HostCore } from '../core.js';
import type { Connection } from './connection.js';
import type { InboundNotification } from './dialects/dialects.js';

type Dispatch = Extract<InboundNotification, { kind: 'dispatch' }>;

export async function dispatchAction(core: HostCore, connection: Connection, request: Dispatch): Promise<void> {
  const { identity } = connection;
  const { channel, clientSeq, original } = request;
  if (!identity || !Number.isSafeInteger(clientSeq) || clientSeq < 0) return;
  const target = await core.open(channel);
  if (!target) return;
  if (!(await core.clients.isNew(identity, clientSeq))) return;
  const refusal = unfit(request);
  if (refusal) return connection.reject(original, clientSeq, refusal);
  const checked = checkAction(request.action);
  if (!checked.ok) return connection.reject(original, clientSeq, describeProblem(checked.problem));
  const { clientId, epoch } = identity;
  await target.dispatch(checked.value, { clientId, epoch, clientSeq }, { connection, original });
}

/** What is wrong with an action whatever the state is. */
function unfit({ action: { type }, channel }: Dispatch): string | undefined {
  if (!isClientDispatchable(type)) return `clients cannot dispatch ${type}`;
  if (actionKind(type) !== channelKind(channel)) return `${type} does not belong on ${channel}`;
  return undefined;
}
