/** Dispatches a client's action: the channel applies it once, rejects it with a reason, or defers it to the end of a turn. */
import { actionKind, channelKind, isClientDispatchable } from '@atrium/protocol';
import { checkAction, describeProblem } from '@atrium/protocol/validation';
import type { ActionSender, OpenChannel } from '../channels/open-channel.js';
import type { EntryOrigin } from '../log/log.js';
import { isRecord } from '../util/shape.js';
import type { Connection } from './connection.js';
import type { WireContext } from './context.js';
import type { InboundNotification, OriginalAction } from './dialects/dialects.js';
import type { Sending, Sent } from './sent-actions.js';

type Dispatch = Extract<InboundNotification, { kind: 'dispatch' }>;
type Refusal = Extract<InboundNotification, { kind: 'reject' }>;

export async function dispatchAction(context: WireContext, connection: Connection, request: Dispatch): Promise<void> {
  const { channel, original, action } = request;
  const target = await context.open(channel);
  const sent = target && (await received(context, connection, { ...request, type: action.type }));
  if (!sent) return;
  const { origin } = sent;
  if (sent.kind === 'resend') {
    if (sent.answer) return connection.answerAgain(original, origin, sent.answer);
    // The connection that sent it first may be gone when it is rejected: then this one hears of it.
    if (await context.clients.sent.decided(origin)) return dispatchAction(context, connection, request);
    return target.answerDeferred?.(origin, senderOn(connection, original));
  }
  await context.clients.sent.deciding(origin, decide(context, target, { connection, request, origin }));
}

function senderOn(connection: Connection, original: OriginalAction): ActionSender {
  return {
    reject: (origin, reason) => connection.reject(original, origin, reason),
    deferred: (origin) => connection.echoDeferred(original, origin),
  };
}

interface Dispatched {
  readonly connection: Connection;
  readonly request: Dispatch;
  readonly origin: EntryOrigin;
}

async function decide(context: WireContext, target: OpenChannel, dispatched: Dispatched): Promise<void> {
  const { connection, request, origin } = dispatched;
  const { channel } = request;
  const asker = senderOn(connection, request.original);
  const refusal = unfit(request);
  if (refusal) return asker.reject(origin, refusal);
  const { claim, leftOut } = pluginsOnly(request.action);
  if (leftOut > 0) {
    context.logger.log('warn', 'a client published customizations that are no plugins; left them out', {
      channel,
      leftOut,
    });
  }
  const checked = checkAction(claim);
  if (!checked.ok) return asker.reject(origin, describeProblem(checked.problem));
  try {
    await target.dispatch(checked.value, origin, asker);
  } catch (error) {
    context.logger.log('error', 'an action failed', { channel, error: String(error) });
    asker.reject(origin, 'the host failed; see its log');
  }
}

/** Rejects an action that the client's dialect could not translate. */
export async function refuseAction(context: WireContext, connection: Connection, request: Refusal): Promise<void> {
  const { original, reason } = request;
  const sent = await received(context, connection, { ...request, type: '' });
  if (sent?.kind === 'new') connection.reject(original, sent.origin, reason);
  else if (sent?.answer) connection.answerAgain(original, sent.origin, sent.answer);
}

/** Whether an action is new, and under which number; undefined when its number is not usable. */
async function received(
  context: WireContext,
  { identity, name }: Connection,
  sending: Sending,
): Promise<Sent | undefined> {
  if (!identity) return undefined;
  const { clientSeq } = sending;
  if (Number.isSafeInteger(clientSeq) && clientSeq >= 0) return context.clients.sent.take(identity, sending);
  context.logger.log('warn', 'dropped an action without a usable number', { connection: name, clientSeq });
  return undefined;
}

/** Why an action cannot be dispatched in any state; undefined when it can. */
function unfit({ action: { type }, channel }: Dispatch): string | undefined {
  if (!isClientDispatchable(type)) return `clients cannot dispatch ${type}`;
  if (actionKind(type) !== channelKind(channel)) return `${type} does not belong on ${channel}`;
  return undefined;
}

/** Clients may publish plugins only: removes entries of other types from an `activeClient`, and keeps the rest. */
export function pluginsOnly<Claim>(claim: Claim): { readonly claim: Claim; readonly leftOut: number } {
  const activeClient = isRecord(claim) && isRecord(claim.activeClient) ? claim.activeClient : undefined;
  const entries: unknown = activeClient?.customizations;
  if (!Array.isArray(entries)) return { claim, leftOut: 0 };
  const customizations = entries.filter((entry) => !isOtherType(entry));
  const leftOut = entries.length - customizations.length;
  if (leftOut === 0) return { claim, leftOut };
  return { claim: { ...claim, activeClient: { ...activeClient, customizations } }, leftOut };
}

/** An entry without a type stays: the schema check reports it. */
function isOtherType(entry: unknown): boolean {
  return isRecord(entry) && typeof entry.type === 'string' && entry.type !== 'plugin';
}
