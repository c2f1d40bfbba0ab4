/** The receivers of notifications: this device with its rule, and all others. */
import type { Client } from '@atrium/client';
import {
  type NotificationReceiver,
  type NotificationReceivers,
  TEST_RECEIVER_METHOD,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '@atrium/protocol/ahp-1';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { useStore } from '../model/store.js';
import {
  disable,
  enable,
  forgetIfGone,
  ownReceiver,
  receivers as readReceivers,
  removeReceiver,
  setReceiver,
} from '../notifications/this-device.js';
import { Switch } from '../panel/section.js';
import { CopyButton } from '../ui/copy-button.js';
import { tell } from '../ui/notices.js';
import { RuleFields } from './notification-rule.js';
import { Part } from './part.js';

export function NotificationSettings() {
  const { client } = useHost();
  const { known, reload } = useReceivers(client);
  const [isBusy, setBusy] = useState(false);
  const id = useStore(ownReceiver);
  if (!known) return null;
  const own = known.items.find((receiver) => receiver.id === id);
  const others = known.items.filter((receiver) => receiver !== own);
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      const problem = await work();
      if (typeof problem === 'string') tell(problem);
    } catch (error) {
      tell(problemText(error));
    } finally {
      setBusy(false);
      reload();
    }
  };
  const change = (receiver: NotificationReceiver) => (rule: NotificationReceiver['rule']) =>
    void act(() => setReceiver(client, { id: receiver.id, rule }));
  return (
    <Part title="Notifications">
      <p className="hint">When a session needs you, ends or fails, and nobody has it in view.</p>
      <div className="setting" aria-busy={isBusy}>
        <span>On this device</span>
        <Switch
          label="Notifications on this device"
          isOn={own !== undefined}
          onChange={(isOn) => void act(() => (isOn ? enable(client) : disable(client)))}
        />
        {own && <p className="hint">{HOW[own.kind]}</p>}
      </div>
      {own && <RuleFields key={own.id} receiver={own} onChange={change(own)} />}
      {own && <TestButton client={client} receiver={own} onDone={reload} />}
      {known.hasDesktop && !others.some(({ kind }) => kind === 'desktop') && (
        <button
          type="button"
          className="small"
          onClick={() => void act(() => setReceiver(client, { kind: 'desktop' }))}
        >
          Also on the desktop of the host
        </button>
      )}
      <ul className="receivers" aria-label="Other receivers">
        {others.map((receiver) => (
          <li key={receiver.id}>
            <details>
              <summary>
                <strong>{receiver.name}</strong> <span className="soft">{placeOf(receiver)}</span>
                {receiver.problem && <span className="problem">{receiver.problem}</span>}
              </summary>
              <RuleFields receiver={receiver} onChange={change(receiver)} />
              <div className="buttons">
                <TestButton client={client} receiver={receiver} onDone={reload} />
                <button
                  type="button"
                  className="small danger"
                  onClick={() => void act(() => removeReceiver(client, receiver.id))}
                >
                  Remove
                </button>
              </div>
            </details>
          </li>
        ))}
      </ul>
      <WebhookForm client={client} onAdded={reload} />
    </Part>
  );
}

const HOW: Readonly<Record<NotificationReceiver['kind'], string>> = {
  push: 'Also while this page is closed. Messages are encrypted for this browser.',
  page: 'While this page is open in another tab or window: this browser has no Web Push here.',
  webhook: '',
  desktop: '',
};

function placeOf({ kind, address, format }: NotificationReceiver): string {
  const words = { push: 'browser', page: 'open page', webhook: 'webhook', desktop: 'desktop' };
  return [words[kind], format !== 'json' && format, address].filter(Boolean).join(' · ');
}

interface TestProps {
  readonly client: Client;
  readonly receiver: NotificationReceiver;
  readonly onDone: () => void;
}

function TestButton({ client, receiver, onDone }: TestProps) {
  const test = async () => {
    try {
      const answer = await client.requestExtension(TEST_RECEIVER_METHOD, { id: receiver.id });
      const { ok, problem = '' } = answer as { readonly ok: boolean; readonly problem?: string };
      tell(ok ? `${receiver.name} was told.` : `${receiver.name} was not told: ${problem}`);
    } catch (error) {
      tell(problemText(error));
    }
    onDone();
  };
  return (
    <button type="button" className="small" onClick={() => void test()}>
      Try it
    </button>
  );
}

function WebhookForm({ client, onAdded }: { readonly client: Client; readonly onAdded: () => void }) {
  const id = useId();
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<WebhookFormat>('json');
  const [secret, setSecret] = useState<string>();
  const [problem, setProblem] = useState('');
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setProblem('');
    try {
      const added = await setReceiver(client, { kind: 'webhook', url, format });
      setSecret(format === 'json' ? added.secret : undefined);
      setUrl('');
    } catch (error) {
      setProblem(problemText(error));
    }
    onAdded();
  };
  return (
    <details className="webhook">
      <summary>Add a webhook</summary>
      <form onSubmit={(event) => void add(event)}>
        <label htmlFor={`${id}-url`}>Address</label>
        <input
          id={`${id}-url`}
          type="url"
          required
          placeholder="https://"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
        <label htmlFor={`${id}-format`}>For</label>
        <select
          id={`${id}-format`}
          value={format}
          onChange={({ target }) => setFormat(WEBHOOK_FORMATS.find((each) => each === target.value) ?? 'json')}
        >
          <option value="json">A program of your own</option>
          <option value="ntfy">ntfy</option>
          <option value="slack">Slack</option>
        </select>
        <button type="submit" className="primary">
          Add
        </button>
      </form>
      <p className="problem" role="alert">
        {problem}
      </p>
      {secret !== undefined && (
        <p className="secret" role="status">
          Its messages are signed with this secret, which is not shown again: <code>{secret}</code>
          <CopyButton text={secret} what="the secret" />
        </p>
      )}
    </details>
  );
}

function useReceivers(client: Client) {
  const [known, setKnown] = useState<NotificationReceivers>();
  const reload = useCallback(() => {
    if (!isAtrium(client)) return;
    const told = (answer: NotificationReceivers) => {
      forgetIfGone(answer.items);
      setKnown(answer);
    };
    readReceivers(client).then(told, () => {});
  }, [client]);
  useEffect(reload, [reload]);
  return { known, reload };
}
