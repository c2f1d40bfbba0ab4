/** The agent's list of tasks: its progress, and on demand every task. */
import {
  type ChatState,
  currentPlan,
  type PlanItem,
  type PlanStatus,
  planProgress,
  type SessionState,
} from '@atrium/protocol/ahp-1';
import { Section } from '../panel/section.js';
import { Icon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import './plan.css';

interface Props {
  readonly state: SessionState;
  readonly chat: ChatState;
}

const STATUS_WORDS: Readonly<Record<PlanStatus, string>> = { done: 'Done', active: 'Under way', pending: 'To do' };

/** The list in the panel; one line once all tasks are done. */
export function PlanSection({ state, chat }: Props) {
  const items = currentPlan(state._meta, chat);
  const progress = planProgress(items);
  if (!progress) return null;
  const title = `To-dos: ${progress.done} of ${progress.total} done`;
  if (progress.done === progress.total)
    return (
      <details className="fold panel-section">
        <summary>{title}</summary>
        <PlanItems items={items} />
      </details>
    );
  return (
    <Section title={title}>
      <PlanItems items={items} />
    </Section>
  );
}

/** The folded list above the message field; hidden when all tasks are done and nothing runs. */
export function PlanStrip({ state, chat }: Props) {
  const items = currentPlan(state._meta, chat);
  const progress = planProgress(items);
  if (!progress || (progress.done === progress.total && !chat.activeTurn)) return null;
  const { done, total, active } = progress;
  return (
    <details className="fold plan-strip">
      <summary>
        To-dos: {done} of {total}
        {active !== undefined && (
          <>
            {' · '}
            <VisibleText text={active} />
          </>
        )}
      </summary>
      <PlanItems items={items} />
    </details>
  );
}

function PlanItems({ items }: { readonly items: readonly PlanItem[] }) {
  return (
    <ol className="plan">
      {items.map(({ id, text, status }) => (
        <li key={id} className={status}>
          <span className="mark">{status === 'done' && <Icon name="check" />}</span>
          <span>
            <span className="visually-hidden">{STATUS_WORDS[status]}: </span>
            <VisibleText text={text} />
          </span>
        </li>
      ))}
    </ol>
  );
}
