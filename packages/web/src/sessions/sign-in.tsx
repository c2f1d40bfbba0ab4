/** Signing in: asks for the tokens that an agent or a server needs and sends them to the host. The page keeps none. */
import type { Client } from '@atrium/client';
import { ErrorCode, type ProtectedResourceMetadata } from '@atrium/protocol/ahp-1';
import { useEffect, useId, useRef, useState } from 'react';
import { useHost } from '../host/context.js';
import { codeOf, problemText } from '../host/problem.js';
import { Dialog } from '../ui/dialog.js';
import { hasKeyboard } from '../ui/focus.js';
import { tell } from '../ui/notices.js';

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
    // Not a form, because it may be inside one.
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

/** The address comes from outside, so only web addresses become links. */
function Documentation({ resource_documentation: address = '' }: ProtectedResourceMetadata) {
  if (!/^https?:/i.test(address)) return null;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      How to get one
    </a>
  );
}

interface Wanted {
  readonly needed: ProtectedResourceMetadata;
  readonly isExpired: boolean;
}

/** A banner for each agent or server that asks for a token during the session. */
export function AuthRequired() {
  const { client } = useHost();
  const [wanted, setWanted] = useState<readonly Wanted[]>([]);
  const [asked, setAsked] = useState<ProtectedResourceMetadata>();
  const others = (all: readonly Wanted[], { resource }: ProtectedResourceMetadata) =>
    all.filter(({ needed }) => needed.resource !== resource);
  useEffect(
    () =>
      client.onNotification('auth/required', ({ resource: needed, reason }) =>
        setWanted((all) => [
          ...all.filter((other) => other.needed.resource !== needed.resource),
          { needed, isExpired: reason === 'expired' },
        ]),
      ),
    [client],
  );
  const drop = (gone: ProtectedResourceMetadata) => setWanted((all) => others(all, gone));
  const done = (signedIn: ProtectedResourceMetadata) => {
    drop(signedIn);
    setAsked(undefined);
    tell('Signed in. Say it again, and the agent goes on.');
  };
  return (
    <>
      {wanted.map(({ needed, isExpired }) => (
        <div key={needed.resource} className="banner" role="status">
          <span>
            <b>{resourceName(needed)}</b> {isExpired ? 'does not take its token any more.' : 'needs you to sign in.'}
          </span>
          <button type="button" className="small primary" onClick={() => setAsked(needed)}>
            Sign in
          </button>
          <button type="button" className="quiet small" onClick={() => drop(needed)}>
            Not now
          </button>
        </div>
      ))}
      {asked !== undefined && (
        <Dialog title="Sign in" onClose={() => setAsked(undefined)}>
          <SignIn needed={[asked]} onDone={() => done(asked)} />
        </Dialog>
      )}
    </>
  );
}

/** The resources that an error asks to sign in to; empty for any other error. Some hosts send the bare list. */
export function neededTokens(error: unknown): readonly ProtectedResourceMetadata[] {
  if (codeOf(error) !== ErrorCode.AuthRequired) return [];
  const { data } = error as { data?: unknown };
  const list = Array.isArray(data) ? data : (data as { resources?: unknown } | undefined)?.resources;
  return Array.isArray(list) ? list.filter(isMetadata) : [];
}

function isMetadata(value: unknown): value is ProtectedResourceMetadata {
  return typeof value === 'object' && value !== null && 'resource' in value && typeof value.resource === 'string';
}

async function signIn(client: Client, resource: string, token: string): Promise<void> {
  await client.request('authenticate', { resource, token: token.trim() });
}

function resourceName({ resource, resource_name }: ProtectedResourceMetadata): string {
  return resource_name ?? resource;
}
