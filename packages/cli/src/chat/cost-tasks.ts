/** Commands of the chat about money: /cost, /budget. */
import { BUDGET_SCOPES, type BudgetEntry, type BudgetScope, moneyText, readUsageLimit } from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { printable } from '../text/printable.js';
import { readReport, tokensText, totalsText } from '../usage-text.js';
import type { Task, TaskContext } from './tasks.js';

/** The usage of this session by model, and the rest of its budgets. */
export const cost: Task = async (context) => {
  const { client, open } = context;
  const { uri } = open.session;
  const asked = await callExtension(client, 'atrium/usage', { by: 'model', session: uri });
  const { entries, total, prices } = readReport(asked);
  if (entries.length === 0) return context.note('Nothing was used in this session yet, or its agent does not say.');
  const models = entries.length === 1 ? [] : entries;
  context.note(
    [
      `This session: ${totalsText(total)}`,
      ...models.map((entry) => `  ${printable(entry.key) || '(not told)'}: ${totalsText(entry)}`),
      ...(await budgetLines(context)),
      total.cost === undefined
        ? 'No price is known for it, or a plan pays. atrium usage shows more.'
        : `US dollars, with prices of ${prices.date}. atrium usage shows more.`,
    ].join('\n'),
  );
};

async function budgetLines({ client, open }: TaskContext): Promise<string[]> {
  const answer = await callExtension(client, 'atrium/budgets', { session: open.session.uri });
  return (answer as { items: readonly BudgetEntry[] }).items.map(({ scope, limit, spent }) => {
    const parts = [
      limit.money !== undefined && `${moneyText(spent.money)} of ${moneyText(limit.money)}`,
      limit.tokens !== undefined && `${tokensText(spent.tokens)} of ${tokensText(limit.tokens)} tokens`,
    ];
    return `Budget of the ${scope}: ${parts.filter(Boolean).join(', ')}`;
  });
}

const HOW = 'Write /budget session $5, /budget day 2M or /budget project off.';

/** Sets, changes or removes a budget; without words, shows all. */
export function budget(words: string): Task {
  return async (context) => {
    const { client, open } = context;
    const [scope = '', amount = ''] = words.split(/\s+/);
    if (words === '') {
      const lines = await budgetLines(context);
      return context.note([...(lines.length === 0 ? ['There is no budget.'] : lines), HOW].join('\n'));
    }
    const limit = readUsageLimit(amount);
    if (!BUDGET_SCOPES.includes(scope as BudgetScope) || !limit) return context.note(HOW);
    await callExtension(client, 'atrium/setBudget', { scope, session: open.session.uri, ...limit });
    context.note((await budgetLines(context)).join('\n') || 'There is no budget now.');
  };
}
