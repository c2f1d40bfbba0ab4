/** A live connection to an agent's process: starts it, initializes the protocol, and closes with it. */
import { Readable, Writable } from 'node:stream';
import type {
  AgentCapabilities,
  AnyMessage,
  ClientConnection,
  InitializeResponse,
  ReadTextFileRequest,
  ReadTextFileResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  WriteTextFileRequest,
} from '@agentclientprotocol/sdk';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { PROGRAM_EXIT_MAX_MS } from '@atrium/core/util/programs.js';
import { untilAborted, within } from '@atrium/core/util/waiting.js';
import { acpError } from './errors.js';
import { type AgentCommand, AgentProcess } from './process.js';

/** Time from the start of the command to its answer to `initialize`: launchers may have to unpack first. */
const START_MAX_MS = 60_000;
/** How often a process is started whose host is lost before it is ready. */
const STARTS_MAX = 3;
const MESSAGE_MAX_BYTES = 16 * 2 ** 20;

/** The requests of an agent to the host. */
export interface AgentRequests {
  /** Handles an event of a session; the value is not checked yet. While the promise is open, the next message waits. */
  update(params: unknown): Promise<void> | undefined;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** Absent when the agent reads and writes files itself. */
  readonly files?: {
    read(request: ReadTextFileRequest): Promise<ReadTextFileResponse>;
    write(request: WriteTextFileRequest): Promise<void>;
  };
}

interface ConnectionCommand extends AgentCommand {
  /** A way to log in without a person. */
  readonly login: string | undefined;
}

export class AcpConnection {
  #capabilities: AgentCapabilities = {};
  #logins: readonly string[] = [];

  private constructor(
    private readonly command: ConnectionCommand,
    private readonly process: AgentProcess,
    private readonly connection: ClientConnection,
  ) {
    // A launcher may end while a process that it started still holds the pipe.
    void process.exited.then(() => connection.close());
  }

  /** Starts again when the process is lost with its host: the agent has not been asked for anything yet. */
  static async open(command: ConnectionCommand, requests: AgentRequests, signal: AbortSignal): Promise<AcpConnection> {
    for (let starts = 1; ; starts++) {
      try {
        return await AcpConnection.#open(command, requests, signal);
      } catch (error) {
        const isLost = error instanceof AgentError && error.errorType === 'host-lost';
        if (!isLost || starts === STARTS_MAX) throw error;
      }
    }
  }

  static async #open(command: ConnectionCommand, requests: AgentRequests, signal: AbortSignal): Promise<AcpConnection> {
    const sdk = await loadSdk(command.displayName);
    signal.throwIfAborted();
    const process = await AgentProcess.start(command);
    try {
      const opened = new AcpConnection(command, process, connect(sdk, process, requests));
      await untilAborted(signal, opened.#initialize(sdk.PROTOCOL_VERSION, requests.files !== undefined));
      return opened;
    } catch (error) {
      await process.end();
      throw error;
    }
  }

  /** The capabilities that the agent declared. */
  get capabilities(): AgentCapabilities {
    return this.#capabilities;
  }

  /** True while the agent can be reached. */
  get isOpen(): boolean {
    return !this.connection.signal.aborted;
  }

