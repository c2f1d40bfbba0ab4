/** The budgets that a session is under, each with what is used of it; they are set and removed here. */
import { BUDGET_SCOPES, type BudgetEntry, type BudgetScope, moneyText, readUsageLimit } from '@atrium/protocol/ahp-1';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { short } from '../model/format.js';
import { tell } from '../ui/notices.js';

export const BUDGET_WORDS: Readonly<Record<BudgetScope, string>> = {
  session: 'This session',
  project: 'This project',
  day: 'Each day',
};

export function Budgets({ session }: { readonly session: string }) {
  const { client } = useHost();
  const [items, setItems] = useState<readonly BudgetEntry[]>();
  const load = useCallback(() => {
    client.requestExtension('atrium/budgets', { session }).then(
      (found) => setItems((found as { items: readonly BudgetEntry[] }).items),
      () => setItems(undefined),
    );
  }, [client, session]);
  useEffect(load, [load]);
  if (!items) return null;
  const set = (scope: BudgetScope, limit: object) =>
    client
      .requestExtension('atrium/setBudget', { scope, session, ...limit })
      .then(load, (error: unknown) => tell(problemText(error)));
  return (
    <section className="budgets">
      <h3>Budgets</h3>
      {items.length === 0 && <p className="hint">None. With one, you are asked before more is used.</p>}
      <ul>
        {items.map((entry) => (
          <li key={entry.scope}>
            <span>
              <b>{BUDGET_WORDS[entry.scope]}</b> {usedOf(entry)}
            </span>
            <button
              type="button"
              className="quiet small"
              aria-label={`Remove the budget: ${BUDGET_WORDS[entry.scope]}`}
              onClick={() => void set(entry.scope, {})}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <BudgetForm onSet={set} />
    </section>
  );
}

function usedOf({ limit, spent }: BudgetEntry): string {
  const parts = [
    limit.money !== undefined && `${moneyText(spent.money)} of ${moneyText(limit.money)}`,
    limit.tokens !== undefined && `${short(spent.tokens)} of ${short(limit.tokens)} tokens`,
  ];
  return parts.filter(Boolean).join(', ');
}

function BudgetForm({ onSet }: { onSet(scope: BudgetScope, limit: object): Promise<void> }) {
  const [scope, setScope] = useState<BudgetScope>('session');
  const [amount, setAmount] = useState('');
  const id = useId();
  const limit = readUsageLimit(amount.trim());
  const isLimit = limit !== undefined && Object.keys(limit).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isLimit) void onSet(scope, limit).then(() => setAmount(''));
  };
  return (
    <form onSubmit={submit}>
      <select
        aria-label="Budget of"
        value={scope}
        onChange={({ target }) => setScope(BUDGET_SCOPES.find((each) => each === target.value) ?? scope)}
      >
        {BUDGET_SCOPES.map((each) => (
          <option key={each} value={each}>
            {BUDGET_WORDS[each]}
          </option>
        ))}
      </select>
      <input
        type="text"
        aria-label="Limit"
        aria-describedby={id}
        placeholder="$5"
        value={amount}
        onChange={({ target }) => setAmount(target.value)}
      />
      <button type="submit" className="small" disabled={!isLimit}>
        Set
      </button>
      <p className="hint" id={id}>
        US dollars ($5) or tokens (500k, 2M).
      </p>
    </form>
  );
}
