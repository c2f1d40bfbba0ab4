/** What tools return, and the states that a call goes through. */
import { type Static, Type } from 'typebox';
import { MapOf, OpenChoice, OpenUnion } from '../../schema/define.js';
import {
  ToolAnnotations,
  ToolCallError,
  ToolDefinition,
  ToolResultEmbeddedResourceContent,
  ToolResultSubagentContent,
  ToolResultTextContent,
  ToolSchema,
} from '../../session/tool-calls.js';
import { ContentRef, contentRefMembers, FileEdit, Meta, StringOrMarkdown, URI } from '../common/types.js';
import { McpAuthRequirement } from '../session/customizations.js';
import { Message } from './messages.js';

export {
  ToolAnnotations,
  ToolCallError,
  ToolDefinition,
  ToolResultEmbeddedResourceContent,
  ToolResultSubagentContent,
  ToolResultTextContent,
  ToolSchema,
};

export const ToolResultResourceContent = Type.Object(
  { type: Type.Literal('resource'), ...contentRefMembers },
  { $id: 'ToolResultResourceContent', description: 'Output of a tool, by reference.' },
);
export type ToolResultResourceContent = Static<typeof ToolResultResourceContent>;

export const ToolResultFileEditContent = Type.Object(
  { type: Type.Literal('fileEdit'), ...FileEdit.properties },
  { $id: 'ToolResultFileEditContent', description: 'A file edit that a tool made.' },
);
export type ToolResultFileEditContent = Static<typeof ToolResultFileEditContent>;

export const TerminalCommandResult = Type.Object(
  {
    exitCode: Type.Optional(Type.Number()),
    preview: Type.Optional(Type.String({ description: 'Output of the command, possibly only a part.' })),
    truncated: Type.Optional(Type.Boolean({ description: 'Whether `preview` is only a part.' })),
  },
  { $id: 'TerminalCommandResult', description: 'How the command ended that a tool ran in a terminal.' },
);
export type TerminalCommandResult = Static<typeof TerminalCommandResult>;

export const ToolResultTerminalContent = Type.Object(
  {
    type: Type.Literal('terminal'),
    resource: URI,
    title: Type.String(),
    isPty: Type.Optional(Type.Boolean({ description: 'Whether it is a real terminal with escape sequences.' })),
    result: Type.Optional(TerminalCommandResult),
  },
  { $id: 'ToolResultTerminalContent', description: 'The terminal a tool runs in, and the outcome once it has ended.' },
);
export type ToolResultTerminalContent = Static<typeof ToolResultTerminalContent>;

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
  { $id: 'ToolCallResult', description: 'What a tool returned. A failed tool is one with `success: false`.' },
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
    kind: OpenChoice(['approve', 'deny'], { description: 'Whether the button approves or denies.' }),
    group: Type.Optional(Type.Number({ description: 'Buttons with the same number belong together.' })),
  },
  { $id: 'ConfirmationOption', description: 'A button under a request for permission.' },
);
export type ConfirmationOption = Static<typeof ConfirmationOption>;

export const ToolCallConfirmationReason = OpenChoice(['not-needed', 'user-action', 'setting'], {
  $id: 'ToolCallConfirmationReason',
  description: 'Why the call may run.',
});
export type ToolCallConfirmationReason = Static<typeof ToolCallConfirmationReason>;

export const ToolCallCancellationReason = OpenChoice(['denied', 'skipped', 'result-denied'], {
  $id: 'ToolCallCancellationReason',
  description: 'Why a call ended without a result.',
});
export type ToolCallCancellationReason = Static<typeof ToolCallCancellationReason>;

export const ToolCallClientContributor = Type.Object(
  { kind: Type.Literal('client'), clientId: Type.String() },
  { $id: 'ToolCallClientContributor', description: 'A client contributed the tool, and runs the call.' },
);
export type ToolCallClientContributor = Static<typeof ToolCallClientContributor>;

export const ToolCallMcpContributor = Type.Object(
  { kind: Type.Literal('mcp'), customizationId: Type.String() },
  { $id: 'ToolCallMcpContributor', description: 'An MCP server contributed the tool.' },
);
export type ToolCallMcpContributor = Static<typeof ToolCallMcpContributor>;

export const ToolCallContributor = OpenUnion('kind', [ToolCallClientContributor, ToolCallMcpContributor], {
  $id: 'ToolCallContributor',
  description: 'What contributed the tool. Absent for tools of the agent and the host.',
});
export type ToolCallContributor = Static<typeof ToolCallContributor>;

export const ToolCallRiskAssessmentLoading = Type.Object(
  { kind: OpenChoice(['judge']), status: Type.Literal('loading') },
  { $id: 'ToolCallRiskAssessmentLoading', description: 'The risk is being assessed.' },
);
export type ToolCallRiskAssessmentLoading = Static<typeof ToolCallRiskAssessmentLoading>;

