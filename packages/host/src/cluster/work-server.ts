/**
 * The programs that this host runs for the active one. A program lives no longer than its connection, and no longer
 * than the host that asked for it is the active one: both are checked here, because that host may be paused or cut off.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FolderPlace, FolderPlaces } from '@atrium/core/contracts/folder-places.js';
import type { HostTerm } from '@atrium/core/log/shared-log.js';
import { isFolder } from '@atrium/core/util/folders.js';
import type { Logger } from '@atrium/core/util/logger.js';
import {
  type Program,
  ProgramError,
  type ProgramRequest,
  type StartProgram,
  startProgram,
} from '@atrium/core/util/programs.js';
import { joinStreams } from './join-streams.js';
import {
  FrameStream,
  FrameType,
  messageIn,
  StreamSender,
  type StreamType,
  tellTaken,
  WORK_LEVEL,
} from './program-frames.js';

/** Between asking a program to end whose host is gone, and killing it. */
const ORPHAN_GRACE_MS = 500;

export interface WorkServerOptions {
  readonly logger: Logger;
  readonly places: FolderPlaces;
  /** Opens a connection to what a host offers its programs. */
  reach(asker: HostTerm, id: string): Promise<Duplex | undefined>;
  readonly start?: StartProgram;
}

export class WorkServer {
  readonly #options: WorkServerOptions;
  readonly #programs = new Set<ServedProgram>();
  #isLeaving = false;

  constructor(options: WorkServerOptions) {
    this.#options = options;
  }

  /** How many programs run here for another host. */
  get programs(): number {
    return this.#programs.size;
  }

  /** Refuses programs from now on; those that run go on. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Runs the program that the other side names. Waits for programs of an earlier active host to end. */
  take(stream: Duplex, asker: HostTerm): void {
    const ended = this.activeIs(asker);
    const refusal = this.#isLeaving ? new ProgramError('ELEAVING', 'this host is leaving') : undefined;
    const served = new ServedProgram(stream, { ...this.#options, asker, ended, refusal });
    this.#programs.add(served);
    void served.over.then(() => this.#programs.delete(served));
  }

  /** Ends what runs for others than the active host. Resolves when it is gone. */
  async activeIs(active: HostTerm | undefined): Promise<void> {
    const others = [...this.#programs].filter(({ asker }) => !isSame(asker, active));
    if (others.length > 0) {
      const hosts = [...new Set(others.map(({ asker }) => asker.host))].join(', ');
      this.#options.logger.log('warn', 'programs end because their host is not the active one any more', { hosts });
    }
    await Promise.all(others.map((program) => program.cut()));
  }

  /** Ends everything. */
  endAll(): Promise<void> {
    return this.activeIs(undefined);
  }
}

function isSame(one: HostTerm, other: HostTerm | undefined): boolean {
  return one.host === other?.host && one.term === other.term;
}

interface Served extends WorkServerOptions {
  readonly asker: HostTerm;
  /** Settles when programs of others have ended. */
  readonly ended: Promise<void>;
  readonly refusal: ProgramError | undefined;
}

/** What the other host asks for: it has proved that it is one of us. */
type Asked = Partial<Omit<ProgramRequest, 'env'>> & {
  readonly env?: Readonly<Record<string, string | null>>;
  readonly level?: number;
  /** Where the folders of the session are, if not at the same path of every host. */
  readonly places?: readonly FolderPlace[];
};

class ServedProgram {
  readonly asker: HostTerm;
  /** Resolves when the connection has ended and the program is gone. */
  readonly over: Promise<void>;
  readonly #options: Served;
  readonly #frames: FrameStream;
  readonly #senders = new Map<StreamType, StreamSender>();
  readonly #ways = new Set<Server>();
  #program: Promise<Program> | undefined;
  /** The program from the moment that the system is asked to start it. */
  #begun: Promise<Program> | undefined;
  #isCut = false;
  #end: () => void = () => {};

  constructor(stream: Duplex, options: Served) {
    this.#options = options;
    this.asker = options.asker;
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#frames = new FrameStream({
      stream,
      received: (type, payload) => this.#received(type, payload),
      closed: () => void this.#closed(),
    });
  }

  async cut(): Promise<void> {
    this.#frames.close();
    await this.over;
  }

  #received(type: FrameType, payload: Buffer): void {
    if (type === FrameType.start && !this.#program) {
      this.#program = this.#start(messageIn(payload));
      this.#program.then(
        (program) => this.#run(program),
        (error) => this.#refuse(error),
      );
    } else if (type === FrameType.taken) {
      const { type: which, bytes } = messageIn(payload);
      this.#senders.get(which as StreamType)?.taken(Number(bytes));
    } else void this.#tell(type, payload).catch(() => this.#frames.close());
  }

