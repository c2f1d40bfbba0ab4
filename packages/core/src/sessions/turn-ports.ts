/** A turn as tool calls and the prompt see it: implements their ports. */
import type { SessionActiveClient } from '@atrium/protocol';
import type { PromptContext } from '../prompt/turn-prompt.js';
import type { CallContext } from '../tool-calls/call-context.js';
import { StoredCommand } from './running-commands.js';
import type { SessionOptions } from './session.js';
import type { TurnRunner } from './turn.js';
import { NO_CALL } from './waiters.js';

export function callContextOf(turn: TurnRunner, options: SessionOptions): CallContext {
  const { session, id: turnId, workingDirectory, signal } = turn;
  const { channel, pages, clock, logger, telemetry, blobs, toolOutputMaxCharacters, presence, services, writer } =
    options;
  const activeClient = (): SessionActiveClient | undefined => {
    const client = session.state.activeClient;
    return client && presence.isConnected(client.clientId) ? client : undefined;
  };
  return {
    ...{ session: session.uri, turnId, workingDirectory, signal, clock, logger, telemetry },
    extensions: session.extensions,
    permissions: session.toolPermissions,
    blobs,
    outputMaxCharacters: toolOutputMaxCharacters,
    get state() {
      return session.state;
    },
    get stored() {
      return session.committed;
    },
    write: (action) => turn.write(action),
    call: (toolCallId, state) => turn.call(toolCallId, state),
    waitFor: ({ toolCallId, alsoSession }, find) =>
      turn.waitFor(alsoSession ? [toolCallId, NO_CALL] : [toolCallId], (state, step) => find(state, step?.action)),
    interruptText: () => turn.interrupt(),
    notify: (note) => turn.notify(note),
    ask: (request) => turn.ask(request),
    isConnected: (clientId) => presence.isConnected(clientId),
    activeClient,
    unloadedTurns: (last) => pages.slice(channel.committed, Math.max(0, pages.base - last), pages.base),
    runningCommand: (toolCallId) => new StoredCommand(writer, { session: session.uri, toolCallId }),
    toolContext: (toolCallId) =>
      Object.assign({}, ...services.map((service) => service.toolContext?.({ session, turnId, toolCallId }))),
  };
}

export function promptContextOf(turn: TurnRunner, options: SessionOptions): PromptContext {
  const { session, message, agent, signal } = turn;
  const { backend, clock, logger, telemetry, presence } = options;
  return {
    ...{ session: session.uri, backend, message, agent, signal, clock, logger, telemetry },
    extensions: () => session.extensions.all(),
    responseParts: () => session.state.activeTurn?.responseParts ?? [],
    activeClient: () => session.committed.activeClient,
    clients: presence,
  };
}
