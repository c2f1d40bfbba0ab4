/** Asks the people in a session whether what their folder declares may start. */

import { visibleText } from '@atrium/protocol';
import type { Session } from '../../core/sessions/session.js';
import { folderOf } from '../../core/sessions/session-agent.js';
import { count } from '../../core/util/text.js';
import { askedTogether, isShowable, PROGRAM_LINE_MAX_CHARACTERS, type Program, quoted } from './programs.js';
import type { FolderTrust } from './trust.js';

export interface ProgramStart {
  start(): void;
  /** It does not start, and why: for the people in the session. One of them may have said so. */
  refused?(why: string, isByPerson: boolean): void;
  /** Once it fires, nobody needs the answer any more. */
  readonly signal?: AbortSignal;
}

interface Waiting extends ProgramStart {
  readonly program: Program;
}

const TOO_LONG = `its command line has more than ${PROGRAM_LINE_MAX_CHARACTERS} characters, which nobody could judge; put it into a file`;
const NOT_TRUSTED = 'the folder is not trusted';

export class SessionTrust {
  #waiting: readonly Waiting[] = [];
  /** What the open question shows. An answer counts for that, and for nothing else. */
  #asked: readonly Program[] = [];
  #withdraw = () => {};
  #unwatch = () => {};
  #isAskingSoon = false;
  /** Programs of which it is not yet known whether somebody has to be asked about them. */
  #looking = 0;
  #isRefused = false;
  #isOver = false;

  constructor(
    private readonly session: Session,
    private readonly trust: FolderTrust,
  ) {}

