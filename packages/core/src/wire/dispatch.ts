/**
 * Dispatches a client's action. The channel applies it once, rejects it with a reason, or defers it to the end of a
 * turn.
 */
import { randomUUID } from 'node:crypto';
import { SELECTION_CHANGED, type StateAction } from '@atrium/protocol/ahp-1';
import { checkAction, describeProblem } from '@atrium/protocol/ahp-1/validation';
import type { ActionSender, OpenChannel } from '../channels/open-channel.js';
import type { EntryOrigin } from '../log/log.js';
import type { Connection } from './connection.js';
import type { WireContext } from './context.js';
import { type InboundNotification, NO_MEMORY, type OriginalAction, pluginsOnly } from './dialects/dialects.js';
import type { Answer, Sending, Sent } from './received-actions.js';
import { groupOf } from './subscriptions.js';

type Dispatch = Extract<InboundNotification, { kind: 'dispatch' }>;
type Refusal = Extract<InboundNotification, { kind: 'reject' }>;

export async function dispatchAction(context: WireContext, connection: Connection, request: Dispatch): Promise<void> {
  const { channel, original, action } = request;
  const target = context.control.canOpen(connection, channel) ? await context.open(channel) : undefined;
  const sent = target && (await received(context, connection, { ...request, type: action.type }));
  if (!sent) return;
  const { origin } = sent;
  if (sent.kind === 'resend') {
    if (sent.answer) return answerAgain(context, connection, { original, origin, answer: sent.answer });
    // The connection that first sent the action may be gone when it is rejected. Then this one gets the rejection.
    if (await context.clients.received.decided(origin)) return dispatchAction(context, connection, request);
    return target.answerDeferred?.(origin, senderOn(connection, original));
  }
  await context.clients.received.deciding(origin, decide(context, target, { connection, request, origin }));
}

interface Answered {
  readonly original: OriginalAction;
  readonly origin: EntryOrigin;
  readonly answer: Answer;
}

async function answerAgain(context: WireContext, connection: Connection, answered: Answered): Promise<void> {
  const { original, origin, answer } = answered;
  const stored = answer.reason === undefined && (await storedAs(context, connection, answer.serverSeq));
  connection.answerAgain(stored || original, origin, answer);
}

/**
 * A stored action in the client's dialect. The host adds what clients leave out, such as times, and readers may rely on
 * that. Undefined when the log no longer has it.
 */
async function storedAs(
  { log, view }: WireContext,
  { dialect }: Connection,
  serverSeq: number | undefined,
): Promise<OriginalAction | undefined> {
  if (serverSeq === undefined || dialect.traits.needsStates) return undefined;
  const [entry] = await log.read({ after: serverSeq - 1, limit: 1 });
  if (entry?.seq !== serverSeq || entry.action === '') return undefined;
  const { channel } = entry;
  const steps = [
    { envelope: { channel, action: JSON.parse(entry.action), serverSeq }, before: undefined, after: undefined },
  ];
  const group = { channel: groupOf(channel, view), steps, stateBefore: () => undefined };
  const [frame] = dialect.encodeSteps(NO_MEMORY, group, view).frames;
  return frame?.params as OriginalAction | undefined;
}

function senderOn(connection: Connection, original: OriginalAction): ActionSender {
  return {
    reject: (origin, reason) => connection.reject(original, origin, reason),
    deferred: (origin) => connection.echoDeferred(original, origin),
    name: connection.access.credential.name,
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
  const { claim, leftOut } = pluginsOnly(request.action);
  if (leftOut.length > 0) {
    context.logger.log('warn', 'a client published customizations that are not plugins; left them out', {
      channel,
      leftOut: leftOut.length,
    });
  }
  // The bounds may have become narrower while the channel was opening.
  if (!context.control.canOpen(connection, channel)) return asker.reject(origin, `there is no ${channel}`);
  const checked = checkedAction(claim);
  if (!checked.ok) return asker.reject(origin, describeProblem(checked.problem));
  const needed = target.leastRole?.(checked.value);
  const refusal = context.control.refusalOf(connection, checked.value, needed);
  if (refusal !== undefined) return asker.reject(origin, refusal);
  try {
    await target.dispatch(checked.value, origin, asker);
  } catch (error) {
    context.logger.log('error', 'an action failed', { channel, error: String(error) });
    asker.reject(origin, 'the host failed; see its log');
  }
}

/** Rejects an action that the client's dialect could not translate. */
export async function refuseAction(context: WireContext, connection: Connection, request: Refusal): Promise<void> {
  const { original, reason, channel } = request;
  if (channel !== undefined && !(context.control.canOpen(connection, channel) && (await context.open(channel)))) return;
  const sent = await received(context, connection, { ...request, type: '' });
  if (sent?.kind === 'new') connection.reject(original, sent.origin, reason);
  else if (sent?.answer) connection.answerAgain(original, sent.origin, sent.answer);
}

/** Finds out whether an action is new, and registers its number; undefined when the number is not usable. */
async function received(
  context: WireContext,
  { identity, name }: Connection,
  sending: Sending,
): Promise<Sent | undefined> {
  if (!identity) return undefined;
  const { clientSeq } = sending;
  if (Number.isSafeInteger(clientSeq) && clientSeq >= 0) return context.clients.received.take(identity, sending);
  context.logger.log('warn', 'dropped an action without a usable number', { connection: name, clientSeq });
  return undefined;
}

/** Members that clients may leave out, because the host stamps them or can make them up. */
const STAMPED: Readonly<Record<string, () => object>> = {
  'chat/turnStarted': () => ({ startedAt: '' }),
  'chat/turnCancelled': () => ({ duration: -1 }),
  'chat/pendingMessageSet': () => ({ id: randomUUID() }),
};

/** Checks an action against its schema. The only action without one comes from a dialect of ours. */
function checkedAction(action: { readonly type: string }) {
  if (action.type === SELECTION_CHANGED) return { ok: true as const, value: action as unknown as StateAction };
  const stamped = Object.hasOwn(STAMPED, action.type) ? STAMPED[action.type]?.() : undefined;
  return checkAction({ ...stamped, ...action });
}
