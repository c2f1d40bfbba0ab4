/** A client asks for an action. It is applied once, turned down with a reason, or held until the turn is over. */
import { actionKind, channelKind, isClientDispatchable } from '@atrium/protocol';
import { checkAction, describeProblem } from '@atrium/protocol/validation';
import type { HostCore } from '../core.js';
import type { EntryOrigin } from '../log/log.js';
import type { Connection } from './connection.js';
import type { InboundNotification } from './dialects/dialects.js';
import { pluginsOnly } from './plugins-only.js';

type Dispatch = Extract<InboundNotification, { kind: 'dispatch' }>;
type Refusal = Extract<InboundNotification, { kind: 'reject' }>;

export async function dispatchAction(core: HostCore, connection: Connection, request: Dispatch): Promise<void> {
  const { channel, clientSeq, original } = request;
  const target = await core.open(channel);
  const origin = target && (await newOrigin(core, connection, clientSeq));
  if (!origin) return;
  const refusal = unfit(request);
  if (refusal) return connection.reject(original, origin, refusal);
  const { claim, leftOut } = pluginsOnly(request.action);
  if (leftOut > 0) core.logger.log('warn', 'customizations of a client are left out: no plugins', { channel, leftOut });
  const checked = checkAction(claim);
  if (!checked.ok) return connection.reject(original, origin, describeProblem(checked.problem));
  try {
    await target.dispatch(checked.value, origin, { connection, original });
  } catch (error) {
    core.logger.log('error', 'an action failed', { channel, error: String(error) });
    connection.reject(original, origin, 'the host failed; see its log');
  }
}

/** Turns down what the client's dialect could not even translate. */
export async function refuseAction(core: HostCore, connection: Connection, request: Refusal): Promise<void> {
  const origin = await newOrigin(core, connection, request.clientSeq);
  if (origin) connection.reject(request.original, origin, request.reason);
}

/** Who asks, under which number; undefined when the number was used before, or is none. */
async function newOrigin(
  core: HostCore,
  { identity, name }: Connection,
  clientSeq: number,
): Promise<EntryOrigin | undefined> {
  if (!identity) return undefined;
  if (!Number.isSafeInteger(clientSeq) || clientSeq < 0) {
    core.logger.log('warn', 'dropped an action without a usable number', { connection: name, clientSeq });
    return undefined;
  }
  const { clientId, epoch } = identity;
  return (await core.clients.isNew(identity, clientSeq)) ? { clientId, epoch, clientSeq } : undefined;
}

/** What is wrong with an action whatever the state is. */
function unfit({ action: { type }, channel }: Dispatch): string | undefined {
  if (!isClientDispatchable(type)) return `clients cannot dispatch ${type}`;
  if (actionKind(type) !== channelKind(channel)) return `${type} does not belong on ${channel}`;
  return undefined;
}
