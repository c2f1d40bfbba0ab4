/** `/share`: a link that shows this session to others, for reading. */
import { LEFT_OUT } from '@atrium/protocol/ahp-1';
import {
  endShare,
  findShare,
  leftOutIn,
  lengthOf,
  listShares,
  madeLines,
  makeShare,
  shareRow,
} from '../sessions/shares.js';
import type { Task } from './tasks.js';

const HOW = `Write /share [12h|7d] [without ${LEFT_OUT.join(',')}], /share list, or /share end <id>.`;

export function share(words: string): Task {
  return async ({ client, open, note }) => {
    const { uri } = open.session;
    const [first = '', second = '', ...rest] = words.split(/\s+/).filter((word) => word !== '');
    if (first === 'list') {
      const items = await listShares(client, uri);
      return note(
        items.length === 0
          ? `This session is not shared. ${HOW}`
          : items.map((each) => shareRow(each).join('  ')).join('\n'),
      );
    }
    if (first === 'end') {
      const found = findShare(await listShares(client, uri), second);
      await endShare(client, found.id);
      return note('The share is over, and whoever read it is cut off.');
    }
    const [length, without] =
      first === 'without'
        ? [undefined, [second, ...rest]]
        : [first || undefined, second === 'without' ? rest : undefined];
    if (without === undefined && second !== '') return note(HOW);
    const lengthMs = length === undefined ? undefined : lengthOf(length);
    note(madeLines(await makeShare(client, uri, { lengthMs, leftOut: leftOutIn(without ?? []) })).join('\n'));
  };
}
