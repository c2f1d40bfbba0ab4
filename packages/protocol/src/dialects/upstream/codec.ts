/** The dialects of the public protocol: 1.x with the shapes of the model, and each older version through its deltas. */
import { actionKind, channelKind } from '../../ahp-1/channels.js';
import { isClientDispatchable } from '../../ahp-1/dispatchable.js';
import type * as Ahp1 from '../../ahp-1/index.js';
import { PRIVATE, privateMembersOf } from '../../ahp-1/private-members.js';
import { checkClientRequest, describeProblem, isClientRequest } from '../../ahp-1/validation.js';
import { ErrorCode } from '../../errors/codes.js';
import { AHP_1_VERSION } from '../../versions/agreement.js';
import type { CallContext, Dialect, ModelRequest, ModelStep, ModelView, SnapshotParts, StepGroup } from '../dialect.js';
import type { ActionFrame, Call, DialectTraits, InboundNotification, OriginalAction, Params } from '../dialect-0.3.js';
import { pluginsOnly } from '../plugins-only.js';
import { RESYNC } from './delta.js';
import { actionWithReferences, type ReferTo, stateWithReferences } from './input-references.js';
import type { Json } from './shapes.js';
import { type Action, VERSION_CODECS, type VersionCodec } from './stack.js';

const TRAITS: Omit<DialectTraits, 'version' | 'sendsStoredJson'> = {
  notifiesEveryone: false,
  answersQuestions: true,
  needsStates: false,
  waitsForEchoes: false,
  roleEndsWithSubscription: true,
};

/**
 * The dialect of 1.x: everything passes, except what the host wrote for older wires, and tool input sent by reference.
 */
export const ahp1: Dialect = upstream({ ...TRAITS, version: AHP_1_VERSION, sendsStoredJson: true }, undefined);

/** The dialects of the versions below 1.0, newest first. */
export const olderUpstream: readonly Dialect[] = VERSION_CODECS.map((codec) =>
  upstream({ ...TRAITS, version: codec.version, sendsStoredJson: false }, codec),
);

function upstream(traits: DialectTraits, codec: VersionCodec | undefined): Dialect {
  const dialect: Dialect = {
    traits,
    forConnection: () => dialect,
    wireChannels: (channel) => (hasChannel(codec, channel) ? [channel] : []),
    channelsOf: (wireChannel) => (hasChannel(codec, wireChannel) ? [wireChannel] : []),
    request: (call, context) => request(codec, call, context),
    notification: (call, context) => notification(codec, call, context),
    encodeError: (error) => error,
    encodeSnapshot: (parts, _connection, view) => snapshot(codec, parts, view),
    remember: (memory) => memory,
    encodeSteps: (memory, group, view) => ({ memory, ...encoded(codec, group, view) }),
    encodeEcho: (original, stamp) => ({ method: 'action', params: { ...original, ...stamp } }),
    encodeRejection: (original, stamp) => ({ method: 'action', params: { ...original, ...stamp } }),
    encodeNotification: ({ method, params }) => {
      const shown = codec ? codec.notificationDown(method, params) : params;
      return shown && { method, params: shown };
    },
    canSend: (method) => method !== 'systemMessageTransform' || codec === undefined,
  };
  return dialect;
}

function hasChannel(codec: VersionCodec | undefined, channel: string): boolean {
  return codec?.hasChannel(channelKind(channel)) ?? true;
}

/** Makes references to tool input, if the version has them and the host makes some. */
function referringTo(codec: VersionCodec | undefined, view: ModelView): ReferTo | undefined {
  return codec && !codec.hasInputReferences ? undefined : view.referTo;
}

// Calls from clients

