/** The sixteen messages that a provider sends to the gateway. */
import { type Static, Type } from 'typebox';
import { MapOf } from '../schema/define.js';
import { PROVIDER_PROTOCOL_VERSION } from './limits.js';
import {
  ProviderConcurrency,
  ProviderFileReference,
  ProviderFilterRule,
  ProviderHookRule,
  ProviderHooks,
  ProviderJsonObject,
  ProviderName,
  ProviderPushLevel,
  ProviderText,
  ProviderToolDefinition,
  ProviderTransform,
  updateMembers,
} from './parts.js';

// Token and pairing are both optional: an `auth` without either is well formed and fails like a bad token.
// `authClaimOf` in `rules.ts` says which of them a message uses.
export const ProviderAuthMessage = Type.Object(
  {
    type: Type.Literal('auth'),
    token: Type.Optional(
      Type.String({ description: 'The token that the host gave to the process, or that a pairing gave.' }),
    ),
    mode: Type.Optional(Type.Literal('pair', { description: 'Asks for a pairing code.' })),
    /** The name in the pairing notice that the person reads. */
    name: Type.Optional(ProviderName),
  },
  { $id: 'ProviderAuthMessage', description: 'Shows a token, or asks to be paired.' },
);
export type ProviderAuthMessage = Static<typeof ProviderAuthMessage>;

export const ProviderAuthConfirmMessage = Type.Object(
  {
    type: Type.Literal('auth.confirm'),
    code: Type.String({ description: 'Six digits. Anything else is a wrong code, not a malformed message.' }),
  },
  {
    $id: 'ProviderAuthConfirmMessage',
    description:
      'The pairing code that the person typed into the provider. It decides which session the provider may enter.',
  },
);
export type ProviderAuthConfirmMessage = Static<typeof ProviderAuthConfirmMessage>;

export const ProviderHelloMessage = Type.Object(
  {
    type: Type.Literal('hello'),
    name: ProviderName,
    /** Call `speaksOurVersion` in `rules.ts` first: another version has its own error, and possibly another shape. */
    protocolVersion: Type.Literal(PROVIDER_PROTOCOL_VERSION),
    session: Type.Optional(
      Type.String({
        description: 'The id of a session, or `all`. Absent: the one that the provider was started for or paired with.',
      }),
    ),
    instance: Type.Optional(ProviderName),
    reconnectToken: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'From the last `hello.ack`, after a break; null if there is none yet.',
      }),
    ),
    startup_context: Type.Optional(Type.String({ description: 'Given to the model once, when the session starts.' })),
    metadata: Type.Optional(ProviderJsonObject),
    tools: Type.Optional(Type.Array(ProviderToolDefinition)),
    hooks: Type.Optional(ProviderHooks),
    subscribe: Type.Optional(
      Type.Array(Type.String(), { description: 'Names of session events. Unknown names are allowed.' }),
    ),
    context: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: 'Given to the model with every prompt; null or empty for none.',
      }),
    ),
    concurrency: Type.Optional(ProviderConcurrency),
  },
  {
    $id: 'ProviderHelloMessage',
    description: "Binds to a session and registers the provider's tools, hooks and context.",
  },
);
export type ProviderHelloMessage = Static<typeof ProviderHelloMessage>;

export const ProviderGoodbyeMessage = Type.Object(
  { type: Type.Literal('goodbye'), reason: Type.Optional(Type.String({ description: 'For people and logs.' })) },
  { $id: 'ProviderGoodbyeMessage', description: 'The provider leaves on purpose.' },
);
export type ProviderGoodbyeMessage = Static<typeof ProviderGoodbyeMessage>;

export const ProviderSessionReadyMessage = Type.Object(
  { type: Type.Literal('session.ready'), sessionId: Type.String() },
  {
    $id: 'ProviderSessionReadyMessage',
    description: 'A provider bound to all sessions is ready to be registered in this new one.',
  },
);
export type ProviderSessionReadyMessage = Static<typeof ProviderSessionReadyMessage>;

