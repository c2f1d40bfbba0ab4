/**
 * Dialects written over the 0.3.0 model (0.3.0 itself, 0.2.0 and sessions-v1), stacked on a projection of the 1.0
 * model. They continue to work on 0.3.0 shapes. States are projected when a dialect looks at them.
 *
 * A wire channel has its 0.3.0 name here, also for sessions-v1, whose own names appear only inside its frames.
 */
import { channelKind as modelKind } from '../../ahp-1/channels.js';
import type * as Ahp1 from '../../ahp-1/index.js';
import { actionKind, channelKind } from '../../channels.js';
import { isClientDispatchable } from '../../dispatchable.js';
import { ErrorCode } from '../../errors/codes.js';
import type * as Ahp03 from '../../index.js';
import { checkAction, checkClientRequest, describeProblem, isClientRequest } from '../../validation/index.js';
import type { CallContext, Dialect, ModelRequest, ModelStep, ModelView, StepGroup } from '../dialect.js';
import type { ActionFrame, Dialect03, HostView, InboundNotification, Step } from '../dialect-0.3.js';
import { pluginsOnly, withLeftOut } from '../plugins-only.js';
import { actionDown, isUntranslatable, type Untranslatable } from './actions-down.js';
import { actionUp } from './actions-up.js';
import { notificationDown, requestUp, snapshotDown } from './requests.js';
import { type SessionFacts, sessionAround } from './states.js';

/** One for each older dialect, because hosts tell dialects apart by identity. */
const stacked = new WeakMap<Dialect03, Dialect>();

/** A dialect over the 1.0 model that speaks like an older one over 0.3.0. */
export function over03(dialect: Dialect03): Dialect {
  const known = stacked.get(dialect);
  if (known) return known;
  const made = stack(dialect);
  stacked.set(dialect, made);
  return made;
}

function stack(dialect: Dialect03): Dialect {
  return {
    // Stored JSON has the shapes of 1.0, so text cannot go out unchanged.
    traits: { ...dialect.traits, sendsStoredJson: false },
    ...(dialect.isOfferedIn && { isOfferedIn: dialect.isOfferedIn }),
    forConnection: (connection) => over03(dialect.forConnection(connection)),
    wireChannels: (channel, view) => wireChannels(dialect, channel, view),
    channelsOf,
    request: (call, context) => request(dialect, call, context),
    notification: (call, context) => notification(dialect, call, context),
    encodeError: dialect.encodeError,
    encodeSnapshot: (parts, connection, view) => {
      const snapshot = snapshotDown(parts, view);
      return snapshot && dialect.encodeSnapshot(snapshot, connection, viewDown(view));
    },
    // Streamed text belongs to turns, and no dialect remembers anything of it.
    remember: (memory, group, view) =>
      group.steps.every(isStreamed) ? memory : dialect.remember(memory, stepsDown(group, view).all),
    encodeSteps: (memory, group, view) => {
      const { steps, unsent, close } = stepsDown(group, view);
      const encoded = dialect.encodeSteps(memory, steps);
      const frames = encoded.frames.map((frame) => onChannel(frame, group.channel));
      if (close === undefined) return { ...encoded, frames };
      const after = dialect.remember(encoded.memory, unsent);
      return { memory: after, frames, close: encoded.close ?? close };
    },
    encodeEcho: dialect.encodeEcho,
    encodeRejection: dialect.encodeRejection,
    encodeNotification: (call, view) => {
      const shown = notificationDown(call);
      return shown && dialect.encodeNotification(shown, viewDown(view));
    },
    canSend: dialect.canSend,
  };
}

// Channels

/** The kinds of channels that 0.3.0 has. */
const KINDS: ReadonlySet<string> = new Set(['root', 'session', 'terminal', 'changeset', 'resourceWatch', 'otlp']);

/** A default chat appears as its session; other chats do not appear. */
function wireChannels(dialect: Dialect03, channel: string, view: ModelView): readonly string[] {
  const shown = modelKind(channel) === 'chat' ? sessionShowing(channel, view) : channel;
  if (shown === undefined || !KINDS.has(modelKind(shown))) return [];
  return dialect.wireChannels(shown, viewDown(view)).length > 0 ? [shown] : [];
}