  /** Calls `start` as soon as exactly this program of the session's folder is trusted: now, after a yes, or never. */
  async whenTrusted(program: Program, then: ProgramStart): Promise<void> {
    const folder = folderOf(this.session.state);
    if (folder === undefined || this.session.isClosed) return;
    this.#looking += 1;
    const isTrusted = await this.trust.allows(folder, program.digest);
    this.#looking -= 1;
    if (this.#waiting.length > 0) this.#askSoon(folder);
    if (this.#isOver || then.signal?.aborted) return;
    if (isTrusted) return then.start();
    if (!isShowable(program)) return this.#tooLong(program, then);
    const waiting = { program, ...then };
    this.#waiting = [...this.#waiting, waiting];
    then.signal?.addEventListener('abort', () => this.#drop(waiting, folder), { once: true });
    if (this.#isRefused) return then.refused?.(NOT_TRUSTED, true);
    this.#askSoon(folder);
  }

  /** Whether a person trusts the session's folder, whatever it starts. */
  async isFolderTrusted(): Promise<boolean> {
    const folder = folderOf(this.session.state);
    return folder !== undefined && this.trust.isTrusted(folder);
  }

  /** What does not run, and would if the folder were trusted. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ program }) => program.line);
  }

  /** The session is over: nothing starts here any more. */
  close(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#takeBack();
    this.#unwatch();
  }

  #tooLong(program: Program, { refused }: ProgramStart): void {
    const { logger } = this.session.parts.core;
    const what = program.line.slice(0, 100);
    logger.log('warn', 'a program of a folder does not start', { session: this.session.uri, what, why: TOO_LONG });
    refused?.(TOO_LONG, false);
  }

  #drop(waiting: Waiting, folder: string): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    if (this.#asked.includes(waiting.program)) this.#askSoon(folder);
  }

  /** Many things begin to wait in one moment; they stand in one question. */
  #askSoon(folder: string): void {
    if (this.#isAskingSoon) return;
    this.#isAskingSoon = true;
    setImmediate(() => {
      this.#isAskingSoon = false;
      if (this.#looking === 0 && !this.#isRefused && !this.#isOver) this.#ask(folder);
    });
  }

  /** A question that shows something else is another question: who answers the old one has not seen the new one. */
  #ask(folder: string): void {
    const programs = askedTogether(distinct(this.#waiting.map(({ program }) => program)));
    const isSame = programs.length === this.#asked.length && programs.every((program) => this.#asked.includes(program));
    if (isSame) return;
    this.#takeBack();
    this.#unwatch();
    if (programs.length === 0) return;
    this.#unwatch = this.trust.watch?.(() => void this.#look(folder)) ?? (() => {});
    this.#asked = programs;
    const message = this.#message(folder, programs);
    const hint = 'This client cannot answer: use a newer one, or name the folder as trusted when you start the host.';
    const answered = (response: string) => {
      this.#asked = [];
      if (response === 'accept') void this.#accepted(folder, programs);
      else this.#refuse();
    };
    const request = { id: `trust-${crypto.randomUUID()}`, message, questions: [] };
    this.#withdraw = this.session.standing.ask(request, answered, `${message}\n${hint}`);
    // Somebody may have said yes just before we began to watch.
    void this.#look(folder);
  }

  #message(folder: string, programs: readonly Program[]): string {
    const more = new Set(this.#waiting.map(({ program }) => program.digest)).size - programs.length;
    const rest = more > 0 ? [`These are not all: ${more} more are asked about afterwards, whatever you say now.`] : [];
    return [
      'Do you trust this folder? It wants to start programs on this machine.',
      ...quoted([visibleText(folder, 'line')]),
      `It would start ${count(programs.length, 'program')}:`,
      ...quoted(programs.map(({ line }) => line)),
      ...rest,
      'Nothing of this runs until you accept. Your answer is remembered for this folder and for exactly these programs.',
    ].join('\n');
  }

  /** A person said yes; whether that can be remembered is another matter. */
  async #accepted(folder: string, programs: readonly Program[]): Promise<void> {
    const { logger } = this.session.parts.core;
    const digests = programs.map(({ digest }) => digest);
    await this.trust
      .trust(folder, digests)
      .catch((error) => logger.log('warn', 'could not remember a trusted folder', { folder, error: String(error) }));
    this.#start(new Set(digests));
    this.#askSoon(folder);
  }

  /** Somebody may have said yes elsewhere: in another session of this folder, or in a terminal. */
  async #look(folder: string): Promise<void> {
    const digests = [...new Set(this.#waiting.map(({ program }) => program.digest))];
    const allowed = await Promise.all(
      digests.map(async (digest) => ((await this.trust.allows(folder, digest)) ? [digest] : [])),
    );
    const started = new Set(allowed.flat());
    if (this.#isOver || started.size === 0) return;
    if (this.#asked.some(({ digest }) => started.has(digest))) this.#takeBack();
    this.#start(started);
    this.#askSoon(folder);
  }

  #start(digests: ReadonlySet<string>): void {
    const started = this.#waiting.filter(({ program }) => digests.has(program.digest));
    this.#waiting = this.#waiting.filter((waiting) => !started.includes(waiting));
    for (const { start } of started) start();
  }

  #takeBack(): void {
    this.#asked = [];
    this.#withdraw();
    this.#withdraw = () => {};
  }

  /** Not asked again while the session is in memory. */
  #refuse(): void {
    this.#isRefused = true;
    for (const { refused } of this.#waiting) refused?.(NOT_TRUSTED, true);
  }
}

/** In the same order each time, whichever was looked up first. */
function distinct(programs: readonly Program[]): readonly Program[] {
  const known = new Map(programs.map((program) => [program.digest, program]));
  return [...known.values()].sort((one, other) => (one.line < other.line ? -1 : 1));
}

/** One question about trust per session, whatever waits there for the answer. */

export class SessionTrusts {
  readonly #trusts = new WeakMap<Session, SessionTrust>();

  constructor(private readonly trust: FolderTrust) {}

  of(session: Session): SessionTrust {
    const trust = this.#trusts.get(session) ?? new SessionTrust(session, this.trust);
    this.#trusts.set(session, trust);
    return trust;
  }
}