  async #initialize(protocolVersion: number, offersFiles: boolean): Promise<void> {
    const fs = { readTextFile: offersFiles, writeTextFile: offersFiles };
    const clientInfo = { name: 'atrium', title: 'Atrium', version: '0.1.0' };
    const hello = { protocolVersion, clientInfo, clientCapabilities: { fs, terminal: false } };
    const answer = await this.request<InitializeResponse>((agent) => agent.request('initialize', hello), START_MAX_MS);
    if (answer.protocolVersion !== protocolVersion) {
      const spoken = `it speaks version ${answer.protocolVersion} of the protocol, the host version ${protocolVersion}`;
      throw new AgentError('agent-failed', `${this.command.displayName} cannot be used: ${spoken}. Update it.`);
    }
    this.#capabilities = answer.agentCapabilities ?? {};
    this.#logins = (answer.authMethods ?? []).map(({ name, description }) =>
      description ? `${name}: ${description}` : name,
    );
    const { login: methodId } = this.command;
    if (methodId !== undefined)
      await this.request((agent) => agent.request('authenticate', { methodId }), START_MAX_MS);
  }

  /** Sends a request. Turns every failure into an error that a person can act on. */
  async request<T>(ask: (agent: ClientConnection['agent']) => Promise<T>, maxMs?: number): Promise<T> {
    try {
      const answer = ask(this.connection.agent);
      return await (maxMs === undefined ? answer : within(systemClock, maxMs, answer, () => this.#late(maxMs)));
    } catch (error) {
      if (error instanceof AgentError) throw error;
      if (!this.isOpen) throw await this.#lost();
      const { displayName, command } = this.command;
      throw acpError(error, { displayName, command, logins: this.#logins });
    }
  }

  /** The port on the agent's machine that leads to a port of this one. */
  reach(port: number): Promise<number> {
    return this.process.reach(port);
  }

  /** Sends a notification, if the connection is open. */
  notify(send: (agent: ClientConnection['agent']) => Promise<void>): void {
    if (this.isOpen) send(this.connection.agent).catch(() => {});
  }

  async close(graceMs?: number): Promise<void> {
    const ended = this.process.end(graceMs);
    this.connection.close();
    await ended;
  }

  #late(maxMs: number): never {
    const { displayName, command } = this.command;
    const words = `${displayName} did not answer within ${maxMs / 1_000} s${this.process.stderrTail}`;
    throw new AgentError('agent-failed', `${words}. Check that ${command} speaks the Agent Client Protocol.`);
  }

  async #lost(): Promise<AgentError> {
    void this.process.end();
    const how = await within(systemClock, PROGRAM_EXIT_MAX_MS, this.process.exited, () => 'hung up');
    const { lost } = this.process;
    const { displayName } = this.command;
    if (lost !== undefined)
      return new AgentError('host-lost', `${displayName} ${how}. Send the message again to go on at another host.`);
    return new AgentError('agent-failed', `${displayName} ${how}${this.process.stderrTail}`);
  }
}

/** Ignores notifications that this version of the protocol does not know. */
function connect(sdk: AcpSdk, process: AgentProcess, requests: AgentRequests): ClientConnection {
  const { permission, files } = requests;
  const app = sdk
    .client({ name: 'atrium' })
    .onNotification('*', () => {})
    .onRequest('session/request_permission', ({ params }) => permission(params));
  if (files) {
    app.onRequest('fs/read_text_file', ({ params }) => files.read(params));
    app.onRequest('fs/write_text_file', async ({ params }) => {
      await files.write(params);
      return {};
    });
  }
  const output = Writable.toWeb(process.stdin);
  const input = Readable.toWeb(process.stdout) as ReadableStream<Uint8Array>;
  const { readable, writable } = sdk.ndJsonStream(output, input, { maxMessageBytes: MESSAGE_MAX_BYTES });
  return app.connect({ readable: readable.pipeThrough(withoutUpdates(requests.update)), writable });
}

/**
 * Takes updates out of the stream before the package reads it. So they keep their order, come before the answer that
 * ends their turn, and the package does not report unknown ones on the console.
 */
function withoutUpdates(update: AgentRequests['update']): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    transform: (message, controller) => {
      const isUpdate = 'method' in message && message.method === 'session/update' && !('id' in message);
      if (isUpdate) return update(message.params);
      controller.enqueue(message);
      return undefined;
    },
  });
}

/** The package is optional, so it is loaded when an agent first needs it. */
type AcpSdk = typeof import('@agentclientprotocol/sdk');

const PACKAGE = '@agentclientprotocol/sdk';

export async function loadSdk(
  displayName: string,
  load: () => Promise<AcpSdk> = () => import('@agentclientprotocol/sdk'),
): Promise<AcpSdk> {
  try {
    return await load();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
    const why = isMissing ? 'which is not installed' : `which cannot be loaded (${String(error)})`;
    throw new AgentError(
      'agent-missing',
      `${displayName} needs the package ${PACKAGE}, ${why}: npm install ${PACKAGE}`,
    );
  }
}
