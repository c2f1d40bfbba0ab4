/** The thirteen messages that the gateway sends to a provider. */
import { type Static, type TSchema, Type } from 'typebox';
import { Choice, MapOf } from '../schema/define.js';
import { GatewayErrorCode } from './error-codes.js';
import { PROVIDER_PROTOCOL_VERSION } from './limits.js';
import type { ProviderSessionEventName } from './message-types.js';
import {
  ProviderAssistantIntentData,
  ProviderAssistantMessageData,
  ProviderJsonObject,
  ProviderSessionEntry,
  ProviderStreamEvent,
  ProviderToolExecutionData,
  ProviderUserMessageData,
} from './parts.js';

export const ProviderAuthPairingMessage = Type.Object(
  {
    type: Type.Literal('auth.pairing'),
    prompt: Type.String({
      description:
        'What to ask the person. It never holds the code: that reaches the provider through the person alone.',
    }),
  },
  {
    $id: 'ProviderAuthPairingMessage',
    description:
      'The host shows a pairing code for each session to people who look at its clients or its console; ask for one.',
  },
);
export type ProviderAuthPairingMessage = Static<typeof ProviderAuthPairingMessage>;

export const ProviderSessionsMessage = Type.Object(
  {
    type: Type.Literal('sessions'),
    active: Type.Array(ProviderSessionEntry),
    token: Type.Optional(
      Type.String({ description: 'For later connections; only in the answer to a successful pairing.' }),
    ),
  },
  { $id: 'ProviderSessionsMessage', description: 'The provider is authenticated; these sessions are active.' },
);
export type ProviderSessionsMessage = Static<typeof ProviderSessionsMessage>;

export const ProviderSessionsUpdatedMessage = Type.Object(
  { type: Type.Literal('sessions.updated'), active: Type.Array(ProviderSessionEntry) },
  { $id: 'ProviderSessionsUpdatedMessage', description: 'A session started or ended; this is the whole new list.' },
);
export type ProviderSessionsUpdatedMessage = Static<typeof ProviderSessionsUpdatedMessage>;

export const ProviderHelloAckMessage = Type.Object(
  {
    type: Type.Literal('hello.ack'),
    protocolVersion: Type.Literal(PROVIDER_PROTOCOL_VERSION),
    providerId: Type.String({ description: 'The id of the provider in this session.' }),
    reconnectToken: Type.String({
      description: 'Identifies the provider after a break. Replaces every earlier token.',
    }),
    sessionId: Type.Optional(
      Type.String({ description: 'The session that the provider is bound to; absent when bound to all.' }),
    ),
    persistDir: Type.Optional(
      Type.String({ description: "A directory of the provider's own; only for providers that run on this machine." }),
    ),
    degraded: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What the agent of the session cannot do for the provider: `gates:host-run`, `transforms:append`.',
      }),
    ),
  },
  {
    $id: 'ProviderHelloAckMessage',
    description: 'The provider is bound, and its tools, hooks and context are registered.',
  },
);
export type ProviderHelloAckMessage = Static<typeof ProviderHelloAckMessage>;

export const ProviderAckMessage = Type.Object(
  {
    type: Type.Literal('ack'),
    requestId: Type.Optional(Type.String({ description: 'Absent when the update had none.' })),
    sessionId: Type.String(),
    revision: Type.Integer({ minimum: 0, description: "Counts the changes of the provider's registration." }),
    degraded: Type.Optional(
      Type.Array(Type.String(), {
        description: 'After `hooks.update`: what the agent of the session cannot do, as in `hello.ack`.',
      }),
    ),
  },
  {
    $id: 'ProviderAckMessage',
    description: 'An update is in force in this session; every later message reflects this revision.',
  },
);
export type ProviderAckMessage = Static<typeof ProviderAckMessage>;

export const ProviderErrorMessage = Type.Object(
  {
    type: Type.Literal('error'),
    code: Choice(Object.values(GatewayErrorCode), { description: 'One of the error codes of the gateway.' }),
    message: Type.String({ description: 'What was wrong and what to do.' }),
    replyTo: Type.Optional(Type.String({ description: 'The type of the message that was refused.' })),
    providerId: Type.Optional(Type.String({ description: 'The provider that was refused, if it is bound.' })),
    sessionId: Type.Optional(Type.String()),
    requestId: Type.Optional(Type.String({ description: 'The `requestId` of the refused update.' })),
  },
  { $id: 'ProviderErrorMessage', description: 'A message was refused; `code` says what to do.' },
);
export type ProviderErrorMessage = Static<typeof ProviderErrorMessage>;

export const ProviderToolCallMessage = Type.Object(
  {
    type: Type.Literal('tool.call'),
    id: Type.String({ description: 'Comes back with the result.' }),
    sessionId: Type.String(),
    tool: Type.String(),
    args: ProviderJsonObject,
  },
  { $id: 'ProviderToolCallMessage', description: 'The model calls a tool; answer with `tool.result`.' },
);
export type ProviderToolCallMessage = Static<typeof ProviderToolCallMessage>;

