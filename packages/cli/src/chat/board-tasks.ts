/** /board: the sessions of the project side by side, and operations on their branches. */
import {
  type Board,
  type BoardCard,
  BRANCH_ACTION_METHOD,
  type BranchActionParams,
  PULL_REQUEST_METHOD,
  type PullRequest,
} from '@atrium/protocol/ahp-1';
import { diffLine } from '../changes/changes-view.js';
import { cardCells, compareBranches, proposeCommit, pullRequest, readBoard } from '../sessions/board.js';
import { folderOf } from '../sessions/summary-text.js';
import { printable, printableLines } from '../text/printable.js';
import { cut, padded } from '../text/width.js';
import { picked } from './pick-task.js';
import { Picker } from './picker.js';
import type { Task, TaskContext } from './tasks.js';

const TITLE_COLUMNS = 24;
const STATE_COLUMNS = 8;
const DIFF_LINES_MAX = 300;

interface Operation {
  readonly name: string;
  run(context: TaskContext, place: { readonly board: Board; readonly card: BoardCard }): Promise<void>;
}

export const board: Task = async (context) => {
  const folder = folderOf(context.open.state.session);
  if (folder === undefined) return context.note('The session has no folder, so that it belongs to no project.');
  context.note('Looking at the branches of the project …');
  const found = await readBoard(context.client, folder);
  const card = await picked(context, cardPicker(found));
  if (!card) return;
  const operations = operationsOf(card);
  const operation = await picked(
    context,
    new Picker<Operation>({
      ...{ question: `${printable(card.title)}: what now?`, noun: 'operation' },
      items: () => operations,
      words: ({ name }) => name,
      row: ({ name }) => name,
    }),
  );
  await operation?.run(context, { board: found, card });
};

function cardPicker({ name, cards }: Board): Picker<BoardCard> {
  return new Picker<BoardCard>({
    ...{ question: `The board of ${printable(name)}:`, noun: 'session' },
    items: () => cards,
    words: (card) => cardCells(card).join(' '),
    row: (card) => {
      const [, title = '', state = '', ...rest] = cardCells(card);
      return [padded(cut(title, TITLE_COLUMNS), TITLE_COLUMNS), padded(state, STATE_COLUMNS), ...rest].join('  ');
    },
  });
}

function operationsOf({ branch = '', base, isWorktree, uncommitted, noPush, noPullRequest }: BoardCard): Operation[] {
  const shown = [printable(branch), printable(base ?? '')] as const;
  const both =
    base === undefined || base === branch ? [] : [compare(base, branch, shown), ...mergeAndRebase(base, shown)];
  return [
    ...both,
    ...(uncommitted > 0 ? [{ name: 'Commit everything, with a proposed message', run: commit }] : []),
    offered(`Push ${shown[0]}`, noPush, act('push', `Push ${shown[0]} to its remote?`)),
    offered('Pull request', noPullRequest, request),
    ...(isWorktree ? [{ name: 'Remove the worktree; its branch stays', run: remove }] : []),
  ];
}

/** An impossible operation stays in the list and says why, there and when a person chooses it. */
function offered(name: string, refusal: string | undefined, run: Operation['run']): Operation {
  if (refusal === undefined) return { name, run };
  const reason = printable(refusal);
  return { name: `${name}: not now, ${reason}`, run: async (context) => context.note(`Not done: ${reason}`) };
}

function compare(base: string, branch: string, [to, from]: readonly [string, string]): Operation {
  return {
    name: `Show what ${to} changed since it left ${from}`,
    run: async (context, { board: { root } }) => {
      const { diff, files } = await compareBranches(context.client, root, base, branch);
      const view = context.view();
      const lines = printableLines(diff.replace(/\n$/, '')).split('\n');
      const more = lines.length - DIFF_LINES_MAX;
      context.show([
        view.style.bold(`${files.length} ${files.length === 1 ? 'file differs' : 'files differ'}`),
        ...lines.slice(0, DIFF_LINES_MAX).map((line) => diffLine(line, view)),
        ...(more > 0 ? [view.style.yellow(`… ${more} more lines`)] : []),
        '',
      ]);
    },
  };
}

function mergeAndRebase(base: string, [branch, into]: readonly [string, string]): Operation[] {
  return [
    { name: `Merge ${branch} into ${into}`, run: act('merge', `Merge ${branch} into ${into}?`, { into: base }) },
    { name: `Rebase ${branch} onto ${into}`, run: act('rebase', `Put ${branch} onto ${into}?`, { into: base }) },
  ];
}

function act(
  action: 'merge' | 'rebase' | 'push',
  question: string,
  more: { readonly into?: string } = {},
): Operation['run'] {
  return async (context, { card: { session } }) => {
    if (!(await context.ask(question))) return context.note('Nothing was changed.');
    context.note(await acted(context, { session, action, ...more }));
  };
}

const commit: Operation['run'] = async (context, { card: { session } }) => {
  const { message } = await proposeCommit(context.client, session);
  if (!(await context.ask(`Commit it as "${printable(message)}"? With other words: /commit in that session.`)))
    return context.note('Nothing was committed.');
  context.note(await acted(context, { session, action: 'commit', message }));
};

const remove: Operation['run'] = async (context, { card: { session, uncommitted } }) => {
  const lost =
    uncommitted === 0 ? '' : ` ${uncommitted} uncommitted ${uncommitted === 1 ? 'file is' : 'files are'} lost.`;
  if (!(await context.ask(`Remove its worktree?${lost}`))) return context.note('Nothing was removed.');
  context.note(await acted(context, { session, action: 'remove', ...(uncommitted > 0 && { force: true }) }));
};

const request: Operation['run'] = async (context, { card: { session } }) => {
  const { tool, title, body, base, head, link } = await pullRequest(context.client, session);
  if (tool === undefined)
    return context.note(
      link === undefined
        ? 'Neither gh nor glab is logged in, and the forge is not known.'
        : `Make it here: ${printable(link)}`,
    );
  const { style } = context.view();
  context.show([
    style.bold(printable(title)),
    style.dim(printable(`${head} into ${base}, by ${tool}`)),
    ...printableLines(body).split('\n'),
    '',
  ]);
  if (!(await context.ask(`Push ${printable(head)} and make this pull request?`)))
    return context.note('Nothing was made.');
  const params = { session, title, body, create: true };
  const made = (await context.long(PULL_REQUEST_METHOD, params)) as PullRequest;
  context.note(`Made ${printable(made.url ?? '')}`);
};

async function acted({ long }: TaskContext, params: BranchActionParams): Promise<string> {
  return ((await long(BRANCH_ACTION_METHOD, params)) as { readonly message: string }).message;
}
