/** A client asks for an action. It is applied once, turned down with a reason, or held until the turn is over. */
import { actionKind, channelKind, isClientDispatchable } from '@atrium/protocol';
import { checkAction, describeProblem } from '@atrium/protocol/validation';
import type { HostCore, OpenChannel } from '../contracts/host-core.js';
import type { EntryOrigin } from '../log/log.js';
import type { Connection } from './connection.js';
import type { InboundNotification } from './dialects/dialects.js';
import { pluginsOnly } from './plugins-only.js';
import type { Sending, Sent } from './sent-actions.js';

type Dispatch = Extract<InboundNotification, { kind: 'dispatch' }>;
type Refusal = Extract<InboundNotification, { kind: 'reject' }>;

export async function dispatchAction(core: HostCore, connection: Connection, request: Dispatch): Promise<void> {
  const { channel, original, action } = request;
  const target = await core.open(channel);
  const sent = target && (await received(core, connection, { ...request, type: action.type }));
  if (!sent) return;
  const { origin } = sent;
  if (sent.kind === 'resend') {
    if (sent.answer) return connection.answerAgain(original, origin, sent.answer);
    // Whoever asked first may be gone when it is turned down: then this one is told.
    if (await core.clients.sent.decided(origin)) return dispatchAction(core, connection, request);
    return target.stillHolds?.(origin, { connection, original });
  }
  await core.clients.sent.deciding(origin, decide(core, target, { connection, request, origin }));
}

interface Asked {
  readonly connection: Connection;
  readonly request: Dispatch;
  readonly origin: EntryOrigin;
}

async function decide(core: HostCore, target: OpenChannel, { connection, request, origin }: Asked): Promise<void> {
  const { channel, original } = request;
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
  const { original, reason } = request;
  const sent = await received(core, connection, { ...request, type: '' });
  if (sent?.kind === 'new') connection.reject(original, sent.origin, reason);
  else if (sent?.answer) connection.answerAgain(original, sent.origin, sent.answer);
}

/** Whether an action is new, and under which number; undefined when its number is none. */
async function received(core: HostCore, { identity, name }: Connection, sending: Sending): Promise<Sent | undefined> {
  if (!identity) return undefined;
  const { clientSeq } = sending;
  if (Number.isSafeInteger(clientSeq) && clientSeq >= 0) return core.clients.sent.take(identity, sending);
  core.logger.log('warn', 'dropped an action without a usable number', { connection: name, clientSeq });
  return undefined;
}

/** What is wrong with an action whatever the state is. */
function unfit({ action: { type }, channel }: Dispatch): string | undefined {
  if (!isClientDispatchable(type)) return `clients cannot dispatch ${type}`;
  if (actionKind(type) !== channelKind(channel)) return `${type} does not belong on ${channel}`;
  return undefined;
}
