/**
 * The permission rules of the host, the person, the project and the session, each with its origin, its last use, and a
 * button to remove it.
 */
import {
  ADD_PERMISSION_METHOD,
  type ListedRule,
  PERMISSIONS_METHOD,
  type PermissionList,
  REMOVE_PERMISSION_METHOD,
  RULE_EFFECTS,
  type RuleEffect,
  readPermissionList,
  WRITABLE_SCOPES,
  type WritableScope,
} from '@atrium/protocol/ahp-1';
import { type FormEvent, useCallback, useEffect, useId, useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { useRoute } from '../host/router.js';
import { tell } from '../ui/notices.js';
import { VisibleText } from '../ui/visible-text.js';
import { Part } from './part.js';

const SCOPE_NAMES: Readonly<Record<ListedRule['scope'], string>> = {
  host: 'This host',
  person: 'You',
  project: 'The project',
  session: 'This session',
  'built-in': 'The mode',
};

export function PermissionRules() {
  const { client } = useHost();
  const route = useRoute();
  const channel = route.at === 'session' ? route.uri : undefined;
  const [list, setList] = useState<PermissionList>();
  const load = useCallback(() => {
    if (!isAtrium(client)) return;
    client.requestExtension(PERMISSIONS_METHOD, { ...(channel !== undefined && { channel }) }).then(
      (answer) => setList(readPermissionList(answer)),
      () => setList(undefined),
    );
  }, [client, channel]);
  useEffect(load, [load]);
  if (!list) return null;
  const change = (method: string, rule: { scope: string; effect: RuleEffect; rule: string }) =>
    client
      .requestExtension(method, { ...rule, ...(channel !== undefined && { channel }) })
      .then(load, (error: unknown) => {
        tell(problemText(error));
      });
  return (
    <Part title="Permission rules">
      <p className="hint">
        Deny beats ask beats allow. A tool, or a tool with a pattern: shell(git diff *), edit(src/**),
        web_fetch(docs.rs:443).
      </p>
      {list.rules.length > 0 && (
        <ul className="permission-rules">
          {list.rules.map((rule) => (
            <Rule
              key={`${rule.scope} ${rule.effect} ${rule.rule} ${rule.from}`}
              rule={rule}
              onRemove={() => void change(REMOVE_PERMISSION_METHOD, rule)}
            />
          ))}
        </ul>
      )}
      {list.problems.map((problem) => (
        <p key={problem} className="hint" role="alert">
          {problem}
        </p>
      ))}
      <NewRule hasSession={channel !== undefined} onAdd={(rule) => void change(ADD_PERMISSION_METHOD, rule)} />
    </Part>
  );
}

function Rule({ rule, onRemove }: { readonly rule: ListedRule; readonly onRemove: () => void }) {
  const isOwn = WRITABLE_SCOPES.some((scope) => scope === rule.scope);
  return (
    <li className={`rule-${rule.effect}`}>
      <span className="rule-effect">{rule.effect}</span>
      <code>
        <VisibleText text={rule.rule} />
      </code>
      <small title={rule.from}>
        {SCOPE_NAMES[rule.scope]} ·{' '}
        {rule.lastUsed === undefined ? 'not used yet' : `last used ${new Date(rule.lastUsed).toLocaleString()}`}
        {rule.isIdle !== undefined && ` · does not count: ${rule.isIdle}`}
      </small>
      {isOwn && (
        <button type="button" className="quiet" aria-label={`Remove ${rule.effect} ${rule.rule}`} onClick={onRemove}>
          Remove
        </button>
      )}
    </li>
  );
}

interface NewRuleProps {
  readonly hasSession: boolean;
  readonly onAdd: (rule: { scope: WritableScope; effect: RuleEffect; rule: string }) => void;
}

function NewRule({ hasSession, onAdd }: NewRuleProps) {
  const id = useId();
  const [effect, setEffect] = useState<RuleEffect>('allow');
  const [scope, setScope] = useState<WritableScope>('person');
  const [rule, setRule] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rule.trim() === '') return;
    onAdd({ scope, effect, rule: rule.trim() });
    setRule('');
  };
  const scopes = hasSession ? WRITABLE_SCOPES : (['person'] as const);
  return (
    <form className="permission-new" onSubmit={submit}>
      <select
        aria-label="Effect"
        value={effect}
        onChange={({ target }) => setEffect(RULE_EFFECTS.find((each) => each === target.value) ?? 'ask')}
      >
        {RULE_EFFECTS.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
      <input
        id={id}
        aria-label="Rule"
        placeholder="shell(git diff *)"
        value={rule}
        onChange={({ target }) => setRule(target.value)}
      />
      <select
        aria-label="Whose rule"
        value={scope}
        onChange={({ target }) => setScope(WRITABLE_SCOPES.find((each) => each === target.value) ?? 'session')}
      >
        {scopes.map((each) => (
          <option key={each} value={each}>
            {SCOPE_NAMES[each]}
          </option>
        ))}
      </select>
      <button type="submit" disabled={rule.trim() === ''}>
        Add
      </button>
    </form>
  );
}
