/** A live connection to an agent's process: started, greeted, and gone together with it. */

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
import { AgentError } from '../../core/contracts/agent.js';
import { systemClock } from '../../core/util/clock.js';
import { untilAborted, within } from '../../core/util/waiting.js';
import { type AgentCommand, AgentProcess } from './agent-process.js';
import { acpError } from './errors.js';
import { EXIT_MAX_MS, MESSAGE_MAX_BYTES, START_MAX_MS } from './limits.js';
import { type AcpSdk, loadSdk } from './sdk.js';

/** What an agent may ask of the host. */
export interface AgentRequests {
  /** Something happened in a session; nobody has looked at the value yet. */
  update(params: unknown): void;
  permission(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** Absent where the agent is to use files by itself. */
  readonly files?: {
    read(request: ReadTextFileRequest): Promise<ReadTextFileResponse>;
    write(request: WriteTextFileRequest): Promise<void>;
  };
}

export interface LinkCommand extends AgentCommand {
  /** How to log in, where that needs nobody. */
  readonly login: string | undefined;
}

export class AcpLink {
  #capabilities: AgentCapabilities = {};
  #logins: readonly string[] = [];

  private constructor(
    private readonly command: LinkCommand,
    private readonly process: AgentProcess,
    private readonly connection: ClientConnection,
  ) {
    // A launcher may end while what it started still holds the pipe.
    void process.exited.then(() => connection.close());
  }

  static async open(command: LinkCommand, requests: AgentRequests, signal: AbortSignal): Promise<AcpLink> {
    const sdk = await loadSdk(command.displayName);
    signal.throwIfAborted();
    const process = await AgentProcess.start(command);
    try {
      const link = new AcpLink(command, process, connect(sdk, process, requests));
      await untilAborted(signal, link.#greet(sdk.PROTOCOL_VERSION, requests.files !== undefined));
      return link;
    } catch (error) {
      await process.end();
      throw error;
    }
  }

  /** What the agent says that it can. */
  get capabilities(): AgentCapabilities {
    return this.#capabilities;
  }

  /** Whether it can still be talked to. */
  get isOpen(): boolean {
    return !this.connection.signal.aborted;
  }

  async #greet(protocolVersion: number, offersFiles: boolean): Promise<void> {
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

  /** Asks the agent. Whatever goes wrong becomes an error that a person can act on. */
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

  /** Tells the agent something, if it is still there. */
  tell(say: (agent: ClientConnection['agent']) => Promise<void>): void {
    if (this.isOpen) say(this.connection.agent).catch(() => {});
  }

  async close(graceMs?: number): Promise<void> {
    const ended = this.process.end(graceMs);
    this.connection.close();
    await ended;
  }

  #late(maxMs: number): never {
    const { displayName, command } = this.command;
    const words = `${displayName} did not answer within ${maxMs / 1_000} s${this.process.lastWords}`;
    throw new AgentError('agent-failed', `${words}. Check that ${command} speaks the Agent Client Protocol.`);
  }

  async #lost(): Promise<AgentError> {
    void this.process.end();
    const how = await within(systemClock, EXIT_MAX_MS, this.process.exited, () => 'hung up');
    return new AgentError('agent-failed', `${this.command.displayName} ${how}${this.process.lastWords}`);
  }
}

/** Messages of kinds that this version of the protocol does not know are passed over. */
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
  return app.connect({ readable: readable.pipeThrough(tapped(requests.update)), writable });
}

/**
 * Updates are most of what comes. They are taken out before the package looks at each: in their order, ahead of the
 * answer that ends their turn, and without a word on the console about those that it does not know.
 */
function tapped(update: AgentRequests['update']): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    transform: (message, controller) => {
      const isUpdate = 'method' in message && message.method === 'session/update' && !('id' in message);
      if (isUpdate) update(message.params);
      else controller.enqueue(message);
    },
  });
}