export const ProviderToolCancelMessage = Type.Object(
  {
    type: Type.Literal('tool.cancel'),
    id: Type.String({ description: 'The call to stop.' }),
    sessionId: Type.String(),
    reason: Type.String({ description: 'For people and logs, such as `timeout` or `interrupted`.' }),
  },
  { $id: 'ProviderToolCancelMessage', description: 'Stop this call and answer it with the code CANCELLED.' },
);
export type ProviderToolCancelMessage = Static<typeof ProviderToolCancelMessage>;

export const ProviderGateCheckMessage = Type.Object(
  {
    type: Type.Literal('gate.check'),
    gateId: Type.String(),
    callId: Type.String({ description: 'Comes back with the answer.' }),
    sessionId: Type.String(),
    tool: Type.String(),
    args: ProviderJsonObject,
  },
  { $id: 'ProviderGateCheckMessage', description: 'A call waits at a gate; answer with `gate.result`.' },
);
export type ProviderGateCheckMessage = Static<typeof ProviderGateCheckMessage>;

export const ProviderTransformRequestMessage = Type.Object(
  {
    type: Type.Literal('transform.request'),
    callId: Type.String({ description: 'Comes back with the answer.' }),
    sessionId: Type.String(),
    section: Type.String({ description: 'The id of the section.' }),
    current: Type.String({ description: 'Its text so far.' }),
  },
  {
    $id: 'ProviderTransformRequestMessage',
    description: 'A section of the system prompt is about to be used; answer with `transform.result`.',
  },
);
export type ProviderTransformRequestMessage = Static<typeof ProviderTransformRequestMessage>;

/** What each session event carries, by its name. */
const sessionEventData = {
  'user.message': ProviderUserMessageData,
  'assistant.message': ProviderAssistantMessageData,
  'tool.execution_complete': ProviderToolExecutionData,
  'assistant.intent': ProviderAssistantIntentData,
} as const satisfies Record<ProviderSessionEventName, TSchema>;

function eventMessage<Name extends ProviderSessionEventName>(event: Name) {
  return Type.Object({
    type: Type.Literal('session.event'),
    sessionId: Type.String(),
    event: Type.Literal(event),
    data: sessionEventData[event],
  });
}

export const ProviderSessionEventMessage = Type.Union(
  [
    eventMessage('user.message'),
    eventMessage('assistant.message'),
    eventMessage('tool.execution_complete'),
    eventMessage('assistant.intent'),
  ],
  { $id: 'ProviderSessionEventMessage', description: 'Something the provider subscribed to happened in a session.' },
);
export type ProviderSessionEventMessage = Static<typeof ProviderSessionEventMessage>;

const lifecycleMembers = { type: Type.Literal('session.lifecycle'), sessionId: Type.String() };

export const ProviderSessionLifecycleMessage = Type.Union(
  [
    Type.Object({
      ...lifecycleMembers,
      state: Choice(['started', 'idle'], { description: 'The state of the session.' }),
    }),
    Type.Object({
      ...lifecycleMembers,
      state: Type.Literal('shutdown.pending'),
      deadline: Type.Integer({
        minimum: 0,
        description: 'Milliseconds left to clean up and send `shutdown.ready`: a duration, not a point in time.',
      }),
    }),
  ],
  {
    $id: 'ProviderSessionLifecycleMessage',
    description: 'A bound session is ready, has nothing left to do, or is about to end.',
  },
);
export type ProviderSessionLifecycleMessage = Static<typeof ProviderSessionLifecycleMessage>;

export const ProviderStreamHistoryMessage = Type.Object(
  {
    type: Type.Literal('stream.history'),
    queryId: Type.String(),
    streams: MapOf(Type.Array(ProviderStreamEvent), {
      description: "By `stream@provider`, in full also for the provider's own streams; newest first.",
    }),
  },
  { $id: 'ProviderStreamHistoryMessage', description: 'The events that a `stream.query` asked for.' },
);
export type ProviderStreamHistoryMessage = Static<typeof ProviderStreamHistoryMessage>;

/** Sent by the gateway. */
export const toProviderMessages = {
  'auth.pairing': ProviderAuthPairingMessage,
  sessions: ProviderSessionsMessage,
  'sessions.updated': ProviderSessionsUpdatedMessage,
  'hello.ack': ProviderHelloAckMessage,
  ack: ProviderAckMessage,
  error: ProviderErrorMessage,
  'tool.call': ProviderToolCallMessage,
  'tool.cancel': ProviderToolCancelMessage,
  'gate.check': ProviderGateCheckMessage,
  'transform.request': ProviderTransformRequestMessage,
  'session.event': ProviderSessionEventMessage,
  'session.lifecycle': ProviderSessionLifecycleMessage,
  'stream.history': ProviderStreamHistoryMessage,
} as const;
