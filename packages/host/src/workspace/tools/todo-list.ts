/**
 * `todo_list`: the agent's plan. It is state of the session, so that every client shows it. The tool itself remembers
 * the list as the input of the last call that set it, so a restart keeps it and truncating the history reverts it.
 */

import { ToolFailure } from '@atrium/core/contracts/tool.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { count, shorten } from '@atrium/core/util/text.js';
import type { PlanStatus } from '@atrium/protocol/ahp-1';
import { hostTool, succeeded } from './host-tool.js';

export const TODO_MAX_ITEMS = 100;
export const TODO_ITEM_MAX_CHARACTERS = 300;

const MARKS: Readonly<Record<string, string>> = { x: 'x', X: 'x', '>': '>' };

export const todoListTool = hostTool({
  name: 'todo_list',
  displayName: 'To-do list',
  description:
    'Keeps your to-do list and shows it to the person. Give the whole list each time; leave "items" out to read the ' +
    `list. At most ${TODO_MAX_ITEMS} items.`,
  // Changes nothing outside the conversation.
  annotations: { readOnlyHint: true, openWorldHint: false },
  properties: {
    items: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      description: 'All items in order. Start an item with "[x]" when it is done, with "[>]" while you work on it.',
    },
  },
  required: [],
  invocation: ({ items }) => (items ? 'Update the to-do list' : 'Look at the to-do list'),
  async run({ items }, { earlier, plan }) {
    if (items && items.length > TODO_MAX_ITEMS) {
      throw new ToolFailure('BAD_INPUT', `The list has more than ${TODO_MAX_ITEMS} items.`);
    }
    const list = (items ?? lastList(earlier?.() ?? [])).map(parseItem);
    if (items) plan?.(list.map(({ mark, text }) => ({ text, status: STATUSES[mark] ?? 'pending' })));
    return succeeded(items ? `Updated the to-do list (${progress(list)})` : 'Looked at the to-do list', listText(list));
  },
});

const STATUSES: Readonly<Record<string, PlanStatus>> = { x: 'done', '>': 'active' };

interface Item {
  readonly mark: string;
  readonly text: string;
}

function lastList(inputs: Iterable<unknown>): string[] {
  for (const input of inputs) {
    if (isRecord(input) && Array.isArray(input.items)) return input.items.map(String);
  }
  return [];
}

function parseItem(line: string): Item {
  const [, mark = '', rest = ''] = /^\s*(?:[-*]\s+)?\[([xX> ]?)\]\s*(.*)$/s.exec(line) ?? ['', '', line];
  return { mark: MARKS[mark] ?? ' ', text: shorten(rest, TODO_ITEM_MAX_CHARACTERS) };
}

function progress(list: readonly Item[]): string {
  return `${list.filter(({ mark }) => mark === 'x').length} of ${count(list.length, 'item')} done`;
}

function listText(list: readonly Item[]): string {
  return list.length === 0 ? 'The list is empty.' : list.map(({ mark, text }) => `- [${mark}] ${text}`).join('\n');
}
