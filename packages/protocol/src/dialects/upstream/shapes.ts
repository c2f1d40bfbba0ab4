/**
 * Which shapes contain which others: the members of each state, action, command and notification that contain another
 * shape. A delta names the shapes that changed, and this table finds them wherever they occur.
 *
 * Actions and notifications are named by their type, params by their method, results by `<method>:result`. The table
 * has the members of all versions: a member that a version lacks is simply not found.
 */
import { type ChannelKind, channelKind } from '../../ahp-1/channels.js';
import { PRIVATE } from '../../ahp-1/private-members.js';

export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list whose items are read while they are sent. */
export interface LaterList {
  map(change: (item: unknown) => unknown): unknown;
}

export function isLaterList(value: unknown): value is LaterList {
  return isJson(value) && typeof value.map === 'function';
}

/** The shape of each kind of channel's state. */
export const STATE_SHAPES: Readonly<Partial<Record<ChannelKind, string>>> = {
  root: 'RootState',
  session: 'SessionState',
  chat: 'ChatState',
  terminal: 'TerminalState',
  changeset: 'ChangesetState',
  annotations: 'AnnotationsState',
  automation: 'AutomationState',
  automationRun: 'AutomationRunState',
  canvas: 'CanvasState',
  resourceWatch: 'ResourceWatchState',
};

/**
 * What a member contains: `Turn` one, `Turn[]` a list, `Turn!` one without which its holder cannot be expressed either.
 */
type Members = Readonly<Record<string, string>>;

const fileEdit: Members = { before: 'FileEditSide', after: 'FileEditSide' };
const changesets: Members = { changesets: 'Changeset[]' };
const messageOf: Members = { message: 'Message' };
const turn: Members = { ...messageOf, responseParts: 'ResponsePart[]' };
const summary: Members = {
  chats: 'SessionChatSummary[]',
  annotations: 'AnnotationsSummary',
  [PRIVATE]: 'SummaryExtras',
};
const claimed: Members = { claim: 'TerminalClaim' };

