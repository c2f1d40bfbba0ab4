/**
 * Makes pull requests with `gh` or `glab` if one of them is installed and logged in; otherwise links to the page of the
 * forge.
 */
import { RequestError } from '@atrium/core/contracts/request-error.js';
import { shorten } from '@atrium/core/util/text.js';
import { ErrorCode, type PullRequest } from '@atrium/protocol/ahp-1';
import { GitError } from '../git/git.js';
import type { Repository } from '../git/repository.js';
import { NO_REMOTE, push, remoteOf, runIn, withoutSecrets } from './branches.js';
import { compareLink, forgeOf, placeOf } from './forges.js';
import { LOGIN_MAX_MS, PULL_BODY_MAX_CHARACTERS, PULL_TITLE_MAX_CHARACTERS } from './limits.js';

export interface PullRequestOptions {
  readonly repository: Repository;
  readonly branch: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isTrusted: boolean;
  /** A person has seen title and body, and agreed. */
  readonly create: boolean;
  readonly signal: AbortSignal;
}

type Tool = 'gh' | 'glab';

export async function pullRequest(wish: PullRequestOptions): Promise<PullRequest> {
  const { repository, branch, base, isTrusted } = wish;
  if (branch === base) throw new GitError(intoItself(branch));
  const title = shorten(wish.title.replace(/\s+/g, ' ').trim(), PULL_TITLE_MAX_CHARACTERS);
  if (title === '') throw new RequestError(ErrorCode.InvalidParams, '/title must not be empty');
  if (wish.body.length > PULL_BODY_MAX_CHARACTERS)
    throw new RequestError(ErrorCode.InvalidParams, `/body may have at most ${PULL_BODY_MAX_CHARACTERS} characters`);
  const remote = await remoteOf(repository.folder, branch);
  if (!remote) throw new GitError(NO_REMOTE);
  const link = compareLink(remote.url, base, branch);
  const tool = isTrusted ? await toolFor(remote.url, repository.folder) : undefined;
  const shown = {
    title,
    body: wish.body,
    base,
    head: branch,
    ...(tool && { tool }),
    ...(link !== undefined && { link }),
  };
  if (!wish.create) return shown;
  if (!tool)
    throw new GitError(`neither gh nor glab is logged in here${link === undefined ? '' : `; by hand: ${link}`}`);
  // If the branch is not on the remote yet, both programs ask where to push to, and nobody could answer.
  await push(repository, branch, wish.signal);
  const { code, words } = await runIn(repository.folder, tool, argumentsOf(tool, shown), { signal: wish.signal });
  const url = /https:\/\/\S+/.exec(words.split('\n').findLast((line) => /https:\/\//.test(line)) ?? '')?.[0];
  if (code !== 0 || url === undefined)
    throw new GitError(
      `it was not made, as ${tool} failed: ${shorten(withoutSecrets(words).trim(), 300) || 'it took too long'}`,
    );
  return { ...shown, url: withoutSecrets(url) };
}

export function intoItself(branch: string): string {
  return `a pull request cannot merge ${branch} into itself: it is for other branches`;
}

/** Every value follows its "=", so that none is read as an option. */
function argumentsOf(tool: Tool, { title, body, base, head }: PullRequest): string[] {
  return tool === 'gh'
    ? ['pr', 'create', `--title=${title}`, `--body=${body}`, `--base=${base}`, `--head=${head}`]
    : [
        ...['mr', 'create', '--yes', `--title=${title}`, `--description=${body}`],
        ...[`--source-branch=${head}`, `--target-branch=${base}`],
      ];
}

/** The program for this forge; for an unknown forge, both are tried. */
async function toolFor(url: string, folder: string): Promise<Tool | undefined> {
  const place = placeOf(url);
  const forge = place && forgeOf(place);
  const tools: readonly Tool[] =
    forge === 'github' ? ['gh'] : forge === 'gitlab' ? ['glab'] : forge ? [] : ['gh', 'glab'];
  const host = place ? [`--hostname=${place.host}`] : [];
  for (const tool of tools)
    if ((await runIn(folder, tool, ['auth', 'status', ...host], { timeoutMs: LOGIN_MAX_MS })).code === 0) return tool;
  return undefined;
}
