/** Implements the ports through which tool calls and the prompt see a turn. */
import type { SessionActiveClient } from '@atrium/protocol/ahp-1';
import type { AgentBackend } from '../contracts/agent.js';
import type { HostTool } from '../contracts/tool.js';
import { sessionSectionsIn } from '../prompt/session-sections.js';
import type { PromptContext } from '../prompt/turn-prompt.js';
import type { CallContext, CallExtensions } from '../tool-calls/call-context.js';
import type { Chat, ChatOptions } from './chat.js';
import { WORKER_DEPTH_MAX } from './limits.js';
import { attachedContent } from './message-contents.js';
import { StoredCommand } from './running-commands.js';
import type { Session } from './session.js';
import type { TurnRunner } from './turn.js';
import { NO_CALL } from './waiters.js';
import { workerDepth } from './workers.js';

/** The agent's judge. What its assessments use counts for the session. */
function judgeOf(session: Session, backend: AgentBackend | undefined): CallContext['judge'] {
  if (!backend?.judge) return undefined;
  return (call, signal) => backend.judge?.(call, signal, (usage) => session.spent(usage)) ?? Promise.reject();
}

export function callContextOf(turn: TurnRunner, options: ChatOptions): CallContext {
  const { chat, id: turnId, workingDirectory, signal } = turn;
  const { session } = chat;
  const { channel, pages, clock, logger, telemetry, blobs, toolOutputMaxCharacters, presence, services, writer } =
    options;
  return {
    ...{ session: session.uri, chat: chat.uri, turnId, workingDirectory, signal, clock, logger, telemetry },
    get workingDirectories() {
      return turn.workingDirectories;
    },
    extensions: extensionsOf(chat, options.worker?.tools),
    judge: judgeOf(session, options.backend),
    permissions: session.permissions,
    blobs,
    outputMaxCharacters: toolOutputMaxCharacters,
    get state() {
      return chat.state;
    },
    get stored() {
      return chat.committed;
    },
    write: (action) => turn.write(action),
    call: (toolCallId, state) => turn.call(toolCallId, state),
    waitFor: ({ toolCallId, alsoSession }, find) =>
      turn.waitFor(alsoSession ? [toolCallId, NO_CALL] : [toolCallId], (state, step) => find(state, step?.action)),
    nextStep: () => turn.nextStep(),
    interruptText: () => turn.interrupt(),
    notify: (note) => turn.notify(note),
    ask: (request) => turn.ask(request),
    openWorker: (start) => turn.openWorker(start),
    plan: (tasks) => turn.plan(tasks),
    isConnected: (clientId) => presence.isConnected(clientId),
    activeClients: () =>
      preferred(session.state.activeClients, turn.startedBy)
        .filter(({ clientId }) => presence.isConnected(clientId))
        .map((client) => withTools(client, options.worker?.tools)),
    unloadedTurns: (last) => pages.slice(channel.committed, Math.max(0, pages.base - last), pages.base),
    runningCommand: (toolCallId) => new StoredCommand(writer, { owner: chat.ownKey, toolCallId }),
    toolContext: (toolCallId) =>
      Object.assign(
        { attachment: (uri: string) => attachedContent(chat, blobs, uri) },
        ...services.map((service) => service.toolContext?.({ session, chat, turnId, toolCallId })),
      ),
  };
}

export function promptContextOf(turn: TurnRunner, options: ChatOptions): PromptContext {
  const { chat, message, agent, signal } = turn;
  const { session } = chat;
  const { backend, clock, logger, telemetry, presence } = options;
  return {
    ...{ session: session.uri, backend, message, agent, signal, clock, logger, telemetry },
    extensions: () => session.extensions.all(),
    responseParts: () => chat.state.activeTurn?.responseParts ?? [],
    activeClients: () => session.committed.activeClients,
    sessionSections: () => sessionSectionsIn(session.committed.config?.values),
    clients: presence,
  };
}

/** The session's extensions, with the tools that may be used in a chat: a worker may get only some. */
function extensionsOf(chat: Chat, names: ReadonlySet<string> | undefined): CallExtensions {
  const { extensions } = chat.session;
  const mayStartWorkers = workerDepth(chat) < WORKER_DEPTH_MAX;
  if (!names && mayStartWorkers) return extensions;
  const isUsable = ({ definition, startsWorkers }: HostTool) =>
    (names?.has(definition.name) ?? true) && (mayStartWorkers || !startsWorkers);
  return {
    all: () => extensions.all(),
    gates: () => extensions.gates(),
    hidden: (uri) => extensions.hidden(uri),
    tools: () => extensions.tools().filter(isUsable),
  };
}

function withTools(client: SessionActiveClient, names: ReadonlySet<string> | undefined): SessionActiveClient {
  return names ? { ...client, tools: client.tools.filter(({ name }) => names.has(name)) } : client;
}

/** The active clients, with the one that started the turn first. */
function preferred(clients: readonly SessionActiveClient[], first: string | undefined): readonly SessionActiveClient[] {
  return [...clients].sort((a, b) => Number(b.clientId === first) - Number(a.clientId === first));
}