// Data, a file, or a failure indicated by `error`, by `errorCode` or by both: `toolOutcomeOf` in `rules.ts` requires
// one of them and says which. With a union, the schema would not check the fields of shapes that did not match.
export const ProviderToolResultMessage = Type.Object(
  {
    type: Type.Literal('tool.result'),
    id: Type.String({ description: 'The call that ends.' }),
    data: Type.Optional(Type.Unknown({ description: 'The result, any JSON; null is a result, too.' })),
    file: Type.Optional(ProviderFileReference),
    error: Type.Optional(Type.String({ description: 'What went wrong, for the model.' })),
    errorCode: Type.Optional(
      Type.String({ description: 'One of the error codes of tool calls; any other counts as `INTERNAL`.' }),
    ),
    retryable: Type.Optional(Type.Boolean({ description: 'Whether another instance of the provider might succeed.' })),
  },
  { $id: 'ProviderToolResultMessage', description: 'The end of a tool call.' },
);
export type ProviderToolResultMessage = Static<typeof ProviderToolResultMessage>;

export const ProviderToolProgressMessage = Type.Object(
  {
    type: Type.Literal('tool.progress'),
    id: Type.String({ description: 'The call that is running.' }),
    message: Type.String({ description: 'The progress, for people.' }),
  },
  { $id: 'ProviderToolProgressMessage', description: 'Progress of a running tool call; never its end.' },
);
export type ProviderToolProgressMessage = Static<typeof ProviderToolProgressMessage>;

export const ProviderGateResultMessage = Type.Object(
  {
    type: Type.Literal('gate.result'),
    gateId: Type.String(),
    callId: Type.String(),
    /** Read it with `gateDecisionOf`. */
    decision: Type.Optional(
      Type.Unknown({ description: '`allow`, `deny` or `context`. Anything else counts as `deny`.' }),
    ),
    reason: Type.Optional(Type.String({ description: 'Why it was denied, or the context for the model.' })),
  },
  { $id: 'ProviderGateResultMessage', description: 'Whether a held tool call may run.' },
);
export type ProviderGateResultMessage = Static<typeof ProviderGateResultMessage>;

export const ProviderTransformResultMessage = Type.Object(
  {
    type: Type.Literal('transform.result'),
    callId: Type.String(),
    /** Read it with `transformContentOf`. */
    content: Type.Optional(
      Type.Unknown({ description: 'The new text. Anything but a string leaves the section as it was.' }),
    ),
  },
  { $id: 'ProviderTransformResultMessage', description: 'The new text of a section of the system prompt.' },
);
export type ProviderTransformResultMessage = Static<typeof ProviderTransformResultMessage>;

const pushMembers = {
  type: Type.Literal('push'),
  stream: Type.Optional(
    Type.String({
      pattern: '^[^@]+$',
      description:
        'The name of the provider when absent. No `@`: that sign separates stream from provider in `stream.query`.',
    }),
  ),
  sessionId: Type.Optional(
    Type.String({ description: 'The session to send it to; required for a provider that is bound to all sessions.' }),
  ),
  broadcast: Type.Optional(
    Type.Boolean({ description: 'Whether every session gets it; only for providers that are bound to all sessions.' }),
  ),
  metadata: Type.Optional(ProviderJsonObject),
};

export const ProviderEventPush = Type.Object(
  {
    ...pushMembers,
    level: ProviderPushLevel,
    event: ProviderText,
    /** Forbidden, not ignored: otherwise a prompt at the wrong level would pass as this shape. */
    prompt: Type.Optional(Type.Never({ description: 'Not with an event: a prompt always starts a turn.' })),
  },
  {
    $id: 'ProviderEventPush',
    description: 'Something happened; `level` says whether it is stored, shown, or starts a turn.',
  },
);
export type ProviderEventPush = Static<typeof ProviderEventPush>;

export const ProviderPromptPush = Type.Object(
  {
    ...pushMembers,
    /** A prompt always starts a turn, so no other level makes sense. */
    level: Type.Literal('inject'),
    event: Type.Optional(ProviderText),
    prompt: ProviderText,
  },
  { $id: 'ProviderPromptPush', description: 'Starts a turn with this prompt.' },
);
export type ProviderPromptPush = Static<typeof ProviderPromptPush>;

export const ProviderPushMessage = Type.Union([ProviderEventPush, ProviderPromptPush], {
  $id: 'ProviderPushMessage',
  description: 'Something that the provider sends on its own: an event, or a prompt.',
});
export type ProviderPushMessage = Static<typeof ProviderPushMessage>;

