/** The parts that messages of the provider interface are made of. */
import { type Static, Type } from 'typebox';
import { Choice, MapOf } from '../schema/define.js';
import { STATIC_TRANSFORM_ACTIONS } from './message-types.js';

export const ProviderName = Type.String({
  // Narrow on purpose: it ends up in paths, in `stream@provider` keys and in tool names.
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  $id: 'ProviderName',
  description: 'The name of a provider, or of one instance of it.',
});
export type ProviderName = Static<typeof ProviderName>;

export const ProviderText = Type.String({
  pattern: '\\S',
  $id: 'ProviderText',
  description: 'Text that is not blank.',
});
export type ProviderText = Static<typeof ProviderText>;

export const ProviderToolName = Type.String({
  pattern: '^\\S+$',
  $id: 'ProviderToolName',
  description: 'The name under which the model calls a tool.',
});
export type ProviderToolName = Static<typeof ProviderToolName>;

export const ProviderJsonObject = MapOf(Type.Unknown(), {
  $id: 'ProviderJsonObject',
  description: 'Any JSON object; this contract does not define its keys.',
});
export type ProviderJsonObject = Static<typeof ProviderJsonObject>;

export const ProviderToolDefinition = Type.Object(
  {
    name: ProviderToolName,
    description: Type.String(),
    /** A JSON Schema. The empty object is legal and means that the tool takes no arguments. */
    parameters: ProviderJsonObject,
    timeout: Type.Optional(
      Type.Integer({ minimum: 1, description: 'Milliseconds until the gateway gives up a call; 60 s when absent.' }),
    ),
  },
  { $id: 'ProviderToolDefinition', description: 'A tool that a provider offers to the model.' },
);
export type ProviderToolDefinition = Static<typeof ProviderToolDefinition>;

export const ProviderConcurrency = Type.Object(
  {
    max: Type.Optional(Type.Integer({ minimum: 1, description: 'The maximum number of concurrent calls.' })),
    scope: Type.Optional(
      Choice(['instance', 'provider', 'tool'], { description: 'What `max` applies to; `instance` when absent.' }),
    ),
  },
  { $id: 'ProviderConcurrency', description: 'How many calls a provider accepts at once; without `max`, any number.' },
);
export type ProviderConcurrency = Static<typeof ProviderConcurrency>;

// The one closed object of this contract. Everywhere else an unknown field is ignored; ignoring an unknown condition
// would make the rule match more calls than its author meant.
export const ProviderMatch = Type.Object(
  {
    tool: Type.Optional(Type.String({ description: 'The name of a tool.' })),
    args: Type.Optional(Type.String({ description: 'A regular expression, tried on the arguments as compact JSON.' })),
    provider: Type.Optional(Type.String({ description: 'The name of the provider that owns the tool.' })),
    file: Type.Optional(Type.String({ description: 'A glob, tried on the arguments that look like paths.' })),
  },
  {
    additionalProperties: false,
    $id: 'ProviderMatch',
    description: 'Which tool calls a rule applies to: every condition given must hold.',
  },
);
export type ProviderMatch = Static<typeof ProviderMatch>;

export const ProviderDenyRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('deny'),
    reason: Type.String({ description: 'What the model is told.' }),
  },
  { $id: 'ProviderDenyRule', description: 'Blocks the call and tells the model `reason`.' },
);
export type ProviderDenyRule = Static<typeof ProviderDenyRule>;

export const ProviderContextRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('context'),
    content: Type.String({ description: 'What the model is told.' }),
  },
  { $id: 'ProviderContextRule', description: 'Lets the call pass and gives the model `content` with it.' },
);
export type ProviderContextRule = Static<typeof ProviderContextRule>;

export const ProviderGateRule = Type.Object(
  {
    match: ProviderMatch,
    action: Type.Literal('gate'),
    gateId: Type.String({ description: 'The id that `gate.check` sends.' }),
    failOpen: Type.Optional(
      Type.Boolean({ description: 'Whether a missing answer lets the call pass; otherwise it blocks the call.' }),
    ),
  },
  { $id: 'ProviderGateRule', description: 'Holds the call until the provider answers `gate.check`.' },
);
export type ProviderGateRule = Static<typeof ProviderGateRule>;

// Closed: a rule whose action we do not know would silently protect nothing.
export const ProviderHookRule = Type.Union([ProviderDenyRule, ProviderContextRule, ProviderGateRule], {
  $id: 'ProviderHookRule',
  description: 'What happens before a matching tool call runs.',
});
export type ProviderHookRule = Static<typeof ProviderHookRule>;

export const ProviderStaticTransform = Type.Object(
  {
    action: Choice(STATIC_TRANSFORM_ACTIONS, { description: 'Where `content` goes.' }),
    content: Type.String({ description: 'The text.' }),
  },
  { $id: 'ProviderStaticTransform', description: 'A fixed change of one section of the system prompt.' },
);
export type ProviderStaticTransform = Static<typeof ProviderStaticTransform>;

export const ProviderCallbackTransform = Type.Object(
  { action: Type.Literal('callback') },
  {
    $id: 'ProviderCallbackTransform',
    description: 'The gateway asks the provider for the section before each prompt.',
  },
);
export type ProviderCallbackTransform = Static<typeof ProviderCallbackTransform>;

