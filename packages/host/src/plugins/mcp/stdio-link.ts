/** The way to a server that is a process of ours: one message per line, over its input and output. */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { sizeText } from '../../core/util/text.js';
import type { McpStdioConfig } from '../customizations/parse/mcp-config.js';
import { MCP_BACKLOG_MAX_BYTES, MCP_GARBAGE_MAX_LINES, MCP_MESSAGE_MAX_BYTES } from './limits.js';
import { LineSplitter, LineTooLongError } from './line-splitter.js';
import { type Link, type LinkEnd, lost } from './link.js';
import type { Sdk } from './sdk.js';
import { type ProcessPlace, ServerProcess } from './server-process.js';

export class StdioLink implements Link, Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly ended: Promise<LinkEnd>;
  readonly #sdk: Sdk;
  readonly #process: ServerProcess;
  readonly #lines = new LineSplitter(MCP_MESSAGE_MAX_BYTES);
  #garbage = 0;
  #isOver = false;
  /** Why we ended it, when the process itself did nothing to end. */
  #fault: string | undefined;

  constructor(sdk: Sdk, config: McpStdioConfig, place: ProcessPlace) {
    this.#sdk = sdk;
    this.#process = new ServerProcess(config, place);
    this.ended = this.#process.ended.then((how) => {
      this.#finish();
      return lost(this.#fault ?? `The server ${how}`);
    });
  }

  get transport(): Transport {
    return this;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  async start(): Promise<void> {
    this.#process.output.on('data', (chunk: Buffer) => this.#take(chunk));
    this.#process.output.on('end', () => this.#fail());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isOver) throw new Error('The server has ended.');
    if (this.#process.backlog > MCP_BACKLOG_MAX_BYTES) throw new Error('The server does not read what it is sent.');
    this.#process.write(this.#sdk.serializeMessage(message));
  }

  async close(): Promise<void> {
    this.#finish();
    await this.#process.end();
  }

  #take(chunk: Buffer): void {
    if (this.#isOver) return;
    try {
      for (const line of this.#lines.push(chunk)) this.#takeLine(line);
    } catch (error) {
      if (!(error instanceof LineTooLongError)) return this.onerror?.(asError(error));
      this.#fail(`The server wrote a message of more than ${sizeText(MCP_MESSAGE_MAX_BYTES)}; that is too long.`);
    }
  }

  #takeLine(line: string): void {
    if (this.#isOver) return;
    const message = this.#parse(line);
    if (message) {
      this.#garbage = 0;
      this.onmessage?.(message);
      return;
    }
    this.#garbage += 1;
    if (this.#garbage <= MCP_GARBAGE_MAX_LINES) return;
    this.#fail(
      `The server wrote ${this.#garbage} lines in a row that are no MCP messages. Its standard output is for ` +
        'messages only; anything else belongs on standard error.',
    );
  }

  #parse(line: string): JSONRPCMessage | undefined {
    try {
      return this.#sdk.deserializeMessage(line);
    } catch {
      return undefined;
    }
  }

  /** Without a reason, the process will give one by the way it ends. */
  #fail(fault?: string): void {
    if (this.#isOver) return;
    this.#fault = fault;
    void this.close();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onclose?.();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