function sessionShowing(chat: string, view: ModelView): string | undefined {
  const session = view.sessionUriOf(chat);
  return session !== undefined && view.defaultChatOf(session) === chat ? session : undefined;
}

function channelsOf(wireChannel: string, view: ModelView): readonly string[] {
  const kind = modelKind(wireChannel);
  if (!KINDS.has(kind)) return [];
  const chat = kind === 'session' ? view.defaultChatOf(wireChannel) : undefined;
  return chat === undefined ? [wireChannel] : [wireChannel, chat];
}

/** The host as an older dialect sees it. */
const viewDown = (view: ModelView): HostView => ({
  providerOf: (channel) => view.providerOf(channel),
  sessionOf: (channel) => {
    const session = view.sessionOf(channel);
    const chat = view.defaultChatOf(channel);
    const chatState = chat === undefined ? undefined : view.chatOf(chat);
    return session && sessionAround(session, chatState, factsOf(channel, view));
  },
  memoryOf: (channel) => view.memoryOf(channel),
});

function factsOf(resource: string, view: ModelView): SessionFacts {
  const { createdAt, modifiedAt } = view.summaryOf(resource) ?? {};
  return { resource, createdAt, modifiedAt };
}

// Calls from clients. Each is checked by the rules of 0.3.0, so that errors are in the client's terms.

/** Methods of 1.0 that 0.3.0 lacks. Other unknown ones may be extensions of the host. */
const LATER_METHODS: ReadonlySet<string> = new Set([
  'createChat',
  'disposeChat',
  'moveChat',
  'listAutomationTriggerDefinitions',
  'runAutomation',
  'fetchAutomationRuns',
]);

type CallOf<Method extends 'request' | 'notification'> = Parameters<Dialect03[Method]>[0];

function request(dialect: Dialect03, call: CallOf<'request'>, { connection, view }: CallContext): ModelRequest {
  const inner = dialect.request(call, connection, viewDown(view));
  if (inner.kind === 'fail') return inner;
  const { method } = inner;
  const fail = (code: ErrorCode, message: string): ModelRequest => {
    return { kind: 'fail', connection: inner.connection, error: { code, message } };
  };
  if (LATER_METHODS.has(method)) return fail(ErrorCode.MethodNotFound, `there is no method ${method}`);
  const checked = isClientRequest(method) ? checkClientRequest(method, pluginsOnly(inner.params).claim) : undefined;
  if (checked && !checked.ok) {
    return fail(ErrorCode.InvalidParams, `${method}: ${describeProblem(checked.problem)}`);
  }
  const up = requestUp({ method, params: (checked?.value as typeof inner.params) ?? inner.params }, view);
  return {
    kind: 'forward',
    connection: inner.connection,
    method,
    params: up.params,
    encodeResult: (result, later) => inner.encodeResult(up.resultDown(result, later), viewDown(later)),
  };
}

function notification(dialect: Dialect03, call: CallOf<'notification'>, context: CallContext): InboundNotification {
  const { view } = context;
  const inner = dialect.notification(call, context.connection, viewDown(view));
  if (inner.kind !== 'dispatch') return inner;
  const { connection, channel, clientSeq, action, original } = inner;
  // An action for a session that does not exist is dropped without an answer.
  if (modelKind(channel) === 'session' && view.providerOf(channel) === undefined) return { kind: 'ignore', connection };
  const reject = (reason: string): InboundNotification => ({
    kind: 'reject',
    connection,
    channel,
    clientSeq,
    original,
    reason,
  });
  const { type } = action;
  if (!isClientDispatchable(type)) return reject(`clients cannot dispatch ${type}`);
  if (actionKind(type) !== channelKind(channel) || !KINDS.has(modelKind(channel))) {
    return reject(`${type} does not belong on ${channel}`);
  }
  const { claim, leftOut } = pluginsOnly(action);
  const checked = checkAction(claim);
  if (!checked.ok) return reject(describeProblem(checked.problem));
  const valid = withLeftOut({ claim: checked.value as { readonly type: string }, leftOut });
  const up = actionUp(valid, { channel, clientId: context.clientId, view });
  return 'refused' in up ? reject(up.refused) : { ...inner, channel: up.channel, action: up.action };
}

