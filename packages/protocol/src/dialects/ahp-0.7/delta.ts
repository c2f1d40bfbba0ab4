/**
 * AHP 0.7: 0.9 with the error of a turn as a member instead of a part, customizations that are on or off as a whole,
 * terminals with an exit code instead of a lifecycle, annotations that name a turn, and without automations.
 */
import { ErrorCode as OlderErrorCode } from '../../errors/codes.js';
import { SessionStatus } from '../../session/status.js';
import {
  leaveOut,
  leaveOutChanges,
  listOf,
  only,
  RESYNC,
  type Rewrite,
  type VersionDelta,
  withActivity,
} from '../upstream/delta.js';
import { isJson, type Json } from '../upstream/shapes.js';

/** The last decision for the narrowest scope counts; without any, a customization is on. */
function isEnabled(enablement: unknown): boolean {
  return listOf(enablement)[0]?.enabled !== false;
}

/** A decision of an older client is for its session. */
function enablementOf(enabled: unknown): Json[] {
  return [{ kind: 'session', enabled: enabled !== false }];
}

const SCOPED = ['plugin', 'mcpServer'];

/** For plugins and MCP servers; folders and single entries have always used `enabled`. */
const customizationDown: Rewrite = only('type', SCOPED, ({ enablement, childEnablement: _finer, ...rest }) => ({
  ...rest,
  enabled: isEnabled(enablement),
}));

const customizationUp: Rewrite = only('type', SCOPED, ({ enabled, ...rest }) =>
  enabled === false ? { ...rest, enablement: enablementOf(enabled) } : rest,
);

function turnDown(turn: Json): Json {
  const last = listOf(turn.responseParts).at(-1);
  return turn.state === 'error' && last?.kind === 'error' ? { ...turn, error: last.error } : turn;
}

function turnUp({ error, ...turn }: Json): Json {
  if (!isJson(error)) return turn;
  return { ...turn, responseParts: [...listOf(turn.responseParts), { kind: 'error', error }] };
}

/** A terminal that ended without an exit code looks like a running one, because 0.7 cannot express it. */
function terminalDown({ lifecycle, ...terminal }: Json): Json {
  const exitCode = isJson(lifecycle) ? lifecycle.exitCode : undefined;
  return exitCode === undefined ? terminal : { ...terminal, exitCode };
}

function terminalUp({ exitCode, ...terminal }: Json): Json {
  const lifecycle = typeof exitCode === 'number' ? { status: 'exited', exitCode } : { status: 'running' };
  return { ...terminal, lifecycle };
}

const claimUp: Rewrite = only('kind', ['session'], (claim, { defaultChatOf }) => {
  const chat = claim.chat ?? defaultChatOf?.(String(claim.session));
  return chat === undefined ? claim : { ...claim, chat };
});

/** 0.7 requires a turn; the empty name means none. */
const turnOfOrigin = (origin: unknown) => (isJson(origin) ? (origin.turnId ?? '') : '');

function annotationDown({ origin, ...annotation }: Json): Json {
  return { ...annotation, turnId: turnOfOrigin(origin) };
}

const annotationUp: Rewrite = ({ turnId, ...annotation }, { channel = '' }) => ({
  ...annotation,
  origin: { session: channel.replace(/\/annotations$/, ''), ...(turnId !== '' && { turnId }) },
});

function annotationUpdatedDown({ origin, ...action }: Json): Json {
  return origin === undefined ? action : { ...action, turnId: turnOfOrigin(origin) };
}

/** Up to 0.7 everything that waits raises the flag, even a call that a client runs. */
function sessionDown(session: Json): Json {
  const { origin: _automation, ...rest } = session;
  const lifecycle = session.lifecycle === 'failed' ? 'creationFailed' : session.lifecycle;
  const waits = listOf(session.inputNeeded).length > 0;
  return {
    ...rest,
    lifecycle,
    status: waits ? withActivity(session.status, SessionStatus.InputNeeded) : session.status,
  };
}

function sessionUp(session: Json): Json {
  const lifecycle = session.lifecycle === 'creationFailed' ? 'failed' : session.lifecycle;
  const waiting = listOf(session.inputNeeded);
  const onlyClients = waiting.length > 0 && waiting.every(({ kind }) => kind === 'toolClientExecution');
  return {
    ...session,
    lifecycle,
    status: onlyClients ? withActivity(session.status, SessionStatus.InProgress) : session.status,
  };
}

/** 0.7 has no automations; their messages look like notices of the host. */
function messageDown(message: Json): Json {
  const isAutomation = isJson(message.origin) && message.origin.kind === 'automation';
  return isAutomation ? { ...message, origin: { kind: 'systemNotification' } } : message;
}

function capabilitiesDown(capabilities: Json): Json {
  const { multipleWorkingDirectories } = capabilities;
  if (!isJson(multipleWorkingDirectories)) return capabilities;
  return { ...capabilities, multipleWorkingDirectories: leaveOut('primaryReplacement')(multipleWorkingDirectories) };
}

const cannotExpress: Rewrite = () => RESYNC;

export const ahp07: VersionDelta = {
  version: '0.7.0',
  lacks: {
    channels: ['automation', 'automationRun'],
    methods: ['listAutomationTriggerDefinitions', 'runAutomation', 'fetchAutomationRuns'],
    actions: ['chat/turnResume', 'session/workingDirectoryReplaced'],
  },
  down: {
    Turn: turnDown,
    ResponsePart: (part) => (part.kind === 'error' ? undefined : part),
    'chat/error': ({ part, ...action }) => ({ ...action, error: isJson(part) ? part.error : undefined }),
    'chat/turnResume': cannotExpress,
    'session/workingDirectoryReplaced': cannotExpress,
    Customization: customizationDown,
    'session/customizationToggled': ({ enablement, ...action }) => ({ ...action, enabled: isEnabled(enablement) }),
    TerminalState: terminalDown,
    TerminalInfo: terminalDown,
    TerminalClaim: only('kind', ['session'], leaveOut('chat')),
    Annotation: annotationDown,
    'annotations/updated': annotationUpdatedDown,
    SessionState: sessionDown,
    SessionSummary: leaveOut('origin'),
    SessionSummaryChanges: leaveOutChanges('origin'),
    Message: messageDown,
    AgentCapabilities: capabilitiesDown,
    'auth/required': (params) => (isJson(params.resource) ? { ...params, resource: params.resource.resource } : params),
    'initialize:result': leaveOut('automations'),
  },
  up: {
    Turn: turnUp,
    'chat/error': ({ error, ...action }) => ({ ...action, part: { kind: 'error', error } }),
    Customization: customizationUp,
    'session/customizationToggled': ({ enabled, ...action }) => ({ ...action, enablement: enablementOf(enabled) }),
    TerminalState: terminalUp,
    TerminalInfo: terminalUp,
    TerminalClaim: claimUp,
    Annotation: annotationUp,
    SessionState: sessionUp,
    'auth/required': (params) =>
      typeof params.resource === 'string' ? { ...params, resource: { resource: params.resource } } : params,
  },
  errorsUp: { [OlderErrorCode.ContentNotFound]: OlderErrorCode.NotFound },
};