function request(
  codec: VersionCodec | undefined,
  { method, params }: Call,
  { connection, view }: CallContext,
): ModelRequest {
  const fail = (code: ErrorCode, message: string): ModelRequest => ({
    kind: 'fail',
    connection,
    error: { code, message },
  });
  if (codec && isClientRequest(method) && !codec.hasMethod(method)) {
    return fail(ErrorCode.MethodNotFound, `${codec.version} has no method ${method}`);
  }
  const given = withoutPrivate(params);
  const up = codec ? codec.paramsUp(method, given, { defaultChatOf: view.defaultChatOf }) : given;
  const checked = isClientRequest(method) ? checkClientRequest(method, pluginsOnly(up).claim) : undefined;
  if (checked && !checked.ok) return fail(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}`);
  return {
    kind: 'forward',
    connection,
    method,
    params: (checked?.value as Params | undefined) ?? up,
    encodeResult: (result, later) => {
      const shown = withSnapshots(codec, result, later);
      return codec ? codec.resultDown(method, shown) : shown;
    },
  };
}

/** Removes the private name from what clients send: older wires would believe it. */
function withoutPrivate<Value extends object>(value: Value): Value {
  if (!(PRIVATE in value)) return value;
  const { [PRIVATE]: _private, ...rest } = value as Value & { [PRIVATE]?: unknown };
  return rest as Value;
}

/**
 * Results of `initialize`, `reconnect` and `subscribe` contain snapshots in parts. The states are translated with the
 * result.
 */
function withSnapshots(codec: VersionCodec | undefined, result: unknown, view: ModelView): unknown {
  if (typeof result !== 'object' || result === null) return result;
  if ('snapshots' in result && Array.isArray(result.snapshots)) {
    const shown = result.snapshots.flatMap((parts: SnapshotParts) => ownPart(codec, parts, view) ?? []);
    return { ...result, snapshots: shown };
  }
  if (!('snapshot' in result)) return result;
  const { snapshot: parts, ...rest } = result;
  const shown = ownPart(codec, parts as SnapshotParts, view);
  return { ...(shown && { snapshot: shown }), ...rest };
}

/** Here a wire channel shows exactly one channel of the model. */
function ownPart(codec: VersionCodec | undefined, { channel, parts }: SnapshotParts, view: ModelView) {
  const own = hasChannel(codec, channel) ? parts.find(({ resource }) => resource === channel) : undefined;
  const referTo = referringTo(codec, view);
  if (!own || !referTo) return own;
  const state = own.state as unknown as Json;
  const shown = stateWithReferences(channel, state, referTo);
  return shown === state ? own : { ...own, state: shown };
}

function snapshot(codec: VersionCodec | undefined, parts: SnapshotParts, view: ModelView): object | undefined {
  const own = ownPart(codec, parts, view);
  if (!own || !codec) return own;
  const state = codec.stateDown(channelKind(parts.channel), own.state as Json);
  return state && { ...own, state };
}

function notification(codec: VersionCodec | undefined, call: Call, context: CallContext): InboundNotification {
  const { method, params } = call;
  const { connection } = context;
  if (method !== 'dispatchAction') return { kind: 'forward', connection, method, params };
  const { channel, clientSeq, action } = params;
  // An action without a channel and a number cannot be answered.
  if (typeof channel !== 'string' || typeof clientSeq !== 'number') return { kind: 'ignore', connection };
  const original: OriginalAction = { channel, action: action as OriginalAction['action'] };
  const reject = (reason: string): InboundNotification => ({
    kind: 'reject',
    connection,
    channel,
    clientSeq,
    original,
    reason,
  });
  if (!isTyped(action)) return reject('an action is an object with a type');
  if (codec && !codec.hasAction(action.type)) return reject(`${codec.version} has no action ${action.type}`);
  const { defaultChatOf } = context.view;
  const up = codec ? codec.actionUp(action as Action, { channel, defaultChatOf }) : action;
  if (!isClientDispatchable(up.type)) return reject(`clients cannot dispatch ${up.type}`);
  const target = targetOf(up.type, channel, context.view);
  if (target === undefined) return reject(`${up.type} does not belong on ${channel}`);
  return { kind: 'dispatch', connection, channel: target, clientSeq, action: withoutPrivate(up), original };
}

/** The channel of an action. VS Code renames a session on the channel of its chat. */
function targetOf(type: string, channel: string, view: ModelView): string | undefined {
  const kind = channelKind(channel);
  if (actionKind(type) === kind) return channel;
  return type === 'session/titleChanged' && kind === 'chat' ? view.sessionUriOf(channel) : undefined;
}

function isTyped(action: unknown): action is { readonly type: string } {
  return typeof action === 'object' && action !== null && 'type' in action && typeof action.type === 'string';
}

// Host to clients

function encoded(codec: VersionCodec | undefined, { steps }: StepGroup, view: ModelView) {
  const frames: ActionFrame[] = [];
  const referTo = referringTo(codec, view);
  for (const step of steps) {
    const action = shownAction(codec, step, referTo);
    if (action === RESYNC) {
      return { frames, close: `${codec?.version} cannot express what happened: reconnect for a snapshot` };
    }
    if (action && hasChannel(codec, step.envelope.channel)) frames.push(frame(step.envelope, action));
  }
  return { frames };
}

function shownAction(
  codec: VersionCodec | undefined,
  { envelope, before, after }: ModelStep,
  referTo: ReferTo | undefined,
) {
  const written = withoutPrivate(envelope.action) as unknown as Action;
  const action = referTo ? actionWithReferences(envelope.channel, written, referTo) : written;
  if (!codec) return action;
  // A version without this action cannot express that turns are restored.
  if (privateMembersOf(envelope.action).restored && !codec.hasAction(action.type)) return RESYNC;
  const states = before !== undefined && after !== undefined && { before: before as Json, after: after as Json };
  return codec.actionDown(action, states || undefined);
}

/** The envelope itself if its action is unchanged: it can then go out as stored text. */
function frame(envelope: Ahp1.ActionEnvelope, action: object): ActionFrame {
  const { channel, origin } = envelope;
  const params = action === envelope.action ? envelope : { ...envelope, action };
  return { method: 'action', params, channel, origin };
}
