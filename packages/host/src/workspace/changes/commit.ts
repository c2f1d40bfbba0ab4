/** Commits what is staged, or everything if nothing is. Programs of the repository run only in a trusted folder. */

import type { InputOutcome } from '@atrium/core/contracts/agent.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { systemClock } from '@atrium/core/util/clock.js';
import { runProcess } from '@atrium/core/util/run-process.js';
import { count } from '@atrium/core/util/text.js';
import type { ChatInputResponseKind } from '@atrium/protocol/ahp-1';
import { shownPath } from '../git/byte-path.js';
import {
  GIT_GRACE_MS,
  GIT_WRITE_MAX_MS,
  GitError,
  gitEnvironment,
  gitErrorText,
  gitText,
  HARMLESS,
  NO_HOOKS,
  plainEnvironment,
} from '../git/git.js';
import { forgetRepositories, type Repository } from '../git/repository.js';
import { isConflict, isStaged, statusOf } from '../git/repository-status.js';
import { stage } from './git-operations.js';
import { COMMIT_MESSAGE_MAX_CHARACTERS } from './limits.js';

/**
 * What is staged, or everything in the folder. Decided when the host asks for the message, not when the answer comes.
 */
export type CommitScope = 'staged' | 'everything';

export interface CommitRequest {
  readonly repository: Repository;
  readonly what: CommitScope;
  readonly message: string;
  readonly isTrusted: boolean;
  readonly signal: AbortSignal;
}

const COMMIT = ['commit', '--quiet', '--file=-', '--cleanup=strip'];
/** Without trust, neither hooks nor signing: an untrusted folder could also name the program to sign with. */
const ALONE = ['--no-verify', '--no-gpg-sign'];
/** How much of the output's end is kept: hooks say there why they refused. */
const OUTPUT_TAIL_CHARACTERS = 4_000;

export async function whatToCommit(repository: Repository): Promise<CommitScope> {
  const { entries } = await statusOf(repository, { renames: false });
  return entries.some(isStaged) ? 'staged' : 'everything';
}

/** Returns a message about what was committed. */
export async function commit({ repository, what, message, isTrusted, signal }: CommitRequest): Promise<string> {
  const { entries } = await statusOf(repository, { renames: false });
  const conflict = entries.find(isConflict);
  if (conflict) throw new GitError(`there is a conflict in ${shownPath(conflict.path)}: resolve and stage it first`);
  if (what === 'everything') await stage(repository, undefined, isTrusted);
  else if (!entries.some(isStaged)) throw new GitError('nothing is staged any more');
  let words = '';
  const end = await runProcess({
    command: 'git',
    args: isTrusted
      ? [...HARMLESS, ...COMMIT]
      : [...HARMLESS, ...NO_HOOKS, ...repository.noPrograms, ...COMMIT, ...ALONE],
    cwd: repository.folder,
    env: isTrusted ? plainEnvironment() : gitEnvironment(),
    input: message,
    signal,
    timeoutMs: GIT_WRITE_MAX_MS,
    graceMs: GIT_GRACE_MS,
    clock: systemClock,
    output: (text) => {
      words = `${words}${text}`.slice(-OUTPUT_TAIL_CHARACTERS);
    },
  });
  forgetRepositories();
  if (end.kind === 'timeout') throw new GitError('the commit took too long and was stopped');
  if (end.kind !== 'exited' || end.code !== 0)
    throw new GitError(`the commit failed: ${gitErrorText(words) || end.kind}`);
  const done = await committedText(repository).catch(() => 'Committed.');
  return isTrusted ? done : `${done} Hooks did not run: the folder is not trusted.`;
}

/** `Committed ca102f9: Add the median (4 files).` */
async function committedText({ folder, noPrograms }: Repository): Promise<string> {
  const show = ['show', '--format=%h: %s', '--name-only', '--no-renames', '--no-ext-diff', 'HEAD'];
  const [subject = '', , ...files] = (await gitText(folder, [...noPrograms, ...show])).split('\n');
  const names = files.filter((name) => name !== '');
  return `Committed ${subject} (${count(names.length, 'file')}).`;
}

const QUESTION = 'message';

/**
 * Asks the people in a session for the message of a commit, because the operation itself has no place for it in the
 * protocol.
 */
export class CommitQuestion {
  readonly #id = `commit-${crypto.randomUUID()}`;
  #then: ((message: string) => void) | undefined;
  #withdraw = () => {};

  constructor(private readonly session: Session) {}

  get isOpen(): boolean {
    return this.#then !== undefined;
  }

  /** Asking again shows the same question. */
  ask(what: string, then: (message: string) => void): void {
    this.#then = then;
    const question = {
      id: QUESTION,
      kind: 'text' as const,
      message: 'Commit message',
      required: true,
      max: COMMIT_MESSAGE_MAX_CHARACTERS,
      defaultValue: this.session.state.title,
    };
    const request = { id: this.#id, message: what, questions: [question] };
    const note = `${what} This client cannot answer: use a newer one, or commit in a terminal.`;
    this.#withdraw = this.session.standing.ask(request, (...answer) => this.#answered(...answer), {
      note,
      least: 'driver',
    });
  }

  #answered(response: ChatInputResponseKind, answers: InputOutcome['answers']): void {
    const then = this.#then;
    this.#then = undefined;
    const answer = answers[QUESTION];
    const isGiven = response === 'accept' && answer?.state === 'submitted' && answer.value.kind === 'text';
    const message = isGiven ? String(answer.value.value).trim() : '';
    if (message !== '') then?.(message.slice(0, COMMIT_MESSAGE_MAX_CHARACTERS));
  }

  close(): void {
    this.#then = undefined;
    this.#withdraw();
  }
}
