/**
 * Shares what Git says about a folder. Starting a process blocks the event loop, and many sessions of one folder ask
 * the same within seconds. Callers that ask at the same time share one answer, and it is cached for a few seconds while
 * the files behind it stay the same. The host drops all answers when it changes a repository itself.
 */
import { lstat, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { untilAborted } from '@atrium/core/util/waiting.js';
import { GIT_READ_MAX_MS, type GitRun } from './git.js';

/** How long an answer is cached. */
export const GIT_KEPT_MS = 5_000;
/** For how many folders; the oldest is dropped first. */
export const GIT_KEPT_FOLDERS_MAX = 100;

interface Cached<Answer> {
  readonly answer: Answer;
  readonly stamp: string;
  readonly until: number;
}

export interface SharedAnswersOptions<Answer> {
  /** Asks Git. The signal fires when no caller waits for the answer any more. */
  ask(folder: string, signal: AbortSignal): Promise<Answer>;
  /** Whether the answer depends only on the files that are checked. */
  canCache(answer: Answer): boolean;
  now?(): number;
}

/** A question that Git has not answered yet. */
interface Asked<Answer> {
  readonly answer: Promise<Answer>;
  readonly stop: AbortController;
  waiting: number;
}

export class SharedAnswers<Answer> {
  readonly #asked = new Map<string, Asked<Answer>>();
  readonly #cached = new Map<string, Cached<Answer>>();

  constructor(private readonly options: SharedAnswersOptions<Answer>) {}

  /** The answer for a folder. A caller that stops waiting does not stop it for the others; the last one does. */
  async of(folder: string, { signal, timeoutMs = GIT_READ_MAX_MS }: GitRun = {}): Promise<Answer> {
    const asked = this.#asked.get(folder) ?? this.#ask(folder);
    const limit = AbortSignal.timeout(timeoutMs);
    asked.waiting += 1;
    try {
      return await untilAborted(signal ? AbortSignal.any([signal, limit]) : limit, asked.answer);
    } finally {
      asked.waiting -= 1;
      if (asked.waiting === 0) this.#end(folder, asked);
    }
  }

  forget(): void {
    this.#asked.clear();
    this.#cached.clear();
  }

  #ask(folder: string): Asked<Answer> {
    const stop = new AbortController();
    const asked = { answer: this.#known(folder, stop.signal), stop, waiting: 0 };
    this.#asked.set(folder, asked);
    return asked;
  }

  #end(folder: string, asked: Asked<Answer>): void {
    asked.stop.abort();
    if (this.#asked.get(folder) === asked) this.#asked.delete(folder);
  }

  async #known(folder: string, signal: AbortSignal): Promise<Answer> {
    const { ask, canCache } = this.options;
    const kept = this.#cached.get(folder);
    const stamp = await stampOf(folder);
    if (kept && kept.stamp === stamp && this.#now() < kept.until) return kept.answer;
    this.#cached.delete(folder);
    const asked = this.#asked.get(folder);
    const answer = await ask(folder, signal);
    // The answer was dropped or the files changed while Git ran, so it may mix two states.
    const isCurrent = this.#asked.get(folder) === asked && stamp !== undefined && (await stampOf(folder)) === stamp;
    if (isCurrent && canCache(answer)) this.#keep(folder, { answer, stamp, until: this.#now() + GIT_KEPT_MS });
    return answer;
  }

  #keep(folder: string, kept: Cached<Answer>): void {
    const [oldest] = this.#cached.keys();
    if (oldest !== undefined && this.#cached.size >= GIT_KEPT_FOLDERS_MAX) this.#cached.delete(oldest);
    this.#cached.set(folder, kept);
  }

  #now(): number {
    return this.options.now?.() ?? performance.now();
  }
}

/**
 * Changes when the repository of a folder, its branch or its configuration does; undefined when that is not visible.
 */
async function stampOf(folder: string): Promise<string | undefined> {
  try {
    const entry = await entryAbove(folder);
    if (entry === undefined) return undefined;
    const own = await gitFolderAt(entry);
    const shared = await readFile(path.join(own, 'commondir'), 'utf8').then(
      (name) => path.resolve(own, name.trim()),
      () => own,
    );
    const files = [
      ...[entry, path.join(own, 'HEAD'), path.join(own, 'config.worktree'), path.join(shared, 'config')],
      ...[
        path.join(homedir(), '.gitconfig'),
        path.join(process.env.XDG_CONFIG_HOME || path.join(homedir(), '.config'), 'git', 'config'),
      ],
    ];
    return [entry, ...(await Promise.all(files.map(markOf)))].join('\n');
  } catch {
    return undefined;
  }
}

/** The `.git` that Git finds first, in the folder or above it. */
async function entryAbove(folder: string): Promise<string | undefined> {
  const entry = path.join(folder, '.git');
  if ((await markOf(entry)) !== '') return entry;
  const above = path.dirname(folder);
  return above === folder ? undefined : entryAbove(above);
}

/** In a worktree, `.git` is a file that names the folder. */
async function gitFolderAt(entry: string): Promise<string> {
  if ((await stat(entry)).isDirectory()) return entry;
  const [, name = ''] = /^gitdir: (.*)$/m.exec(await readFile(entry, 'utf8')) ?? [];
  return path.resolve(path.dirname(entry), name);
}

async function markOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    return '';
  }
}
