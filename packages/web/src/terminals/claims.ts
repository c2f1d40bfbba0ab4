/** Claims: who holds a terminal, and how a page keeps its terminals across a reload. */
import type { TerminalClaim } from '@atrium/protocol/ahp-1';
import { useEffect } from 'react';
import { useHost } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';

export function isMine(claim: TerminalClaim, clientId: string): boolean {
  return claim.kind === 'client' && claim.clientId === clientId;
}

/** The claim of the session, from which any client can take the terminal. */
export function sessionClaim({ uri, chatUri }: Pick<OpenSession, 'uri' | 'chatUri'>): TerminalClaim {
  return { kind: 'session', session: uri, chat: chatUri };
}

/** A tool is using it right now. */
export function isOfCall(claim: TerminalClaim): boolean {
  return claim.kind === 'session' && claim.toolCallId !== undefined;
}

export function ownerWords(claim: TerminalClaim, clientId: string, session: string): string {
  if (claim.kind === 'client') return isMine(claim, clientId) ? 'yours' : 'opened on another device';
  const whose = claim.session === session ? 'this session' : 'another session';
  return isOfCall(claim) ? `${whose} uses it for a command` : `of ${whose}`;
}

const KEY = 'atrium.terminals';

/**
 * For the host a reloaded page is another client, which may connect before the host has noticed the end of the first
 * one. So a
 * page that closes leaves its terminals to the session, where every device can take them, and takes them again if it
 * comes back.
 */
export function useHandOver(session: OpenSession): void {
  const { client, link } = useHost();
  useEffect(() => {
    const leave = () => {
      const mine = (link.root.get().terminals ?? []).filter(({ claim }) => isMine(claim, client.clientId));
      if (mine.length > 0) sessionStorage.setItem(KEY, mine.map(({ resource }) => resource).join('\n'));
      const claim = sessionClaim(session);
      for (const { resource } of mine) client.dispatch(resource, { type: 'terminal/claimed', claim }).catch(() => {});
    };
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, [client, link, session]);
}

/** True once if this tab held the terminal before the reload; a terminal that it gives away later stays away. */
export function wasMine(uri: string): boolean {
  const known = (sessionStorage.getItem(KEY) ?? '').split('\n');
  if (!known.includes(uri)) return false;
  sessionStorage.setItem(KEY, known.filter((other) => other !== uri).join('\n'));
  return true;
}
