/**
 * AHP 0.6: 0.7 with one working directory, without side chats and attached chats, with tool input always in place, and
 * with the outcome of a terminal command as a separate block.
 */
import { leaveOut, listOf, only, RESYNC, type Rewrite, type VersionDelta } from '../upstream/delta.js';
import { isJson, type Json } from '../upstream/shapes.js';

const firstOf = (directories: unknown) => (Array.isArray(directories) ? directories[0] : undefined);

function oneDirectory({ workingDirectories, ...rest }: Json): Json {
  const workingDirectory = firstOf(workingDirectories);
  return workingDirectory === undefined ? rest : { ...rest, workingDirectory };
}

/** In partial changes, a list that was removed or became empty means a removed folder. */
function oneDirectoryChanged(changes: Json): Json {
  if (!('workingDirectories' in changes)) return changes;
  const { workingDirectories, ...rest } = changes;
  return { ...rest, workingDirectory: firstOf(workingDirectories) ?? null };
}

/** A side chat has no origin here. */
function chatChangesDown(changes: Json): Json {
  const { origin } = changes;
  return oneDirectoryChanged(isJson(origin) && origin.kind === 'sideChat' ? { ...changes, origin: null } : changes);
}

function manyDirectories({ workingDirectory, ...rest }: Json): Json {
  return typeof workingDirectory === 'string' ? { ...rest, workingDirectories: [workingDirectory] } : rest;
}

/** 0.6 shows only the first folder, and has no action for changing it. */
const directoryChanged: Rewrite = (_action, { around }) => {
  const { before, after } = around ?? {};
  return firstOf(before?.workingDirectories) === firstOf(after?.workingDirectories) ? undefined : RESYNC;
};

function capabilitiesDown({ multipleWorkingDirectories: _many, ...capabilities }: Json): Json {
  const { multipleChats } = capabilities;
  return isJson(multipleChats) ? { ...capabilities, multipleChats: leaveOut('sideChat')(multipleChats) } : capabilities;
}

function createChatUp({ source, ...params }: Json): Json {
  return { ...manyDirectories(params), ...(isJson(source) && { source: { ...source, kind: 'fork' } }) };
}

/** A terminal, followed by the outcome of its command. */
function terminalDown({ isPty: _kind, result, ...terminal }: Json): Json | readonly Json[] {
  if (!isJson(result)) return terminal;
  return [terminal, { type: 'terminalComplete', resource: terminal.resource, ...result }];
}

/** Moves outcomes into their terminals. One that names no terminal stays a separate block. */
function outcomesUp(holder: Json): Json {
  const content = listOf(holder.content);
  if (!content.some(isOutcome)) return holder;
  const outcomes = new Map(content.filter(isOutcome).map(({ type: _type, resource, ...result }) => [resource, result]));
  const terminals = new Set(content.filter(({ type }) => type === 'terminal').map(({ resource }) => resource));
  const joined = content.flatMap((block): Json[] => {
    if (isOutcome(block)) return terminals.has(block.resource) ? [] : [outcomeUp(block)];
    const result = block.type === 'terminal' ? outcomes.get(block.resource) : undefined;
    return [result ? { ...block, result } : block];
  });
  return { ...holder, content: joined };
}

const isOutcome = ({ type }: Json) => type === 'terminalComplete';

function outcomeUp({ type, resource, ...result }: Json): Json {
  return typeof resource === 'string' ? { type: 'terminal', resource, title: '', result } : { type, ...result };
}

/** 0.6 has only text as input; clients that need the content behind a reference cannot get it. */
function inlineInput<Value extends Json>(value: Value): Json {
  return isJson(value.toolInput) ? leaveOut('toolInput')(value) : value;
}

/**
 * A pending call that now runs takes its input from this action alone, so the action must repeat it. If the input is
 * not known, the action becomes a person's approval, which keeps it.
 */
const readyDown: Rewrite = (action, { around }) => {
  const ready = inlineInput(leaveOut('contributor', 'intention')(action));
  const isApproval = action.confirmed !== undefined && around?.before?.status === 'pending-confirmation';
  if (!isApproval || ready.toolInput !== undefined) return ready;
  if (!around.after) return approval(ready);
  const input = around.after.toolInput;
  return typeof input === 'string' ? { ...ready, toolInput: input } : ready;
};

/** An approval by the host, in the form of a person's. */
export function approval({ turnId, toolCallId, confirmed, toolInput, _meta }: Json): Json {
  return {
    type: 'chat/toolCallConfirmed',
    turnId,
    toolCallId,
    approved: true,
    confirmed,
    ...(toolInput !== undefined && { editedToolInput: toolInput }),
    ...(_meta !== undefined && { _meta }),
  };
}

/** An edit of referenced input went into the reference; 0.6 would show it in place. */
const confirmedDown: Rewrite = (action, { around }) =>
  isJson(around?.after?.toolInput) ? leaveOut('editedToolInput')(action) : action;

export const ahp06: VersionDelta = {
  version: '0.6.0',
  lacks: {
    actions: [
      'session/workingDirectorySet',
      'session/workingDirectoryRemoved',
      'chat/workingDirectorySet',
      'chat/workingDirectoryRemoved',
    ],
  },
  needsStates: [
    'session/workingDirectorySet',
    'session/workingDirectoryRemoved',
    'chat/workingDirectorySet',
    'chat/workingDirectoryRemoved',
    'chat/toolCallReady',
    'chat/toolCallConfirmed',
  ],
  down: {
    SessionState: oneDirectory,
    SessionSummary: oneDirectory,
    ChatState: oneDirectory,
    ChatSummary: oneDirectory,
    SessionSummaryChanges: oneDirectoryChanged,
    ChatSummaryChanges: chatChangesDown,
    'session/workingDirectorySet': directoryChanged,
    'session/workingDirectoryRemoved': directoryChanged,
    'chat/workingDirectorySet': directoryChanged,
    'chat/workingDirectoryRemoved': directoryChanged,
    AgentCapabilities: capabilitiesDown,
    ChatOrigin: (origin) => (origin.kind === 'sideChat' ? undefined : origin),
    MessageAttachment: (attachment) => (attachment.type === 'chat' ? undefined : attachment),
    ToolResultContent: only('type', ['terminal'], terminalDown),
    TerminalState: leaveOut('isPty'),
    ToolCall: inlineInput,
    'chat/toolCallReady': readyDown,
    'chat/toolCallConfirmed': confirmedDown,
    'chat/toolCallDelta': (action) => ({ ...action, content: action.content ?? '' }),
  },
  up: {
    SessionState: manyDirectories,
    SessionSummary: manyDirectories,
    ChatState: manyDirectories,
    ChatSummary: manyDirectories,
    createSession: manyDirectories,
    createChat: createChatUp,
    ToolCall: outcomesUp,
    ToolCallResult: outcomesUp,
    'chat/toolCallContentChanged': outcomesUp,
  },
};
