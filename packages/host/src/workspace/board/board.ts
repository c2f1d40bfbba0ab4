/**
 * The board of a project: its sessions side by side, each with its branch, its changes, the result of its last test run
 * and its cost; and the actions of people on these branches. See `docs/board.md`.
 */
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { RequestError } from '@atrium/core/contracts/request-error.js';
import type { Work } from '@atrium/core/contracts/work.js';
import type { Service } from '@atrium/core/sessions/service.js';
import type { Session } from '@atrium/core/sessions/session.js';
import type { Sessions } from '@atrium/core/sessions/sessions.js';
import { folderOf, pathOfUri } from '@atrium/core/util/folders.js';
import { mapSome } from '@atrium/core/util/scheduling.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { errorText, shorten } from '@atrium/core/util/text.js';
import {
  BOARD_METHOD,
  type Board,
  type BoardCard,
  BRANCH_ACTION_METHOD,
  BRANCH_ACTIONS,
  type BranchActionName,
  type BranchComparison,
  COMPARE_BRANCHES_METHOD,
  type CommitProposal,
  ErrorCode,
  PROPOSE_COMMIT_METHOD,
  type ProjectOfWorktree,
  PULL_REQUEST_METHOD,
  type PullRequest,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import type { FolderTrust } from '../../plugins/trust/folder-trust.js';
import { commit, whatToCommit } from '../changes/commit.js';
import { COMMIT_MESSAGE_MAX_CHARACTERS } from '../changes/limits.js';
import { linesOfNew } from '../changes/uncommitted-source.js';
import { shownPath } from '../git/byte-path.js';
import { GitError } from '../git/git.js';
import { projectsOf } from '../git/projects.js';
import { branchIn, findRepository, type Repository } from '../git/repository.js';
import { isStaged, statusOf } from '../git/repository-status.js';
import {
  branchesIn,
  commitOfBranch,
  compare,
  countsOf,
  distance,
  merge,
  mergeBase,
  NO_REMOTE,
  push,
  rebase,
  remoteOf,
  removeWorktree,
} from './branches.js';
import {
  BOARD_AT_ONCE,
  BOARD_CARDS_MAX,
  FILES_NAMED_MAX,
  FRESH_COUNTED_MAX,
  PROPOSAL_MAX_MS,
  PROPOSED_FILES_MAX,
} from './limits.js';
import { intoItself, pullRequest } from './pull-requests.js';
import { lastTests } from './test-results.js';

export interface BoardOptions {
  readonly sessions: Pick<Sessions, 'open' | 'inMemory'>;
  readonly trust: FolderTrust;
  /** All listed sessions, the newest first. */
  listed(): readonly SessionSummary[];
  /** What a session has cost so far; undefined when that is unknown. */
  costOf(session: string): Promise<number | undefined>;
}

type Params = Readonly<Record<string, unknown>>;

/** A session that works in a repository. */
interface Place {
  readonly session: Session;
  readonly repository: Repository;
  readonly branch: string | undefined;
  readonly base: string | undefined;
  readonly isTrusted: boolean;
}

/** The branch from which a worktree began. Earlier hosts wrote it where the worktree's own branch is written now. */
function beginOf({ project, config }: Session['state'], own: string | undefined): string | undefined {
  const { from, branch } = (project ?? {}) as Partial<ProjectOfWorktree>;
  const names = [from, branch === own ? undefined : branch, config?.values.branch];
  return names.find((name): name is string => typeof name === 'string' && name !== '');
}

export class ProjectBoard implements Service {
  readonly lanes: NonNullable<Service['lanes']> = {
    ...{ [BOARD_METHOD]: 'aside', [COMPARE_BRANCHES_METHOD]: 'aside', [BRANCH_ACTION_METHOD]: 'aside' },
    ...{ [PROPOSE_COMMIT_METHOD]: 'free', [PULL_REQUEST_METHOD]: 'free' },
  };
  /** Repositories that are being changed, by their top folders: one change at a time each. */
  readonly #busy = new Set<string>();

  constructor(private readonly options: BoardOptions) {}

  readonly extensionRequests: NonNullable<Service['extensionRequests']> = {
    [BOARD_METHOD]: (_caller, params) => this.#board(params),
    [COMPARE_BRANCHES_METHOD]: (_caller, params) => asConflict(this.#compare(params)),
    [BRANCH_ACTION_METHOD]: (_caller, params, work) => asConflict(this.#act(params, work)),
    [PROPOSE_COMMIT_METHOD]: (_caller, params) => asConflict(this.#proposed(params)),
    [PULL_REQUEST_METHOD]: (_caller, params, work) => asConflict(this.#pullRequest(params, work)),
  };

  async #board({ folder }: Params): Promise<Board> {
    const root = await rootOf(folder);
    const uri = pathToFileURL(root).href;
    const listed = this.options.listed();
    const folders = listed.flatMap((summary) => folderPath(summary) ?? []);
    const projects = await projectsOf(new Set(folders));
    const own = listed.filter((summary) => {
      const at = folderPath(summary);
      return at !== undefined && (projects[pathToFileURL(at).href]?.root ?? summary.project?.uri) === uri;
    });
    const cards = await mapSome(own.slice(0, BOARD_CARDS_MAX), BOARD_AT_ONCE, (summary) => this.#card(summary));
    return { root: uri, name: path.basename(root), branches: await branchesIn(root).catch(() => []), cards };
  }

  async #card(summary: SessionSummary): Promise<BoardCard> {
    const { resource: session, title, status } = summary;
    const folder = summary.workingDirectories?.[0] ?? '';
    const isWorktree = summary.project !== undefined;
    const known = { session, title, status, folder, isWorktree };
    const opened = await this.options.sessions.open(session).catch(() => undefined);
    const tests = opened && lastTests(opened.chat.state.turns);
    const cost = await this.options.costOf(session).catch(() => undefined);
    const facts = { ...(tests && { tests }), ...(cost !== undefined && { cost }) };
    const none = { added: 0, removed: 0, files: 0, uncommitted: 0 };
    try {
      if (!opened) throw new Error('the session cannot be opened');
      return { ...known, ...facts, ...none, ...(await this.#figures(await this.#placeIn(opened))) };
    } catch (error) {
      return { ...known, ...facts, ...none, problem: shorten(errorText(error), 200) };
    }
  }

  async #figures(place: Place): Promise<Partial<BoardCard>> {
    const { repository, branch, base } = place;
    const { folder } = repository;
    const { head, entries } = await statusOf(repository, { renames: false });
    const other =
      base === undefined || base === branch ? undefined : await commitOfBranch(folder, base).catch(() => undefined);
    const from = head && other ? await mergeBase(folder, head, other).catch(() => head) : head;
    const counts = from === undefined ? [] : await countsOf(repository, from);
    const fresh = entries.filter(({ letters }) => letters === '??');
    // Git does not count the lines of untracked files.
    const freshCounts = await mapSome(fresh.slice(0, FRESH_COUNTED_MAX), BOARD_AT_ONCE, ({ path: file }) =>
      linesOfNew(folder, file),
    );
    const added = [...counts.map((each) => each.added ?? 0), ...freshCounts].reduce((sum, lines) => sum + lines, 0);
    return {
      ...(branch !== undefined && { branch }),
      ...(base !== undefined && other !== undefined && { base }),
      ...(head && other ? await distance(folder, head, other) : {}),
      added,
      removed: counts.reduce((sum, { removed = 0 }) => sum + removed, 0),
      files: counts.length + fresh.length,
      uncommitted: entries.length,
      ...(await refusals(place)),
    };
  }

  async #session(uri: unknown): Promise<Session> {
    const session = typeof uri === 'string' ? await this.options.sessions.open(uri) : undefined;
    if (!session) throw new RequestError(ErrorCode.SessionNotFound, `/session: there is no session ${uri}`);
    return session;
  }

  async #placeIn(session: Session): Promise<Place> {
    const folder = folderOf(session.state);
    const real = folder === undefined ? undefined : await realpath(folder).catch(() => undefined);
    const repository = real === undefined ? undefined : await findRepository(real);
    if (!repository) throw new GitError('its folder does not exist, or is not in a Git repository');
    const { project } = session.state;
    const branch = await branchIn(repository.folder);
    const source = project && pathOfUri(project.uri);
    const base = beginOf(session.state, branch) ?? (source && (await branchIn(source)));
    const isTrusted = await this.options.trust.isTrusted(repository.folder);
    return { session, repository, branch, base, isTrusted };
  }

  async #compare({ folder, from, to }: Params): Promise<BranchComparison> {
    const repository = await findRepository(await rootOf(folder));
    if (!repository) throw new GitError('the folder is not in a Git repository');
    return compare(repository, String(from), String(to));
  }

  async #act(
    { session: uri, action, into, message, shown, force }: Params,
    work: Work,
  ): Promise<{ readonly message: string }> {
    const name = BRANCH_ACTIONS.find((each) => each === action);
    if (!name) throw new RequestError(ErrorCode.InvalidParams, `/action must be one of ${BRANCH_ACTIONS.join(', ')}`);
    const place = await this.#placeIn(await this.#session(uri));
    checkIdle(place.session, name);
    const { top } = place.repository;
    if (this.#busy.has(top))
      throw new RequestError(ErrorCode.Conflict, 'another change of this repository is under way: wait a moment');
    this.#busy.add(top);
    try {
      const wish = {
        into: into === undefined ? place.base : String(into),
        message: String(message ?? '').trim(),
        shown,
      };
      return { message: await this.#do(place, name, { ...wish, force: force === true, work }) };
    } finally {
      this.#busy.delete(top);
    }
  }

  async #do(place: Place, action: BranchActionName, wish: CommitRequest): Promise<string> {
    const { repository, branch, isTrusted, session } = place;
    const { signal } = wish.work;
    wish.work.report({ done: 0, total: 1, message: WORKING[action] });
    signal.throwIfAborted();
    if (action === 'commit') return commitWith(place, wish, signal);
    if (action === 'remove') {
      if (!session.state.project)
        throw new GitError('this session works in a folder of yours, not in a worktree of the host');
      return removeWorktree(repository, wish.force);
    }
    if (branch === undefined) throw new GitError('no branch is checked out there');
    if (action === 'push') {
      if (!isTrusted) throw new GitError(untrusted(repository.folder));
      return push(repository, branch, signal);
    }
    if (wish.into === undefined) throw new GitError('name the branch');
    const checkIdleIn = (folder: string) => this.#checkIdleIn(folder);
    const pair = { repository, branch, into: wish.into, isTrusted, signal, checkIdleIn };
    return action === 'merge' ? merge(pair) : rebase(pair);
  }

  /**
   * A merge changes the files of the folder that has the other branch checked out, where another session may be
   * working.
   */
  async #checkIdleIn(folder: string): Promise<void> {
    const changed = await realpath(folder);
    for (const session of this.options.sessions.inMemory.values()) {
      if (!session.chats.some(({ state }) => state.activeTurn)) continue;
      const at = folderOf(session.state);
      const real = at === undefined ? undefined : await realpath(at).catch(() => undefined);
      if (real !== changed && !real?.startsWith(`${changed}${path.sep}`)) continue;
      const title = shorten(session.state.title, 80);
      throw new RequestError(ErrorCode.TurnInProgress, `“${title}” works in ${changed}: wait for the end of its turn`);
    }
  }

  /**
   * Proposes a message with a small request to the session's model, if that model makes titles; otherwise names the
   * files.
   */
  async #proposed({ session: uri }: Params): Promise<CommitProposal> {
    const { session, repository, branch } = await this.#placeIn(await this.#session(uri));
    const { entries } = await statusOf(repository, { renames: false });
    if (entries.length === 0) throw new GitError('nothing is changed there');
    const staged = entries.filter(isStaged);
    const names = (staged.length > 0 ? staged : entries).map(({ path: file }) => shownPath(file));
    const about = {
      ...(branch !== undefined && { branch }),
      ...{ files: names.slice(0, PROPOSED_FILES_MAX), count: names.length, isStaged: staged.length > 0 },
    };
    const { backend, chat } = session;
    const asked = chat.state.turns.at(-1)?.message;
    const signal = AbortSignal.timeout(PROPOSAL_MAX_MS);
    const exchange = {
      message: `Say in one line, as the subject of a Git commit, what was changed. What was asked for: ${asked?.text ?? ''}`,
      answer: `Changed files: ${names.slice(0, 50).join(', ')}`,
      model: asked?.model?.id,
    };
    const made =
      asked && (await backend?.titleFor?.(exchange, signal, (usage) => session.spent(usage)).catch(() => undefined));
    const line = made
      ?.trim()
      .split('\n')[0]
      ?.replace(/^["'`#\s]+|["'`.\s]+$/g, '');
    return {
      ...(line ? { message: shorten(line, 72), by: 'model' } : { message: filesText(names), by: 'files' }),
      ...about,
    };
  }

  async #pullRequest({ session: uri, title, body, create }: Params, work: Work): Promise<PullRequest> {
    const place = await this.#placeIn(await this.#session(uri));
    const { session, repository, branch, isTrusted } = place;
    if (branch === undefined) throw new GitError('no branch is checked out there');
    const proposed = { title: session.state.title, body: bodyOf(session) };
    return pullRequest({
      ...{ repository, branch, isTrusted, create: create === true, signal: work.signal },
      base: requestBase(place),
      title: typeof title === 'string' ? title : proposed.title,
      body: typeof body === 'string' ? body : proposed.body,
    });
  }
}

const WORKING: Readonly<Record<BranchActionName, string>> = {
  commit: 'Committing',
  merge: 'Merging',
  rebase: 'Rebasing',
  push: 'Pushing',
  remove: 'Removing the worktree',
};

interface CommitRequest {
  readonly into: string | undefined;
  readonly message: string;
  /** What the person was shown before a commit. */
  readonly shown: unknown;
  readonly force: boolean;
  readonly work: Work;
}

/** Actions that change the folder of a session wait for its turn; those that only read its branch do not. */
function checkIdle({ chats }: Session, action: BranchActionName): void {
  if (action === 'push' || action === 'merge' || !chats.some(({ state }) => state.activeTurn)) return;
  throw new RequestError(
    ErrorCode.TurnInProgress,
    'a turn is running in this session: wait for its end, or stop it first',
  );
}

async function commitWith(
  { repository, branch, isTrusted }: Place,
  { message, shown }: Pick<CommitRequest, 'message' | 'shown'>,
  signal: AbortSignal,
): Promise<string> {
  if (message === '') throw new RequestError(ErrorCode.InvalidParams, '/message must not be empty');
  if (message.length > COMMIT_MESSAGE_MAX_CHARACTERS)
    throw new RequestError(
      ErrorCode.InvalidParams,
      `/message may have at most ${COMMIT_MESSAGE_MAX_CHARACTERS} characters`,
    );
  const { entries } = await statusOf(repository, { renames: false });
  if (entries.length === 0) throw new GitError('nothing is changed there');
  if (isRecord(shown)) {
    const staged = entries.filter(isStaged).length;
    const now = { branch, count: staged > 0 ? staged : entries.length, isStaged: staged > 0 };
    const isSame = shown.branch === now.branch && shown.count === now.count && shown.isStaged === now.isStaged;
    if (!isSame) throw new GitError('what would be committed has changed since you were asked: look at it again');
  }
  return commit({ repository, message, what: await whatToCommit(repository), isTrusted, signal });
}

function filesText(names: readonly string[]): string {
  const shown = names.slice(0, 3).map((name) => path.posix.basename(name));
  const more = names.length - shown.length;
  return shorten(`Change ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`, 72);
}

function bodyOf({ chat }: Session): string {
  const asked = chat.state.turns
    .slice(-FILES_NAMED_MAX)
    .map(({ message }) => `- ${shorten(message.text.replace(/\s+/g, ' '), 200)}`);
  return asked.length === 0 ? '' : `What was asked for:\n\n${asked.join('\n')}\n`;
}

async function rootOf(folder: unknown): Promise<string> {
  const at = typeof folder === 'string' ? pathOfUri(folder) : undefined;
  const real = at === undefined ? undefined : await realpath(at).catch(() => undefined);
  if (real === undefined) throw new RequestError(ErrorCode.InvalidParams, `/folder: there is no folder ${folder}`);
  const [project] = Object.values(await projectsOf([real]));
  const root = project && pathOfUri(project.root);
  if (root === undefined) throw new RequestError(ErrorCode.InvalidParams, `/folder: ${at} is not in a Git repository`);
  return realpath(root);
}

function folderPath({ workingDirectories }: SessionSummary): string | undefined {
  const [first] = workingDirectories ?? [];
  return first === undefined ? undefined : pathOfUri(first);
}

/** A branch without a base is compared with `main`. */
function requestBase({ branch, base }: Place): string {
  return base === undefined || base === branch ? 'main' : base;
}

function untrusted(folder: string): string {
  return `a push may run programs that the folder names: trust the folder first (atrium trust ${folder})`;
}

/** Says which actions would be refused, so that clients do not offer them. */
async function refusals(place: Place): Promise<Pick<BoardCard, 'noPush' | 'noPullRequest'>> {
  const { repository, branch, isTrusted } = place;
  if (branch === undefined) return {};
  if (!(await remoteOf(repository.folder, branch))) return { noPush: NO_REMOTE, noPullRequest: NO_REMOTE };
  return {
    ...(!isTrusted && { noPush: untrusted(repository.folder) }),
    ...(requestBase(place) === branch && { noPullRequest: intoItself(branch) }),
  };
}

async function asConflict<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw error instanceof GitError ? new RequestError(ErrorCode.Conflict, error.message) : error;
  }
}
