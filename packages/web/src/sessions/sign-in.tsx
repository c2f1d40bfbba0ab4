/** Asks for the tokens that an agent needs. They are handed to the host and forgotten here. */
import type { ProtectedResourceMetadata } from '@atrium/protocol';
import { useEffect, useId, useRef, useState } from 'react';
import { resourceName, signIn } from '../host/auth.js';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { hasKeyboard } from '../ui/focus.js';

interface Props {
  readonly needed: readonly ProtectedResourceMetadata[];
  readonly onDone: () => void;
}

export function SignIn({ needed, onDone }: Props) {
  const { client } = useHost();
  const [tokens, setTokens] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const section = useRef<HTMLElement>(null);
  const isAsked = needed.length > 0;
  useEffect(() => {
    if (isAsked) section.current?.querySelector<HTMLElement>('[data-first-focus]')?.focus();
  }, [isAsked]);
  if (!isAsked) return null;
  const isComplete = needed.every(({ resource }) => (tokens[resource] ?? '').trim() !== '');
  const send = async () => {
    if (!isComplete || isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      for (const { resource } of needed) await signIn(client, resource, tokens[resource] ?? '');
      setTokens({});
      onDone();
    } catch (error) {
      setProblem(problemText(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    // Not a form: it may stand inside of one.
    <section ref={section} className="sign-in" aria-label="Sign in">
      <p>
        <b>This agent needs you to sign in first.</b> Paste a token; it goes to the host and is not stored in this
        browser.
      </p>
      {needed.map((it, index) => (
        <TokenField
          key={it.resource}
          isFirst={index === 0}
          needed={it}
          value={tokens[it.resource] ?? ''}
          onChange={(token) => setTokens({ ...tokens, [it.resource]: token })}
          onEnter={() => void send()}
        />
      ))}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="buttons">
        <button type="button" className="primary" disabled={!isComplete || isBusy} onClick={() => void send()}>
          {isBusy ? 'Signing in' : 'Sign in and go on'}
        </button>
      </div>
    </section>
  );
}

interface FieldProps {
  readonly needed: ProtectedResourceMetadata;
  readonly isFirst: boolean;
  readonly value: string;
  readonly onChange: (token: string) => void;
  readonly onEnter: () => void;
}

function TokenField({ needed, isFirst, value, onChange, onEnter }: FieldProps) {
  const id = useId();
  const { resource, scopes_supported: scopes = [], authorization_servers: servers = [] } = needed;
  const pressed = (event: { readonly key: string; preventDefault(): void }) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    onEnter();
  };
  return (
    <div className="token-field">
      <label htmlFor={id}>Token for {resourceName(needed)}</label>
      <input
        id={id}
        type="password"
        data-first-focus={(isFirst && hasKeyboard()) || undefined}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={pressed}
      />
      <p className="hint">
        {resource}
        {servers.length > 0 && `, issued by ${servers.join(' or ')}`}
        {scopes.length > 0 && `, with the scopes ${scopes.join(', ')}`}. <Documentation {...needed} />
      </p>
    </div>
  );
}

/** The address comes from outside: only the web is linked to. */
function Documentation({ resource_documentation: address = '' }: ProtectedResourceMetadata) {
  if (!/^https?:/i.test(address)) return null;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      How to get one
    </a>
  );
}
