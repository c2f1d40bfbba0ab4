/** Tools, what they return, and the states that a call goes through. */
import { type Static, Type } from 'typebox';
import { FileEdit, Meta, StringOrMarkdown, URI } from '../common/types.js';
import { Choice, MapOf, OpenUnion } from '../schema/define.js';
import { UserMessage } from './messages.js';

export const ToolSchema = Type.Object(
  {
    type: Type.Literal('object'),
    properties: Type.Optional(MapOf(Type.Object({}), { description: 'A JSON Schema for each argument.' })),
    required: Type.Optional(Type.Array(Type.String(), { description: 'Arguments that must be there.' })),
  },
  { $id: 'ToolSchema', description: "The JSON Schema of a tool's input or output." },
);
export type ToolSchema = Static<typeof ToolSchema>;

export const ToolAnnotations = Type.Object(
  {
    title: Type.Optional(Type.String()),
    readOnlyHint: Type.Optional(Type.Boolean({ description: 'The tool changes nothing.' })),
    destructiveHint: Type.Optional(Type.Boolean({ description: 'The tool may destroy something.' })),
    idempotentHint: Type.Optional(
      Type.Boolean({ description: 'Calling it twice changes no more than calling it once.' }),
    ),
    openWorldHint: Type.Optional(Type.Boolean({ description: 'The tool reaches beyond this machine.' })),
  },
  { $id: 'ToolAnnotations', description: 'Hints about what a tool does. They are not guarantees.' },
);
export type ToolAnnotations = Static<typeof ToolAnnotations>;

export const ToolDefinition = Type.Object(
  {
    name: Type.String(),
    title: Type.Optional(Type.String()),
    description: Type.Optional(Type.String()),
    inputSchema: Type.Optional(ToolSchema),
    outputSchema: Type.Optional(ToolSchema),
    annotations: Type.Optional(ToolAnnotations),
    _meta: Type.Optional(Meta),
  },
  { $id: 'ToolDefinition', description: 'A tool the model may call.' },
);
export type ToolDefinition = Static<typeof ToolDefinition>;

export const ToolResultTextContent = Type.Object(
  { type: Type.Literal('text'), text: Type.String() },
  { $id: 'ToolResultTextContent', description: 'Text from a tool.' },
);
export type ToolResultTextContent = Static<typeof ToolResultTextContent>;

export const ToolResultEmbeddedResourceContent = Type.Object(
  {
    type: Type.Literal('embeddedResource'),
    data: Type.String({ description: 'The bytes, in base64.' }),
    contentType: Type.String(),
  },
  { $id: 'ToolResultEmbeddedResourceContent', description: 'Bytes from a tool, in base64.' },
);
export type ToolResultEmbeddedResourceContent = Static<typeof ToolResultEmbeddedResourceContent>;

export const ToolResultResourceContent = Type.Object(
  {
    type: Type.Literal('resource'),
    uri: URI,
    sizeHint: Type.Optional(Type.Number()),
    contentType: Type.Optional(Type.String()),
  },
  { $id: 'ToolResultResourceContent', description: 'Output of a tool, by reference.' },
);
export type ToolResultResourceContent = Static<typeof ToolResultResourceContent>;

export const ToolResultFileEditContent = Type.Object(
  { type: Type.Literal('fileEdit'), ...FileEdit.properties },
  { $id: 'ToolResultFileEditContent', description: 'A file edit that a tool made.' },
);
export type ToolResultFileEditContent = Static<typeof ToolResultFileEditContent>;

export const ToolResultTerminalContent = Type.Object(
  { type: Type.Literal('terminal'), resource: URI, title: Type.String() },
  { $id: 'ToolResultTerminalContent', description: 'The terminal a tool runs in.' },
);
export type ToolResultTerminalContent = Static<typeof ToolResultTerminalContent>;

export const ToolResultSubagentContent = Type.Object(
  {
    type: Type.Literal('subagent'),
    resource: URI,
    title: Type.String(),
    agentName: Type.Optional(Type.String({ description: 'The name of the subagent.' })),
    description: Type.Optional(Type.String()),
  },
  { $id: 'ToolResultSubagentContent', description: 'The session of a subagent that a tool started.' },
);
export type ToolResultSubagentContent = Static<typeof ToolResultSubagentContent>;

export const ToolResultContent = OpenUnion(
  'type',
  [
    ToolResultTextContent,
    ToolResultEmbeddedResourceContent,
    ToolResultResourceContent,
    ToolResultFileEditContent,
    ToolResultTerminalContent,
    ToolResultSubagentContent,
  ],
  { $id: 'ToolResultContent', description: "One block of a tool's output." },
);
export type ToolResultContent = Static<typeof ToolResultContent>;

export const ToolCallError = Type.Object(
  { message: Type.String(), code: Type.Optional(Type.String({ description: 'For programs, such as `TIMEOUT`.' })) },
  { $id: 'ToolCallError', description: 'Why a tool failed.' },
);
export type ToolCallError = Static<typeof ToolCallError>;

/** The members that a finished call adds. */
const toolCallResultMembers = {
  success: Type.Boolean(),
  pastTenseMessage: StringOrMarkdown,
  content: Type.Optional(Type.Array(ToolResultContent)),
  structuredContent: Type.Optional(MapOf(Type.Unknown())),
  error: Type.Optional(ToolCallError),
};

export const ToolCallResult = Type.Object(
  { ...toolCallResultMembers },
  { $id: 'ToolCallResult', description: 'What a tool returned.' },
);
export type ToolCallResult = Static<typeof ToolCallResult>;

