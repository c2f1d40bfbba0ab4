/** The board of a project, as lines for people, and the requests behind it. */
import type { Client } from '@atrium/client';
import {
  BOARD_METHOD,
  type Board,
  type BoardCard,
  type BranchComparison,
  COMPARE_BRANCHES_METHOD,
  type CommitProposal,
  moneyText,
  PROPOSE_COMMIT_METHOD,
  PULL_REQUEST_METHOD,
  type PullRequest,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { printable } from '../text/printable.js';
import { shortId } from './find-session.js';
import { activityOf } from './summary-text.js';

export async function readBoard(client: Client, folder: string): Promise<Board> {
  return (await callExtension(client, BOARD_METHOD, { folder })) as Board;
}

export async function compareBranches(
  client: Client,
  folder: string,
  from: string,
  to: string,
): Promise<BranchComparison> {
  return (await callExtension(client, COMPARE_BRANCHES_METHOD, { folder, from, to })) as BranchComparison;
}

export async function proposeCommit(client: Client, session: string): Promise<CommitProposal> {
  return (await callExtension(client, PROPOSE_COMMIT_METHOD, { session })) as CommitProposal;
}

export async function pullRequest(client: Client, session: string, more: object = {}): Promise<PullRequest> {
  return (await callExtension(client, PULL_REQUEST_METHOD, { session, ...more })) as PullRequest;
}

export const BOARD_HEAD = ['SESSION', 'TITLE', 'STATE', 'BRANCH', 'CHANGES', 'TESTS', 'COST'] as const;

export function cardCells(card: BoardCard): string[] {
  const { session, title, branch, base, ahead, behind, uncommitted, added, removed, tests, cost, problem } = card;
  const away = ahead === undefined ? '' : ` (${ahead} ahead, ${behind ?? 0} behind ${base ?? ''})`;
  const open = uncommitted > 0 ? `, ${uncommitted} uncommitted` : '';
  return [
    shortId(session),
    printable(title),
    activityOf(card),
    printable(`${branch ?? ''}${away}`),
    problem === undefined ? `+${added} -${removed}${open}` : printable(problem),
    tests === undefined ? '–' : `${tests.passed ? 'passed' : 'failed'}: ${printable(tests.command)}`,
    cost === undefined ? '–' : moneyText(cost),
  ];
}