// Steps

interface DownSteps {
  /** The steps that 0.3.0 can express, up to the first that it cannot. */
  readonly steps: readonly Step[];
  /** The steps after the first that 0.3.0 cannot express. */
  readonly unsent: readonly Step[];
  readonly all: readonly Step[];
  readonly close?: string;
}

/** The host passes the same group to all dialects, so they share its translation. */
const translated = new WeakMap<StepGroup, DownSteps>();

function stepsDown(group: StepGroup, view: ModelView): DownSteps {
  const known = translated.get(group);
  if (known) return known;
  const made = modelKind(group.channel) === 'session' ? sessionSteps(group, view) : plainSteps(group);
  translated.set(group, made);
  return made;
}

function plainSteps({ steps }: StepGroup): DownSteps {
  return divided(steps.map((step) => shownStep(step, step.envelope.channel)));
}

/** The steps of a session and its default chat, in their order, on one channel. */
function sessionSteps(group: StepGroup, view: ModelView): DownSteps {
  const { channel } = group;
  const chat = view.defaultChatOf(channel);
  const facts = once(() => factsOf(channel, view));
  let states: States = {
    session: group.stateBefore(channel) as States['session'],
    chat: chat === undefined ? undefined : (group.stateBefore(chat) as States['chat']),
  };
  const shown: Shown[] = [];
  for (const step of group.steps) {
    const isOwn = step.envelope.channel === channel;
    if (!isOwn && step.envelope.channel !== chat) continue;
    const before = states;
    states = isOwn
      ? { session: step.after as States['session'], chat: before.chat }
      : { session: before.session, chat: step.after as States['chat'] };
    shown.push(shownStep(step, channel, { before, after: states, facts }));
  }
  return divided(shown);
}

interface States {
  readonly session: Ahp1.SessionState | undefined;
  readonly chat: Ahp1.ChatState | undefined;
}

interface Around {
  readonly before: States;
  readonly after: States;
  /** Looked up when a dialect looks at a state: most steps are translated without. */
  readonly facts: () => SessionFacts;
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function isStreamed({ envelope }: ModelStep): boolean {
  const { type } = envelope.action;
  return type === 'chat/delta' || type === 'chat/reasoning';
}

type Shown = Step | Untranslatable | undefined;

function shownStep({ envelope }: ModelStep, channel: string, around?: Around): Shown {
  const action = actionDown(envelope.action);
  if (action === undefined || isUntranslatable(action)) return action;
  return stepWith({ ...envelope, channel, action } as Ahp03.ActionEnvelope, around);
}

/**
 * A step whose states are projected when a dialect looks at them. They are own members, because dialects copy steps.
 */
function stepWith(envelope: Ahp03.ActionEnvelope, around: Around | undefined): Step {
  if (!around) return { envelope, before: undefined, after: undefined };
  return {
    envelope,
    get before() {
      return projected(around.before, around.facts());
    },
    get after() {
      return projected(around.after, around.facts());
    },
  };
}

function projected({ session, chat }: States, facts: SessionFacts): Ahp03.SessionState | undefined {
  return session && sessionAround(session, chat, facts);
}

function divided(translations: readonly Shown[]): DownSteps {
  const all: Step[] = [];
  let sent: number | undefined;
  let close: string | undefined;
  for (const shown of translations) {
    if (shown === undefined) continue;
    if (!('untranslatable' in shown)) all.push(shown);
    else if (close === undefined) {
      close = shown.untranslatable;
      sent = all.length;
    }
  }
  if (close === undefined) return { steps: all, unsent: [], all };
  return { steps: all.slice(0, sent), unsent: all.slice(sent), all, close };
}

/** Gives a frame the 0.3.0 name of its channel. */
function onChannel(frame: ActionFrame, channel: string): ActionFrame {
  return frame.channel === channel ? frame : { ...frame, channel };
}