export const ProviderToolsUpdateMessage = Type.Object(
  {
    type: Type.Literal('tools.update'),
    ...updateMembers,
    tools: Type.Optional(Type.Array(ProviderToolDefinition)),
    remove: Type.Optional(Type.Array(Type.String(), { description: 'Names. Applied before `tools`.' })),
  },
  {
    $id: 'ProviderToolsUpdateMessage',
    description: 'Removes tools, then adds or replaces others by name; the rest stay.',
  },
);
export type ProviderToolsUpdateMessage = Static<typeof ProviderToolsUpdateMessage>;

export const ProviderHooksUpdateMessage = Type.Object(
  {
    type: Type.Literal('hooks.update'),
    ...updateMembers,
    onPreToolUse: Type.Optional(
      Type.Array(ProviderHookRule, { description: 'The whole new list; absent leaves the rules as they are.' }),
    ),
    transforms: Type.Optional(
      MapOf(Type.Union([ProviderTransform, Type.Null()]), { description: 'Merged by section; null removes one.' }),
    ),
  },
  { $id: 'ProviderHooksUpdateMessage', description: 'Replaces the hook rules and merges the prompt changes.' },
);
export type ProviderHooksUpdateMessage = Static<typeof ProviderHooksUpdateMessage>;

export const ProviderContextUpdateMessage = Type.Object(
  {
    type: Type.Literal('context.update'),
    ...updateMembers,
    context: Type.Union([Type.String(), Type.Null()], { description: 'Null or empty clears it.' }),
  },
  { $id: 'ProviderContextUpdateMessage', description: 'Replaces what the model is told with every prompt.' },
);
export type ProviderContextUpdateMessage = Static<typeof ProviderContextUpdateMessage>;

export const ProviderFilterSetMessage = Type.Object(
  {
    type: Type.Literal('filter.set'),
    ...updateMembers,
    /** May name another provider's stream (`stream@provider`): that is refused as unauthorized, not as malformed. */
    stream: Type.String({ pattern: '\\S', description: "One of the provider's streams." }),
    rules: Type.Array(ProviderFilterRule, { description: 'The first match wins. An empty list removes the filter.' }),
  },
  {
    $id: 'ProviderFilterSetMessage',
    description: "Sets rules by which the gateway routes the events of one of the provider's streams.",
  },
);
export type ProviderFilterSetMessage = Static<typeof ProviderFilterSetMessage>;

export const ProviderStreamQueryMessage = Type.Object(
  {
    type: Type.Literal('stream.query'),
    queryId: Type.String({ description: 'Comes back with the answer.' }),
    sessionId: Type.Optional(Type.String()),
    streams: Type.Array(Type.String({ pattern: '\\S' }), {
      description: '`stream@provider`, or a bare name for a stream of the provider itself.',
    }),
    last: Type.Integer({ minimum: 1, description: 'The number of events of each stream, 100 at most.' }),
  },
  { $id: 'ProviderStreamQueryMessage', description: 'Asks for the latest events of some streams.' },
);
export type ProviderStreamQueryMessage = Static<typeof ProviderStreamQueryMessage>;

export const ProviderShutdownReadyMessage = Type.Object(
  { type: Type.Literal('shutdown.ready'), sessionId: Type.String() },
  { $id: 'ProviderShutdownReadyMessage', description: 'The provider has cleaned up; the session may be torn down.' },
);
export type ProviderShutdownReadyMessage = Static<typeof ProviderShutdownReadyMessage>;

/** Sent by a provider. */
export const toGatewayMessages = {
  auth: ProviderAuthMessage,
  'auth.confirm': ProviderAuthConfirmMessage,
  hello: ProviderHelloMessage,
  goodbye: ProviderGoodbyeMessage,
  'session.ready': ProviderSessionReadyMessage,
  'tool.result': ProviderToolResultMessage,
  'tool.progress': ProviderToolProgressMessage,
  'gate.result': ProviderGateResultMessage,
  'transform.result': ProviderTransformResultMessage,
  push: ProviderPushMessage,
  'tools.update': ProviderToolsUpdateMessage,
  'hooks.update': ProviderHooksUpdateMessage,
  'context.update': ProviderContextUpdateMessage,
  'filter.set': ProviderFilterSetMessage,
  'stream.query': ProviderStreamQueryMessage,
  'shutdown.ready': ProviderShutdownReadyMessage,
} as const;