  /** What concerns a program that runs. */
  async #tell(type: FrameType, payload: Buffer): Promise<void> {
    const program = await this.#program;
    if (!program) return this.#frames.close();
    if (type === FrameType.input)
      program.stdin.write(payload, () => tellTaken(this.#frames, FrameType.input, payload.length));
    else if (type === FrameType.inputEnd) program.stdin.end();
    else if (type === FrameType.reach) await this.#open(String(messageIn(payload).id));
    else if (type === FrameType.end) {
      await program.end(Number(messageIn(payload).graceMs));
      this.#frames.send(FrameType.ended);
    }
  }

  async #start(asked: Readonly<Record<string, unknown>>): Promise<Program> {
    const { places, refusal, ended, start = startProgram } = this.#options;
    await ended;
    if (refusal) throw refusal;
    const { level, places: wanted = [], command, args = [], cwd, folders = [], env = {} } = asked as Asked;
    if (level !== WORK_LEVEL) throw new ProgramError('ELEVEL', 'this host is of another release');
    for (const place of wanted) {
      const missing = await places.missing(place);
      if (missing !== undefined) throw new ProgramError('EFOLDER', missing);
    }
    for (const folder of new Set([...(cwd === undefined ? [] : [cwd]), ...folders]))
      if (!(await isFolder(folder))) throw new ProgramError('EFOLDER', `there is no folder ${folder} here`);
    const variables = Object.entries(env).map(([name, value]) => [name, value ?? undefined] as const);
    // A program whose asker is gone is not started any more: another host may run it by now.
    if (this.#isCut) throw new ProgramError('ELOST', 'the host that asked is gone');
    this.#begun = start({ command: String(command), args, cwd, env: Object.fromEntries(variables) });
    return this.#begun;
  }

  #refuse(error: unknown): void {
    const code = error instanceof ProgramError ? error.code : 'UNKNOWN';
    this.#frames.tell(FrameType.refused, { code, message: error instanceof Error ? error.message : String(error) });
  }

  #run(program: Program): void {
    this.#frames.send(FrameType.started);
    this.#pass(program.stdout, FrameType.output, FrameType.outputEnd);
    this.#pass(program.stderr, FrameType.errors, FrameType.errorsEnd);
    void program.exited.then(({ code, signal }) => this.#frames.tell(FrameType.exit, { code, signal }));
  }

  #pass(from: Program['stdout'], type: StreamType, end: FrameType): void {
    const sender = new StreamSender(this.#frames, type);
    this.#senders.set(type, sender);
    from.on('data', (chunk: Buffer) => {
      sender.send(chunk, () => from.resume());
      if (sender.isFull) from.pause();
    });
    from.once('close', () => sender.whenEmpty(() => this.#frames.send(end)));
  }

  /** Opens a port for the program that leads to one of the host that asked for it. */
  async #open(id: string): Promise<void> {
    const { reach, asker } = this.#options;
    const way = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket: Socket) => {
      socket.on('error', () => {});
      void reach(asker, id).then((there) => {
        if (there && !socket.destroyed) return joinStreams(socket, there);
        there?.destroy();
        socket.destroy();
      });
    });
    this.#ways.add(way);
    const port = await new Promise<number | undefined>((resolve) => {
      way.once('error', () => resolve(undefined));
      way.listen(0, '127.0.0.1', () => {
        const address = way.address();
        resolve(typeof address === 'object' && address ? address.port : undefined);
      });
    });
    this.#frames.tell(FrameType.reached, { id, port });
  }

  async #closed(): Promise<void> {
    this.#isCut = true;
    for (const way of this.#ways) way.close();
    const program = await this.#begun?.catch(() => undefined);
    await program?.end(ORPHAN_GRACE_MS).catch(() => {});
    this.#end();
  }
}
