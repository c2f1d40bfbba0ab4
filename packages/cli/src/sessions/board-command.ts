/** The work of `atrium board`. */
import type { Client } from '@atrium/client';
import { UsageError } from '../exit.js';
import { io, print, printJson, tell } from '../io.js';
import { printableLines } from '../text/printable.js';
import { table } from '../text/table.js';
import { BOARD_HEAD, cardCells, compareBranches, readBoard } from './board.js';

export async function showBoard(client: Client, folder: string, isJson: boolean): Promise<void> {
  const board = await readBoard(client, folder);
  if (isJson) return printJson(board);
  if (board.cards.length === 0) return tell(`No session works in ${board.name}. To begin one there: atrium chat`);
  print(table([[...BOARD_HEAD], ...board.cards.map(cardCells)], io().stdout.columns ?? Number.POSITIVE_INFINITY));
}

export async function showComparison(
  client: Client,
  folder: string,
  [from, to, ...more]: readonly string[],
  isJson: boolean,
): Promise<void> {
  if (from === undefined || to === undefined || more.length > 0)
    throw new UsageError('name two branches: atrium board --compare main other');
  const found = await compareBranches(client, folder, from, to);
  if (isJson) return printJson(found);
  print(printableLines(found.diff.replace(/\n$/, '')));
  if (found.isCut) tell('There is more: use git diff.');
}
