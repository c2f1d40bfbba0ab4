/** Asks the people in a session whether programs that their folder declares may start. */

import type { Session } from '@atrium/core/sessions/session.js';
import { folderOf } from '@atrium/core/util/folders.js';
import { type Logger, silentLogger } from '@atrium/core/util/logger.js';
import { count } from '@atrium/core/util/text.js';
import { visibleText } from '@atrium/protocol/ahp-1';
import type { FolderTrust } from './folder-trust.js';
import { askedTogether, isShowable, PROGRAM_LINE_MAX_CHARACTERS, type Program, quoted } from './programs.js';

interface ProgramStart {
  start(): void;
  /**
   * Called when the program does not start; `why` is for the people in the session. `isByPerson`: one of them refused.
   */
  refused?(why: string, isByPerson: boolean): void;
  /** Fires when the answer is no longer needed. */
  readonly signal?: AbortSignal;
}

/** The part of a session that questions about trust use. */
interface TrustSession extends Pick<Session, 'uri' | 'state' | 'isClosed'> {
  readonly standing: Pick<Session['standing'], 'ask'>;
}

interface Waiting extends ProgramStart {
  readonly program: Program;
}

const TOO_LONG = `its command line has more than ${PROGRAM_LINE_MAX_CHARACTERS} characters, which no person can judge; put it into a file`;
const NOT_TRUSTED = 'the folder is not trusted';

export class SessionTrust {
  #waiting: readonly Waiting[] = [];
  /** The programs in the open question. An answer counts only for them. */
  #asked: readonly Program[] = [];
  #withdraw = () => {};
  #unwatch = () => {};
  #isAskingSoon = false;
  /** How many lookups that may add to the question are running. */
  #looking = 0;
  #isRefused = false;
  #isOver = false;

  constructor(
    private readonly session: TrustSession,
    private readonly trust: FolderTrust,
    private readonly logger: Logger = silentLogger,
  ) {}

  /** Calls `start` once exactly this program of the session's folder is trusted: now, after a yes, or never. */
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

  /** Whether a person trusts the session's folder, regardless of its programs. */
  async isFolderTrusted(): Promise<boolean> {
    const folder = folderOf(this.session.state);
    return folder !== undefined && this.trust.isTrusted(folder);
  }

  /** The programs that wait for trust. */
  get waiting(): readonly string[] {
    return this.#waiting.map(({ program }) => program.line);
  }

  /** The session has ended; none of its programs starts any more. */
  close(): void {
    this.#isOver = true;
    this.#waiting = [];
    this.#withdrawQuestion();
    this.#unwatch();
  }

  #tooLong(program: Program, { refused }: ProgramStart): void {
    const what = program.line.slice(0, 100);
    this.logger.log('warn', 'a program of a folder does not start', { session: this.session.uri, what, why: TOO_LONG });
    refused?.(TOO_LONG, false);
  }

  #drop(waiting: Waiting, folder: string): void {
    this.#waiting = this.#waiting.filter((other) => other !== waiting);
    if (this.#asked.includes(waiting.program)) this.#askSoon(folder);
  }

  /** Many programs begin to wait at the same moment; one question shows them all. */
  #askSoon(folder: string): void {
    if (this.#isAskingSoon) return;
    this.#isAskingSoon = true;
    setImmediate(() => {
      this.#isAskingSoon = false;
      if (this.#looking === 0 && !this.#isRefused && !this.#isOver) this.#ask(folder);
    });
  }

  /** A question that shows other programs is a different question; an answer to the old one does not count for it. */
  #ask(folder: string): void {
    const programs = askedTogether(distinct(this.#waiting.map(({ program }) => program)));
    const isSame = programs.length === this.#asked.length && programs.every((program) => this.#asked.includes(program));
    if (isSame) return;
    this.#withdrawQuestion();
    this.#unwatch();
    if (programs.length === 0) return;
    this.#unwatch = this.trust.watch?.(() => void this.#check(folder)) ?? (() => {});
    this.#asked = programs;
    const message = this.#message(folder, programs);
    const hint = 'This client cannot answer: use a newer one, or name the folder as trusted when you start the host.';
    const answered = (response: string) => {
      this.#asked = [];
      if (response === 'accept') void this.#accepted(folder, programs);
      else this.#refuse();
    };
    const request = { id: `trust-${crypto.randomUUID()}`, message, questions: [] };
    this.#withdraw = this.session.standing.ask(request, answered, { note: `${message}\n${hint}` });
    // Another session may have got a yes just before this one began to watch.
    void this.#check(folder);
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

  /** The programs start even if the answer cannot be stored. */
  async #accepted(folder: string, programs: readonly Program[]): Promise<void> {
    const digests = programs.map(({ digest }) => digest);
    await this.trust
      .trust(folder, digests)
      .catch((error) =>
        this.logger.log('warn', 'could not remember a trusted folder', { folder, error: String(error) }),
      );
    this.#start(new Set(digests));
    this.#askSoon(folder);
  }

  /** A person may have agreed elsewhere: in another session of this folder, or in a terminal. */
  async #check(folder: string): Promise<void> {
    const digests = [...new Set(this.#waiting.map(({ program }) => program.digest))];
    const allowed = await Promise.all(
      digests.map(async (digest) => ((await this.trust.allows(folder, digest)) ? [digest] : [])),
    );
    const started = new Set(allowed.flat());
    if (this.#isOver || started.size === 0) return;
    if (this.#asked.some(({ digest }) => started.has(digest))) this.#withdrawQuestion();
    this.#start(started);
    this.#askSoon(folder);
  }

  #start(digests: ReadonlySet<string>): void {
    const started = this.#waiting.filter(({ program }) => digests.has(program.digest));
    this.#waiting = this.#waiting.filter((waiting) => !started.includes(waiting));
    for (const { start } of started) start();
  }

  #withdrawQuestion(): void {
    this.#asked = [];
    this.#withdraw();
    this.#withdraw = () => {};
  }

  /** After a refusal, the session does not ask again while it is in memory. */
  #refuse(): void {
    this.#isRefused = true;
    for (const { refused } of this.#waiting) refused?.(NOT_TRUSTED, true);
  }
}

/** In a fixed order, whichever lookup ended first. */
function distinct(programs: readonly Program[]): readonly Program[] {
  const known = new Map(programs.map((program) => [program.digest, program]));
  return [...known.values()].sort((one, other) => (one.line < other.line ? -1 : 1));
}

/** Gives each session one `SessionTrust`, so that everything that waits there shares one question. */
export class SessionTrusts {
  readonly #trusts = new WeakMap<TrustSession, SessionTrust>();

  constructor(
    private readonly trust: FolderTrust,
    private readonly logger: Logger,
  ) {}

  of(session: TrustSession): SessionTrust {
    const trust = this.#trusts.get(session) ?? new SessionTrust(session, this.trust, this.logger);
    this.#trusts.set(session, trust);
    return trust;
  }
}