export const ProviderTransform = Type.Union([ProviderStaticTransform, ProviderCallbackTransform], {
  $id: 'ProviderTransform',
  description: 'How a provider changes one section of the system prompt.',
});
export type ProviderTransform = Static<typeof ProviderTransform>;

export const ProviderHooks = Type.Object(
  {
    onPreToolUse: Type.Optional(Type.Array(ProviderHookRule)),
    transforms: Type.Optional(MapOf(ProviderTransform, { description: 'By section of the system prompt.' })),
  },
  { $id: 'ProviderHooks', description: 'The rules and prompt changes of a provider.' },
);
export type ProviderHooks = Static<typeof ProviderHooks>;

/** What the four updates of a registration have in common: how they are answered, and where they apply. */
export const updateMembers = {
  requestId: Type.Optional(
    Type.String({
      description:
        'Echoed in `ack` or `error`. Providers should send it; without one the answer cannot be told apart from others.',
    }),
  ),
  sessionId: Type.Optional(Type.String({ description: 'Every bound session when absent.' })),
};

export const ProviderFileReference = Type.Object(
  {
    path: Type.String({ description: 'Absolute, inside the `persistDir` of the provider.' }),
    mimeType: Type.String({ description: 'Its media type.' }),
    size: Type.Integer({ minimum: 0, description: 'In bytes.' }),
    ttl: Type.Number({ minimum: 0, description: 'Seconds until the provider may delete the file.' }),
  },
  { $id: 'ProviderFileReference', description: 'A result too big to send, left in a file for the gateway to read.' },
);
export type ProviderFileReference = Static<typeof ProviderFileReference>;

export const ProviderPushLevel = Choice(['inject', 'surface', 'keep'], {
  $id: 'ProviderPushLevel',
  description: 'What an event does: start a turn, be shown, or only be stored.',
});
export type ProviderPushLevel = Static<typeof ProviderPushLevel>;

export const ProviderFilterRule = Type.Object(
  {
    match: Type.String({ description: 'A regular expression, tried on the text of the event.' }),
    outcome: Choice(['drop', 'keep', 'surface', 'inject'], { description: 'What the event does.' }),
  },
  { $id: 'ProviderFilterRule', description: 'Gives matching events the `outcome`, regardless of their level.' },
);
export type ProviderFilterRule = Static<typeof ProviderFilterRule>;

export const ProviderStreamEvent = Type.Object(
  {
    ts: Type.String({ description: 'ISO 8601, UTC.' }),
    event: Type.String({ description: 'The event that was pushed.' }),
    metadata: Type.Optional(ProviderJsonObject),
  },
  { $id: 'ProviderStreamEvent', description: 'One stored event of a stream.' },
);
export type ProviderStreamEvent = Static<typeof ProviderStreamEvent>;

export const ProviderSessionEntry = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    cwd: Type.Optional(Type.String({ description: 'Its folder; only for a session that the provider may bind to.' })),
  },
  { $id: 'ProviderSessionEntry', description: 'One active session, as a provider may see it.' },
);
export type ProviderSessionEntry = Static<typeof ProviderSessionEntry>;

export const ProviderUserMessageData = Type.Object(
  { content: Type.String({ description: 'The text of the message.' }) },
  { $id: 'ProviderUserMessageData', description: 'The message that a person wrote.' },
);
export type ProviderUserMessageData = Static<typeof ProviderUserMessageData>;

export const ProviderToolRequest = Type.Object(
  { name: Type.String(), args: ProviderJsonObject },
  { $id: 'ProviderToolRequest', description: 'A tool call that the model asked for.' },
);
export type ProviderToolRequest = Static<typeof ProviderToolRequest>;

export const ProviderAssistantMessageData = Type.Object(
  {
    content: Type.String({ description: 'The text of the answer.' }),
    toolRequests: Type.Optional(Type.Array(ProviderToolRequest)),
  },
  { $id: 'ProviderAssistantMessageData', description: 'What the model answered.' },
);
export type ProviderAssistantMessageData = Static<typeof ProviderAssistantMessageData>;

export const ProviderAssistantIntentData = Type.Object(
  { intent: Type.String({ description: 'In a few words.' }) },
  { $id: 'ProviderAssistantIntentData', description: 'What the model says that it will do next.' },
);
export type ProviderAssistantIntentData = Static<typeof ProviderAssistantIntentData>;

export const ProviderToolExecutionResult = Type.Object(
  {
    type: Choice(['success', 'failure'], { description: 'Whether it succeeded.' }),
    output: Type.Optional(Type.String({ description: 'The output, as text.' })),
  },
  { $id: 'ProviderToolExecutionResult', description: 'How a tool call ended.' },
);
export type ProviderToolExecutionResult = Static<typeof ProviderToolExecutionResult>;

export const ProviderToolExecutionData = Type.Object(
  {
    tool: Type.String(),
    provider: Type.Optional(Type.String({ description: 'The provider that owns the tool; absent for other tools.' })),
    args: ProviderJsonObject,
    result: ProviderToolExecutionResult,
    durationMs: Type.Number({ minimum: 0 }),
  },
  { $id: 'ProviderToolExecutionData', description: 'A tool call that has ended, with or without a provider.' },
);
export type ProviderToolExecutionData = Static<typeof ProviderToolExecutionData>;