export const FileEditList = Type.Object(
  { items: Type.Array(FileEdit) },
  { $id: 'FileEditList', description: 'The edits that a call will make, shown before a person confirms it.' },
);
export type FileEditList = Static<typeof FileEditList>;

export const ConfirmationOption = Type.Object(
  {
    id: Type.String(),
    label: Type.String(),
    kind: Choice(['approve', 'deny'], { description: 'Whether the button approves or denies.' }),
    group: Type.Optional(Type.Number({ description: 'Buttons with the same number belong together.' })),
  },
  { $id: 'ConfirmationOption', description: 'A button under a request for permission.' },
);
export type ConfirmationOption = Static<typeof ConfirmationOption>;

export const ToolCallConfirmationReason = Choice(['not-needed', 'user-action', 'setting'], {
  $id: 'ToolCallConfirmationReason',
  description: 'Why the call may run.',
});
export type ToolCallConfirmationReason = Static<typeof ToolCallConfirmationReason>;

export const ToolCallCancellationReason = Choice(['denied', 'skipped', 'result-denied'], {
  $id: 'ToolCallCancellationReason',
  description: 'Why a call ended without a result.',
});
export type ToolCallCancellationReason = Static<typeof ToolCallCancellationReason>;

/** The five members that a tool call has in all its states. */
const toolCallBase = {
  toolCallId: Type.String(),
  toolName: Type.String(),
  displayName: Type.String(),
  toolClientId: Type.Optional(Type.String()),
  _meta: Type.Optional(Meta),
};

/** Members of a call once its parameters are complete. */
export const toolCallParameters = {
  invocationMessage: StringOrMarkdown,
  toolInput: Type.Optional(Type.String()),
};

export const ToolCallStreamingState = Type.Object(
  {
    status: Type.Literal('streaming'),
    ...toolCallBase,
    partialInput: Type.Optional(Type.String({ description: 'The arguments so far: the beginning of a JSON text.' })),
    invocationMessage: Type.Optional(StringOrMarkdown),
  },
  { $id: 'ToolCallStreamingState', description: "The model is still writing the call's parameters." },
);
export type ToolCallStreamingState = Static<typeof ToolCallStreamingState>;

export const ToolCallPendingConfirmationState = Type.Object(
  {
    status: Type.Literal('pending-confirmation'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmationTitle: Type.Optional(StringOrMarkdown),
    edits: Type.Optional(FileEditList),
    editable: Type.Optional(Type.Boolean()),
    options: Type.Optional(Type.Array(ConfirmationOption)),
  },
  { $id: 'ToolCallPendingConfirmationState', description: 'The call waits until a person approves or denies it.' },
);
export type ToolCallPendingConfirmationState = Static<typeof ToolCallPendingConfirmationState>;

export const ToolCallRunningState = Type.Object(
  {
    status: Type.Literal('running'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmed: ToolCallConfirmationReason,
    selectedOption: Type.Optional(ConfirmationOption),
    content: Type.Optional(Type.Array(ToolResultContent)),
  },
  { $id: 'ToolCallRunningState', description: 'The tool is running.' },
);
export type ToolCallRunningState = Static<typeof ToolCallRunningState>;

export const ToolCallPendingResultConfirmationState = Type.Object(
  {
    status: Type.Literal('pending-result-confirmation'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmed: ToolCallConfirmationReason,
    selectedOption: Type.Optional(ConfirmationOption),
    ...toolCallResultMembers,
  },
  {
    $id: 'ToolCallPendingResultConfirmationState',
    description: 'The tool has returned; the result waits until a person releases or denies it.',
  },
);
export type ToolCallPendingResultConfirmationState = Static<typeof ToolCallPendingResultConfirmationState>;

export const ToolCallCompletedState = Type.Object(
  {
    status: Type.Literal('completed'),
    ...toolCallBase,
    ...toolCallParameters,
    confirmed: ToolCallConfirmationReason,
    selectedOption: Type.Optional(ConfirmationOption),
    ...toolCallResultMembers,
  },
  { $id: 'ToolCallCompletedState', description: 'The call has ended with a result.' },
);
export type ToolCallCompletedState = Static<typeof ToolCallCompletedState>;

export const ToolCallCancelledState = Type.Object(
  {
    status: Type.Literal('cancelled'),
    ...toolCallBase,
    ...toolCallParameters,
    reason: ToolCallCancellationReason,
    reasonMessage: Type.Optional(StringOrMarkdown),
    userSuggestion: Type.Optional(UserMessage),
    selectedOption: Type.Optional(ConfirmationOption),
  },
  { $id: 'ToolCallCancelledState', description: 'The call has ended without a result.' },
);
export type ToolCallCancelledState = Static<typeof ToolCallCancelledState>;

export const ToolCallState = Type.Union(
  [
    ToolCallStreamingState,
    ToolCallPendingConfirmationState,
    ToolCallRunningState,
    ToolCallPendingResultConfirmationState,
    ToolCallCompletedState,
    ToolCallCancelledState,
  ],
  { $id: 'ToolCallState', description: 'The life of a tool call: streaming, confirmation, run, result.' },
);
export type ToolCallState = Static<typeof ToolCallState>;

export const ToolCallResponsePart = Type.Object(
  { kind: Type.Literal('toolCall'), toolCall: ToolCallState },
  { $id: 'ToolCallResponsePart', description: 'A tool call, in its place in the answer.' },
);
export type ToolCallResponsePart = Static<typeof ToolCallResponsePart>;
