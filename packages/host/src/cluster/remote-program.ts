/** A program that another host runs for this one. */
import { type Duplex, Readable, Writable } from 'node:stream';
import type { FolderPlace } from '@atrium/core/contracts/folder-places.js';
import { type Program, ProgramError, type ProgramExit, type ProgramRequest } from '@atrium/core/util/programs.js';
import { PROGRAM_END_MAX_MS, PROGRAM_START_MAX_MS } from './limits.js';
import {
  FrameStream,
  FrameType,
  messageIn,
  StreamSender,
  type StreamType,
  tellTaken,
  WORK_LEVEL,
} from './program-frames.js';

export interface RemoteRequest {
  readonly request: ProgramRequest;
  /** Where the folder is; absent when all hosts see the same folder there, or when there is none. */
  readonly places: readonly FolderPlace[];
  /** The id of the host that runs it. */
  readonly host: string;
  /** Makes a port of this host reachable for that host; returns the name under which it asks for it. */
  offer(port: number): { readonly id: string; withdraw(): void };
}

/** Starts a program at the other end of a connection. Rejects with a `ProgramError` when it does not start there. */
export async function startRemoteProgram(stream: Duplex, asked: RemoteRequest): Promise<RemoteProgram> {
  const program = new RemoteProgram(stream, asked);
  await program.started;
  return program;
}

export class RemoteProgram implements Program {
  readonly stdin: Writable;
  readonly stdout: TakenOutput;
  readonly stderr: TakenOutput;
  readonly started: Promise<void>;
  readonly exited: Promise<ProgramExit>;
  readonly #asked: RemoteRequest;
  readonly #frames: FrameStream;
  readonly #input: StreamSender;
  #begun: () => void = () => {};
  #refused: (error: ProgramError) => void = () => {};
  #exit: (exit: ProgramExit) => void = () => {};
  /** Why it was given up, before the connection ended. */
  #lost: string | undefined;
  #ending: (() => void)[] = [];
  readonly #reaching = new Map<string, (port: number | undefined) => void>();
  #offers: (() => void)[] = [];
  #isOver = false;

  constructor(stream: Duplex, asked: RemoteRequest) {
    this.#asked = asked;
    this.started = new Promise((resolve, reject) => {
      this.#begun = resolve;
      this.#refused = reject;
    });
    this.started.catch(() => {});
    this.exited = new Promise((resolve) => {
      this.#exit = resolve;
    });
    this.#frames = new FrameStream({
      stream,
      received: (type, payload) => this.#received(type, payload),
      closed: () => this.#closed(),
    });
    this.#input = new StreamSender(this.#frames, FrameType.input);
    this.stdin = new Writable({
      write: (chunk: Buffer, _encoding, done) => this.#input.send(chunk, done),
      final: (done) => {
        this.#frames.send(FrameType.inputEnd);
        done();
      },
    });
    this.stdin.on('error', () => {});
    this.stdout = new TakenOutput(this.#frames, FrameType.output);
    this.stderr = new TakenOutput(this.#frames, FrameType.errors);
    const { request, places } = asked;
    // JSON has no undefined.
    const env = Object.fromEntries(Object.entries(request.env).map(([name, value]) => [name, value ?? null]));
    this.#frames.tell(FrameType.start, { ...request, env, level: WORK_LEVEL, places });
    const late = setTimeout(() => this.lose('did not start it in time'), PROGRAM_START_MAX_MS);
    const stop = () => clearTimeout(late);
    this.started.then(stop, stop);
  }

  /** Gives the program up: what happened to the host, as in "host b …". */
  lose(what: string): void {
    this.#lost ??= what;
    this.#frames.close();
  }

  /** The other host ends what it runs for us when the connection ends, also if it does not answer. */
  async end(graceMs: number): Promise<void> {
    if (!this.#isOver) {
      const late = setTimeout(() => this.#frames.close(), graceMs + PROGRAM_END_MAX_MS);
      await new Promise<void>((resolve) => {
        this.#ending.push(resolve);
        this.#frames.tell(FrameType.end, { graceMs });
      });
      clearTimeout(late);
    }
    this.#frames.close();
  }

  async reach(port: number): Promise<number> {
    const { id, withdraw } = this.#asked.offer(port);
    this.#offers.push(withdraw);
    if (this.#isOver) withdraw();
    const reached = await new Promise<number | undefined>((resolve) => {
      if (this.#isOver) return resolve(undefined);
      this.#reaching.set(id, resolve);
      this.#frames.tell(FrameType.reach, { id });
    });
    if (reached === undefined) throw new Error(`host ${this.#asked.host}, on which the program ran, is gone`);
    return reached;
  }

  #received(type: FrameType, payload: Buffer): void {
    if (type === FrameType.started) this.#begun();
    else if (type === FrameType.refused) {
      const { code, message } = messageIn(payload);
      this.#refused(new ProgramError(String(code), String(message)));
      this.#frames.close();
    } else if (type === FrameType.output) this.stdout.came(payload);
    else if (type === FrameType.errors) this.stderr.came(payload);
    else if (type === FrameType.outputEnd) this.stdout.push(null);
    else if (type === FrameType.errorsEnd) this.stderr.push(null);
    else if (type === FrameType.taken) this.#input.taken(Number(messageIn(payload).bytes));
    else if (type === FrameType.exit) {
      const { code, signal } = messageIn(payload);
      this.#exit({ code: typeof code === 'number' ? code : null, signal: typeof signal === 'string' ? signal : null });
    } else if (type === FrameType.ended) for (const ended of this.#ending.splice(0)) ended();
    else if (type === FrameType.reached) {
      const { id, port } = messageIn(payload);
      this.#reaching.get(String(id))?.(typeof port === 'number' ? port : undefined);
      this.#reaching.delete(String(id));
    }
  }

  #closed(): void {
    this.#isOver = true;
    const { host } = this.#asked;
    const lost = `host ${host}, on which it ran, ${this.#lost ?? 'is gone'}`;
    this.#refused(new ProgramError('ELOST', lost));
    this.#exit({ code: null, signal: null, lost });
    for (const ended of this.#ending.splice(0)) ended();
    for (const reached of this.#reaching.values()) reached(undefined);
    for (const withdraw of this.#offers.splice(0)) withdraw();
    this.stdin.destroy();
    for (const output of [this.stdout, this.stderr]) if (!output.readableEnded) output.push(null);
  }
}

/** Output of a program, with news for its host of how much of it has been read. */
class TakenOutput extends Readable {
  readonly #frames: FrameStream;
  readonly #type: StreamType;
  #untold = 0;
  #isOver = false;

  constructor(frames: FrameStream, type: StreamType) {
    super();
    this.#frames = frames;
    this.#type = type;
    this.on('error', () => {});
  }

  came(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#untold += chunk.length;
    if (super.push(chunk)) this.#tell();
  }

  /** Ends once. */
  override push(chunk: Buffer | null): boolean {
    if (this.#isOver) return false;
    if (chunk === null) this.#isOver = true;
    return super.push(chunk);
  }

  override _read(): void {
    this.#tell();
  }

  #tell(): void {
    tellTaken(this.#frames, this.#type, this.#untold);
    this.#untold = 0;
  }
}
