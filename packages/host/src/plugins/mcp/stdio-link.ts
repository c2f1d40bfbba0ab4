/** The link to a server that the host starts as a process: one message per line, over its input and output. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Clock } from '@atrium/core/util/clock.js';
import { endGroup, killOnExit } from '@atrium/core/util/processes.js';
import { OUTPUT_CLOSE_MAX_MS } from '@atrium/core/util/run-process.js';
import { LineSplitter, LineTooLongError, Tail } from '@atrium/core/util/streams.js';
import { shorten, sizeText } from '@atrium/core/util/text.js';
import { within } from '@atrium/core/util/waiting.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { McpStdioConfig } from '../formats/mcp-declarations.js';
import {
  MCP_BACKLOG_MAX_BYTES,
  MCP_END_OF_INPUT_MS,
  MCP_GARBAGE_MAX_LINES,
  MCP_GRACE_MS,
  MCP_MESSAGE_MAX_BYTES,
  MCP_STDERR_MAX_BYTES,
  MCP_TEXT_MAX_CHARACTERS,
} from './limits.js';
import { type Link, type LinkEnd, lost, type Sdk } from './mcp-link.js';

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
  /** Why the host ended it. */
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

  /** Without a reason, the exit of the process provides one. */
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

interface ProcessPlace {
  readonly clock: Clock;
  /** The folder of the process if the declaration names none. */
  readonly folder: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** The process of a server and everything that it started: one group, which ends as a whole. */
class ServerProcess {
  /** How it ended, in words; resolves when none of its processes is left. */
  readonly ended: Promise<string>;
  readonly #child: Child;
  readonly #clock: Clock;
  readonly #errors = new Tail(MCP_STDERR_MAX_BYTES);
  readonly #exited: Promise<string>;
  #ending: Promise<boolean> | undefined;

  /** Throws when the system cannot even try to start the command. */
  constructor({ command, args, cwd }: McpStdioConfig, { clock, folder, env }: ProcessPlace) {
    this.#clock = clock;
    const options = { cwd: cwd ?? folder, env, detached: process.platform !== 'win32', windowsHide: true };
    this.#child = started(() => spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] }));
    const { pid, stdin, stdout, stderr } = this.#child;
    // Without a listener, a broken pipe would end the host.
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});
    stderr.setEncoding('utf8').on('data', (text: string) => this.#errors.push(text));
    this.#exited = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(refusal(error)));
      this.#child.on('exit', (code, signal) => resolve(signal ? `was ended by ${signal}` : `exited with code ${code}`));
    });
    this.ended = pid === undefined ? this.#exited : this.#watch(pid);
  }

  get output(): Readable {
    return this.#child.stdout;
  }

  /** How many bytes wait because the server does not read. */
  get backlog(): number {
    return this.#child.stdin.writableLength;
  }

  write(text: string): void {
    this.#child.stdin.write(text);
  }

  /** Closes its input, then asks it to end, then kills it. */
  async end(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined) this.#ending ??= this.#endInSteps(pid);
    await this.ended;
  }

  async #endInSteps(pid: number): Promise<boolean> {
    this.#child.stdin.end();
    await within(this.#clock, MCP_END_OF_INPUT_MS, this.#exited, () => '');
    return endGroup(pid, this.#clock, MCP_GRACE_MS);
  }

  async #watch(pid: number): Promise<string> {
    const forget = killOnExit(pid);
    const closed = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    const how = await this.#exited;
    await (this.#ending ?? endGroup(pid, this.#clock, MCP_GRACE_MS));
    forget();
    // A process that left the group may still hold the pipes; waiting for it is not worthwhile.
    await within(this.#clock, OUTPUT_CLOSE_MAX_MS, closed, () => {
      for (const stream of [this.#child.stdout, this.#child.stderr]) stream.destroy();
    });
    const lastWords = shorten(this.#errors.text(), MCP_TEXT_MAX_CHARACTERS);
    return lastWords === '' ? `${how}.` : `${how}. It said: ${lastWords}`;
  }
}

function started(start: () => Child): Child {
  try {
    return start();
  } catch (error) {
    throw new Error(`The server ${refusal(error)}`);
  }
}

/** Clients see this text; the system's own error would repeat the command. */
function refusal(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : 'unknown';
  return `could not be started (${code}). Look whether its command is installed and may be run, and its folder is there.`;
}