const SHAPES: Readonly<Record<string, Members>> = {
  RootState: { agents: 'AgentInfo[]', terminals: 'TerminalInfo[]' },
  AgentInfo: { customizations: 'Customization[]', capabilities: 'AgentCapabilities' },
  TerminalInfo: claimed,

  SessionState: {
    activeClients: 'SessionActiveClient[]',
    chats: 'ChatSummary[]',
    customizations: 'Customization[]',
    inputNeeded: 'SessionInputRequest[]',
    annotations: 'AnnotationsSummary',
    ...changesets,
  },
  SessionSummary: summary,
  SessionSummaryChanges: summary,
  SessionChatSummary: { origin: 'ChatOrigin' },
  SummaryExtras: changesets,
  SessionActiveClient: { customizations: 'Customization[]' },
  SessionInputRequest: { toolCall: 'ToolCall' },
  Customization: { children: 'Customization[]', state: 'McpServerState' },

  ChatState: {
    origin: 'ChatOrigin',
    turns: 'Turn[]',
    activeTurn: 'ActiveTurn',
    steeringMessage: 'PendingMessage',
    queuedMessages: 'PendingMessage[]',
    draft: 'Message',
    backgroundWork: 'BackgroundWork[]',
    ...changesets,
  },
  ChatSummary: { origin: 'ChatOrigin' },
  ChatSummaryChanges: { origin: 'ChatOrigin' },
  Turn: turn,
  ActiveTurn: turn,
  PendingMessage: messageOf,
  Message: { attachments: 'MessageAttachment[]' },
  ResponsePart: { toolCall: 'ToolCall' },
  ToolCall: {
    content: 'ToolResultContent[]',
    edits: 'FileEditList',
    userSuggestion: 'Message',
    toolInput: 'ContentRef',
  },
  ToolCallResult: { content: 'ToolResultContent[]' },
  ToolResultContent: fileEdit,
  FileEditList: { items: 'FileEdit[]' },
  FileEdit: fileEdit,
  FileEditSide: { content: 'ContentRef' },

  TerminalState: claimed,
  ChangesetState: { files: 'ChangesetFile[]' },
  ChangesetFile: { edit: 'FileEdit' },
  AnnotationsState: { annotations: 'Annotation[]' },
  Annotation: { origin: 'AnnotationOrigin' },
  AutomationState: { entries: 'AutomationEntry[]' },
  AutomationEntry: { definition: 'AutomationDefinition' },

  'root/agentsChanged': { agents: 'AgentInfo[]' },
  'root/terminalsChanged': { terminals: 'TerminalInfo[]' },
  'session/chatAdded': { summary: 'ChatSummary' },
  'session/chatUpdated': { changes: 'ChatSummaryChanges!' },
  'session/changesetsChanged': changesets,
  'session/activeClientSet': { activeClient: 'SessionActiveClient' },
  'session/inputNeededSet': { request: 'SessionInputRequest' },
  'session/customizationsChanged': { customizations: 'Customization[]' },
  'session/customizationUpdated': { customization: 'Customization' },
  'session/mcpServerStateChanged': { state: 'McpServerState' },
  'chat/turnStarted': messageOf,
  'chat/responsePart': { part: 'ResponsePart!' },
  'chat/turnsLoaded': { turns: 'Turn[]' },
  'chat/toolCallReady': { edits: 'FileEditList', toolInput: 'ContentRef' },
  'chat/toolCallConfirmed': { userSuggestion: 'Message' },
  'chat/toolCallComplete': { result: 'ToolCallResult' },
  'chat/toolCallContentChanged': { content: 'ToolResultContent[]' },
  'chat/pendingMessageSet': messageOf,
  'chat/draftChanged': { draft: 'Message' },
  'chat/changesetsChanged': changesets,
  'chat/backgroundWorkSet': { work: 'BackgroundWork' },
  'terminal/claimed': claimed,
  'changeset/fileSet': { file: 'ChangesetFile' },
  'changeset/contentChanged': { files: 'ChangesetFile[]' },
  'annotations/set': { annotation: 'Annotation' },
  'annotations/updated': { origin: 'AnnotationOrigin' },
  'automation/set': { automation: 'AutomationEntry' },

  'root/sessionAdded': { summary: 'SessionSummary' },
  'root/sessionSummaryChanged': { changes: 'SessionSummaryChanges!' },

  createSession: { activeClient: 'SessionActiveClient', fork: 'SessionFork' },
  createChat: { initialMessage: 'Message', source: 'ChatSource' },
  moveChat: { destination: 'MoveDestination' },
  createTerminal: claimed,
  'initialize:result': { snapshots: 'Snapshot[]' },
  'reconnect:result': { snapshots: 'Snapshot[]' },
  'subscribe:result': { snapshot: 'Snapshot' },
  'listSessions:result': { items: 'SessionSummary[]' },
  'atrium/listDisposed:result': { items: 'DisposedSession[]' },
  DisposedSession: { summary: 'SessionSummary' },
  'fetchTurns:result': { turns: 'Turn[]' },
  'completions:result': { items: 'CompletionItem[]' },
  CompletionItem: { attachment: 'MessageAttachment!' },
  'invokeChangesetOperation:result': { followUp: 'ChangesetOperationFollowUp' },
  ChangesetOperationFollowUp: { content: 'ContentRef' },
};

/** A member that contains a shape, with its entry in the table. */
export interface Inner {
  readonly member: string;
  readonly shape: string;
  readonly isList: boolean;
  readonly isEssential: boolean;
}

function innerOf([member, held]: readonly [string, string]): Inner {
  const isList = held.endsWith('[]');
  const isEssential = held.endsWith('!');
  return { member, shape: held.replace(/\[\]$|!$/, ''), isList, isEssential };
}

const INNER: ReadonlyMap<string, readonly Inner[]> = new Map(
  Object.entries(SHAPES).map(([shape, members]) => [shape, Object.entries(members).map(innerOf)]),
);

const SNAPSHOTS: ReadonlyMap<string, readonly Inner[]> = new Map(
  Object.values(STATE_SHAPES).map((shape) => [shape, [innerOf(['state', shape])]]),
);

const NONE: readonly Inner[] = [];

/** The members of a value that contain shapes. The content of a snapshot depends on its channel. */
export function innerShapes(shape: string, value: Json): readonly Inner[] {
  if (shape !== 'Snapshot') return INNER.get(shape) ?? NONE;
  const state = typeof value.resource === 'string' && STATE_SHAPES[channelKind(value.resource)];
  return (state && SNAPSHOTS.get(state)) || NONE;
}

/** A shape, and all shapes that it can contain. */
export function shapesWithin(shape: string, seen: Set<string> = new Set()): ReadonlySet<string> {
  if (seen.has(shape)) return seen;
  seen.add(shape);
  const inner = shape === 'Snapshot' ? [...SNAPSHOTS.values()].flat() : (INNER.get(shape) ?? NONE);
  for (const { shape: within } of inner) shapesWithin(within, seen);
  return seen;
}
