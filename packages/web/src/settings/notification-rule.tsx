/** The rule of one receiver: which events, which sessions, when, and how much. */
import {
  NOTIFICATION_DETAILS,
  NOTIFICATION_EVENTS,
  type NotificationDetail,
  type NotificationEvent,
  type NotificationReceiver,
  type NotificationRule,
} from '@atrium/protocol/ahp-1';
import { useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { useStore } from '../model/store.js';

const EVENT_WORDS: Readonly<Record<NotificationEvent, string>> = {
  question: 'It needs an answer',
  ended: 'It is done',
  failed: 'It has failed',
  budget: 'A budget is used up',
  automation: 'An automation has run',
};

const DETAIL_WORDS: Readonly<Record<NotificationDetail, string>> = {
  nothing: 'Only that there is something',
  title: 'The title of the session',
  command: 'Also what would run, with Allow and Deny',
};

/** How many of the newest sessions the form offers, besides the chosen ones. */
const SESSIONS_OFFERED = 20;
const USUAL_HOURS = { from: '22:00', to: '07:00' };

interface Props {
  readonly receiver: NotificationReceiver;
  readonly onChange: (rule: NotificationRule) => void;
}

/** Shows a choice at once, and tells the host. Use a React key for each receiver. */
export function RuleFields({ receiver, onChange: tellHost }: Props) {
  const id = useId();
  const [rule, setRule] = useState(receiver.rule);
  const onChange = (next: NotificationRule) => {
    setRule(next);
    tellHost(next);
  };
  const { quiet } = rule;
  const timeZone = quiet?.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const without = (member: 'quiet' | 'sessions'): NotificationRule => {
    const { [member]: _gone, ...rest } = rule;
    return rest;
  };
  const hours = (change: Partial<typeof USUAL_HOURS>) =>
    onChange({ ...rule, quiet: { ...USUAL_HOURS, ...quiet, ...change, timeZone } });
  const toggle = (event: NotificationEvent) =>
    onChange({
      ...rule,
      events: NOTIFICATION_EVENTS.filter((each) => rule.events.includes(each) !== (each === event)),
    });
  return (
    <div className="rule">
      <fieldset>
        <legend>When</legend>
        {NOTIFICATION_EVENTS.map((event) => (
          <label key={event}>
            <input type="checkbox" checked={rule.events.includes(event)} onChange={() => toggle(event)} />
            {EVENT_WORDS[event]}
          </label>
        ))}
      </fieldset>
      <div className="setting">
        <label htmlFor={`${id}-detail`}>What is said</label>
        <select
          id={`${id}-detail`}
          value={rule.detail}
          onChange={({ target }) => {
            const detail = NOTIFICATION_DETAILS.find((each) => each === target.value);
            if (detail) onChange({ ...rule, detail });
          }}
        >
          {NOTIFICATION_DETAILS.map((detail) => (
            <option key={detail} value={detail}>
              {DETAIL_WORDS[detail]}
            </option>
          ))}
        </select>
      </div>
      <div className="setting">
        <label>
          <input
            type="checkbox"
            checked={quiet !== undefined}
            onChange={({ target }) => (target.checked ? hours({}) : onChange(without('quiet')))}
          />{' '}
          Quiet hours
        </label>
        {quiet && (
          <span className="hours">
            <input
              type="time"
              aria-label="From"
              value={quiet.from}
              onChange={({ target }) => target.value && hours({ from: target.value })}
            />
            –
            <input
              type="time"
              aria-label="Until"
              value={quiet.to}
              onChange={({ target }) => target.value && hours({ to: target.value })}
            />
          </span>
        )}
        {quiet && <p className="hint">{timeZone}. What happens then is not told later.</p>}
      </div>
      <Sessions rule={rule} onChange={onChange} onAll={() => onChange(without('sessions'))} />
    </div>
  );
}

interface SessionsProps {
  readonly rule: NotificationRule;
  readonly onChange: (rule: NotificationRule) => void;
  readonly onAll: () => void;
}

function Sessions({ rule, onChange, onAll }: SessionsProps) {
  const { link } = useHost();
  const all = useStore(link.sessions) ?? [];
  const { sessions } = rule;
  const chosen = new Set(sessions);
  const offered = all.filter(({ resource }, index) => index < SESSIONS_OFFERED || chosen.has(resource));
  const toggle = (uri: string) =>
    onChange({ ...rule, sessions: chosen.has(uri) ? [...chosen].filter((each) => each !== uri) : [...chosen, uri] });
  return (
    <div className="setting">
      <label>
        <input
          type="checkbox"
          checked={sessions === undefined}
          onChange={({ target }) => (target.checked ? onAll() : onChange({ ...rule, sessions: [] }))}
        />{' '}
        All sessions
      </label>
      {sessions !== undefined && (
        <fieldset className="session-choice">
          <legend className="visually-hidden">Sessions</legend>
          {offered.map(({ resource, title }) => (
            <label key={resource}>
              <input type="checkbox" checked={chosen.has(resource)} onChange={() => toggle(resource)} />
              {title || 'Untitled'}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}