export const ToolCallRiskAssessmentComplete = Type.Object(
  {
    kind: OpenChoice(['judge']),
    status: Type.Literal('complete'),
    reason: StringOrMarkdown,
    safety: Type.Number({ description: 'From 0, dangerous, to 1, safe.' }),
  },
  { $id: 'ToolCallRiskAssessmentComplete', description: 'How risky the call is.' },
);
export type ToolCallRiskAssessmentComplete = Static<typeof ToolCallRiskAssessmentComplete>;

export const ToolCallRiskAssessment = OpenUnion(
  'status',
  [ToolCallRiskAssessmentLoading, ToolCallRiskAssessmentComplete],
  { $id: 'ToolCallRiskAssessment', description: 'A judgement of the risk, shown to the person who is asked.' },
);
export type ToolCallRiskAssessment = Static<typeof ToolCallRiskAssessment>;

export const ToolInput = Type.Union([Type.String(), ContentRef], {
  $id: 'ToolInput',
  description:
    'The arguments as JSON text, or a reference to it. Referenced text may change until the call is confirmed.',
});
export type ToolInput = Static<typeof ToolInput>;

/** The members that a tool call has in all its states. */
const toolCallBase = {
  toolCallId: Type.String(),
  toolName: Type.String(),
  displayName: Type.String(),
  intention: Type.Optional(Type.String({ description: 'What the model wants to achieve with the call.' })),
  contributor: Type.Optional(ToolCallContributor),
  _meta: Type.Optional(Meta),
};

/** Members of a call once its parameters are complete. */
export const toolCallParameters = {
  invocationMessage: StringOrMarkdown,
  toolInput: Type.Optional(ToolInput),
};

/** Members of a call once it may run. */
const confirmedMembers = {
  confirmed: ToolCallConfirmationReason,
  selectedOption: Type.Optional(ConfirmationOption),
};

/** What a person sees when they are asked to confirm a call. */
export const confirmationMembers = {
  confirmationTitle: Type.Optional(StringOrMarkdown),
  riskAssessment: Type.Optional(ToolCallRiskAssessment),
  edits: Type.Optional(FileEditList),
  editable: Type.Optional(Type.Boolean()),
  options: Type.Optional(Type.Array(ConfirmationOption)),
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
  { status: Type.Literal('pending-confirmation'), ...toolCallBase, ...toolCallParameters, ...confirmationMembers },
  { $id: 'ToolCallPendingConfirmationState', description: 'The call waits until a person approves or denies it.' },
);
export type ToolCallPendingConfirmationState = Static<typeof ToolCallPendingConfirmationState>;

export const ToolCallRunningState = Type.Object(
  {
    status: Type.Literal('running'),
    ...toolCallBase,
    ...toolCallParameters,
    ...confirmedMembers,
    content: Type.Optional(Type.Array(ToolResultContent)),
  },
  { $id: 'ToolCallRunningState', description: 'The tool is running.' },
);
export type ToolCallRunningState = Static<typeof ToolCallRunningState>;

export const ToolCallAuthRequiredState = Type.Object(
  {
    status: Type.Literal('auth-required'),
    ...toolCallBase,
    contributor: ToolCallMcpContributor,
    ...toolCallParameters,
    ...confirmedMembers,
    auth: McpAuthRequirement,
    content: Type.Optional(Type.Array(ToolResultContent)),
  },
  { $id: 'ToolCallAuthRequiredState', description: 'The MCP server needs a token before the call can go on.' },
);
export type ToolCallAuthRequiredState = Static<typeof ToolCallAuthRequiredState>;

export const ToolCallPendingResultConfirmationState = Type.Object(
  {
    status: Type.Literal('pending-result-confirmation'),
    ...toolCallBase,
    ...toolCallParameters,
    ...confirmedMembers,
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
    ...confirmedMembers,
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
    userSuggestion: Type.Optional(Message),
    selectedOption: Type.Optional(ConfirmationOption),
  },
  { $id: 'ToolCallCancelledState', description: 'The call has ended without a result.' },
);
export type ToolCallCancelledState = Static<typeof ToolCallCancelledState>;

export const ToolCallState = OpenUnion(
  'status',
  [
    ToolCallStreamingState,
    ToolCallPendingConfirmationState,
    ToolCallRunningState,
    ToolCallAuthRequiredState,
    ToolCallPendingResultConfirmationState,
    ToolCallCompletedState,
    ToolCallCancelledState,
  ],
  { $id: 'ToolCallState', description: 'The life of a tool call: streaming, confirmation, run, sign-in, result.' },
);
export type ToolCallState = Static<typeof ToolCallState>;
