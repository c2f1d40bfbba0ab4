/** Actions from version-1 clients. They may ask for four things; everything else goes back with a reason. */
import type { StateAction } from '../../actions.js';
import type { V1UserMessage } from '../../versions/v1.js';
import {
  type DialectConnection,
  type HostView,
  type InboundNotification,
  NO_MEMORY,
  type OriginalAction,
  type Params,
} from '../dialect.js';
import { messageFromV1 } from './messages.js';
import { pendingRequests, resultId } from './permissions.js';
import { isObject, withoutNulls } from './read.js';
import { sessionFromV1 } from './uris.js';

type Body = Params & OriginalAction['action'];
type Translated = StateAction | { readonly reason: string };

const translators: Readonly<Record<string, (body: Body, channel: string, view: HostView) => Translated>> = {
  'session/turnStarted': turnStarted,
  'session/turnCancelled': turnCancelled,
  'session/modelChanged': modelChanged,
  'session/permissionResolved': permissionResolved,
};

/** Without a number and a type nothing could be answered, and what no session will hear needs no answer: dropped. */
export function translateDispatch(
  { clientSeq, action }: Params,
  connection: DialectConnection,
  view: HostView,
): InboundNotification {
  if (typeof clientSeq !== 'number' || !isObject(action) || !isTyped(action)) return { kind: 'ignore', connection };
  const reject = (reason: string, channel?: string): InboundNotification => {
    return { kind: 'reject', connection, clientSeq, original: { channel, action }, reason };
  };
  const translate = Object.hasOwn(translators, action.type) ? translators[action.type] : undefined;
  if (!translate) return reject(`Clients may not dispatch ${action.type} in version 1.`);
  if (typeof action.session !== 'string') return reject('The action names no session.');
  const channel = sessionFromV1(action.session, view.providerOf);
  if (view.providerOf(channel) === undefined) return { kind: 'ignore', connection };
  const translated = translate(action, channel, view);
  if (!('type' in translated)) return reject(translated.reason, channel);
  return { kind: 'dispatch', connection, channel, clientSeq, action: translated, original: { channel, action } };
}

function turnStarted({ turnId, userMessage }: Body): Translated {
  if (typeof turnId !== 'string') return { reason: 'turnId is malformed.' };
  if (!isUserMessage(userMessage)) return { reason: 'userMessage is malformed.' };
  return { type: 'session/turnStarted', turnId, userMessage: messageFromV1(userMessage) };
}

function turnCancelled({ turnId }: Body): Translated {
  return typeof turnId === 'string' ? { type: 'session/turnCancelled', turnId } : { reason: 'turnId is malformed.' };
}

function modelChanged({ model }: Body): Translated {
  return typeof model === 'string'
    ? { type: 'session/modelChanged', model: { id: model } }
    : { reason: 'model must be the id of a model.' };
}

/** An answer counts only for a question that is open now: the first answer wins. */
function permissionResolved({ turnId, requestId, approved }: Body, channel: string, view: HostView): Translated {
  if (typeof approved !== 'boolean') return { reason: 'approved must be true or false.' };
  const turn = view.sessionOf(channel)?.activeTurn;
  const requests = turn && turn.id === turnId ? pendingRequests(view.memoryOf(channel) ?? NO_MEMORY, turn) : [];
  const toolCallId = requests.find((request) => request.requestId === requestId)?.toolCallId;
  if (!turn || toolCallId === undefined) return { reason: 'No such permission request is open.' };
  const target = { turnId: turn.id, toolCallId };
  if (requestId === resultId(toolCallId)) return { type: 'session/toolCallResultConfirmed', ...target, approved };
  return approved
    ? { type: 'session/toolCallConfirmed', ...target, approved, confirmed: 'user-action' }
    : { type: 'session/toolCallConfirmed', ...target, approved, reason: 'denied' };
}

function isTyped(action: Params): action is Body {
  return typeof action.type === 'string';
}

function isUserMessage(value: unknown): value is V1UserMessage {
  if (!isObject(value) || typeof value.text !== 'string') return false;
  const { attachments } = withoutNulls(value);
  return attachments === undefined || (Array.isArray(attachments) && attachments.every(isAttachment));
}

function isAttachment(value: unknown): boolean {
  if (!isObject(value) || typeof value.path !== 'string') return false;
  const { displayName } = withoutNulls(value);
  return displayName === undefined || typeof displayName === 'string';
}
